import type { Fleet, FleetJob, FleetRun, FleetStatus } from '@lycosa/redis';

import { CommandError, escapeControls } from '../options.ts';
import { type FleetContext, wholeNumber } from './fleet-command.ts';

export async function status(fleet: Fleet, { options }: FleetContext): Promise<number> {
  const state = await fleet.status();
  print(options.json, state, () => statusLines(state));
  return 0;
}

export async function jobs(fleet: Fleet, { options }: FleetContext): Promise<number> {
  const { state, search } = options;
  const page = await fleet.jobs({
    ...(state !== undefined && { state: state as FleetJob['state'] }),
    ...(search !== undefined && { search }),
    offset: wholeNumber('--offset', options.offset ?? '0'),
    limit: wholeNumber('--limit', options.limit ?? '100', 1),
  });
  print(options.json, page, () => [
    ...page.jobs.map(jobLine),
    ...(page.jobs.length < page.total ? [`${page.jobs.length} of ${page.total}`] : []),
  ]);
  return 0;
}

export async function show(fleet: Fleet, { names, options }: FleetContext): Promise<number> {
  const name = oneName(names, 'show');
  const job = await fleet.show(name);
  if (job === undefined) return unknown(name);
  print(options.json, job, () => [
    jobLine(job),
    ...Object.entries(job.args).map(([key, value]) => `  -a ${key}=${String(value)}`),
    ...job.runs.map((run) => `  ${runLine(run)}`),
  ]);
  return 0;
}

export async function logs(fleet: Fleet, { names, options }: FleetContext): Promise<number> {
  const name = oneName(names, 'logs');
  if ((await fleet.show(name)) === undefined) return unknown(name);
  const { attempt, tail } = options;
  const { lines } = await fleet.logs(name, {
    ...(attempt !== undefined && { attempt: wholeNumber('--attempt', attempt, 1) }),
    ...(tail !== undefined && { tail: wholeNumber('--tail', tail, 1) }),
  });
  for (const line of lines) console.log(escapeControls(line));
  return 0;
}

function print(json: boolean | undefined, value: unknown, lines: () => Iterable<string>): void {
  if (json) console.log(JSON.stringify(value));
  else for (const line of lines()) console.log(escapeControls(line));
}

function oneName(names: readonly string[], action: string): string {
  if (names.length === 1) return names[0]!;
  throw new CommandError(`fleet ${action} takes the name of one job, as fleet jobs lists it.`);
}

function unknown(name: string): number {
  console.error(`lycosa: There is no job ${escapeControls(name)}. lycosa fleet jobs lists them.`);
  return 1;
}

function* statusLines(state: FleetStatus): Iterable<string> {
  const { pending, running, finished, failed } = state;
  yield `pending ${pending}  running ${running}  finished ${finished}  failed ${failed}`;
  if (state.isDraining) yield 'draining: no further spider is begun';
  for (const machine of state.machines) {
    const { id, count, hosts, rssMb, freeMb, cpu, lagMs, closedBy } = machine;
    const load = `${rssMb} MB, ${freeMb} MB free, ${Math.round(cpu * 100)} % of CPU, ${lagMs} ms late`;
    const closed = closedBy ? `; begins no further spider: ${closedBy}` : '';
    yield `${id}: ${machine.running} of ${count} in ${hosts} processes, ${load}${closed}`;
  }
  for (const [name, owner] of Object.entries(state.spiders)) yield `running ${name} on ${owner}`;
  for (const [name, { reason, error }] of Object.entries(state.failures)) {
    yield `failed ${name}: ${String(error ?? reason)}`;
  }
}

function jobLine(job: FleetJob): string {
  const { name, state, run, progress, error, expectedSeconds } = job;
  const parts = [`${state} ${name}`];
  if (state === 'running' && run) parts.push(`on ${run.machine} since ${time(run.startedAt)}`);
  if (progress) {
    const { items, responses, itemsPerMinute, responsesPerMinute } = progress;
    parts.push(
      `${items} items (${itemsPerMinute}/min)`,
      `${responses} responses (${responsesPerMinute}/min)`,
    );
  }
  if (state === 'pending' && expectedSeconds !== undefined)
    parts.push(`about ${expectedSeconds.toFixed(1)} s`);
  if (state === 'finished' && run) parts.push(runLine(run));
  if (state === 'failed') parts.push(error ?? run?.reason ?? '');
  return parts.join(', ');
}

function runLine(run: FleetRun): string {
  const { attempt, machine, startedAt, endedAt, reason, items, responses, error } = run;
  if (endedAt === undefined) return `run ${attempt} on ${machine} since ${time(startedAt)}`;
  const seconds = ((endedAt - startedAt) / 1000).toFixed(1);
  const what = `run ${attempt} on ${machine} at ${time(startedAt)}: ${reason ?? ''} after ${seconds} s`;
  const counts = items === undefined ? '' : `, ${items} items, ${responses ?? 0} responses`;
  return `${what}${counts}${error === undefined ? '' : `: ${error}`}`;
}

function time(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19).replace('T', ' ');
}
