import type { JobSummary } from 'lycosa';

import type { Command } from '../cli.ts';
import { escapeControls, type GlobalOptions } from '../options.ts';

interface Options extends GlobalOptions {
  readonly action: 'show' | 'clear';
  readonly dir: string;
}

/** Sites that are shown. */
const shownSites = 20;

export const job: Command<Options> = {
  builder: (parser) =>
    parser
      .positional('action', {
        choices: ['show', 'clear'],
        describe: 'Print what it holds, or delete it',
      })
      .positional('dir', { type: 'string', describe: 'The folder that JOBDIR names' })
      .example('$0 job show jobs/books', 'How many requests of that job wait')
      .example('$0 job clear jobs/books', 'Start it anew at the next crawl'),

  async run({ action, dir }) {
    const { clearJob, readJob } = await import('lycosa');
    if (action === 'clear') await clearJob(dir);
    else for (const line of lines(await readJob(dir))) console.log(line);
    return 0;
  },
};

function lines(summary: JobSummary): string[] {
  if (summary.heldBy !== undefined)
    return [
      `Run by ${escapeControls(summary.heldBy)}. Its figures can be read when that has ended.`,
    ];
  const total = summary.pending.reduce((sum, { count }) => sum + count, 0);
  const sites = summary.pending
    .slice(0, shownSites)
    .map(({ slot, count }) => `  ${count} ${escapeControls(slot)}`);
  const more = summary.pending.length - sites.length;
  return [
    'Run by nobody',
    `Runs: ${summary.runs}`,
    `Pending: ${total}`,
    ...sites,
    ...(more > 0 ? [`  and ${more} more sites`] : []),
    `Seen: ${summary.seen}`,
    `Set aside: ${summary.setAside}`,
    'Stats:',
    ...Object.entries(summary.stats).map(
      ([name, value]) => `  ${escapeControls(name)}: ${escapeControls(String(value))}`,
    ),
  ];
}
