import type { JobSummary } from 'lycosa';

import type { Command } from '../cli.ts';
import { escapeControls, type GlobalOptions } from '../options.ts';

interface Options extends GlobalOptions {
  readonly action: 'show' | 'clear' | 'repair';
  readonly dir: string;
}

/** Sites that are shown. */
const shownSites = 20;

export const job: Command<Options> = {
  builder: (parser) =>
    parser
      .positional('action', {
        choices: ['show', 'clear', 'repair'],
        describe: 'Print what it holds, delete it, or save what can be read of a damaged one',
      })
      .positional('dir', { type: 'string', describe: 'The folder that JOBDIR names' })
      .example('$0 job show jobs/books', 'How many requests of that job wait')
      .example('$0 job clear jobs/books', 'Start it anew at the next crawl')
      .example('$0 job repair jobs/books', 'Save what can be read of a damaged file'),

  async run({ action, dir }) {
    const { clearJob, readJob, repairJob } = await import('lycosa');
    if (action === 'clear') await clearJob(dir);
    else if (action === 'repair') {
      const { requests, seen, damagedPath } = await repairJob(dir);
      console.log(`Saved ${requests} requests that wait and ${seen} that were seen.`);
      console.log(`The file as it was is ${damagedPath}`);
    } else for (const line of lines(await readJob(dir))) console.log(line);
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
