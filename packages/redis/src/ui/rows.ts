import type { FleetJob, FleetRun } from '../fleet-jobs.ts';
import type { Failure, Page, Row, Run, SortKey, State } from './page/api.ts';

/** Which rows, in which order. */
export interface RowQuery {
  readonly state?: State;
  /** Text that a name, a machine, an argument or a reason contains, in any case. */
  readonly search?: string;
  readonly machine?: string;
  /** A group of failures, as `failures()` names it. */
  readonly why?: string;
  readonly sort?: SortKey;
  readonly isDescending?: boolean;
}

/** Errors come from pages, and may be as long as these. */
const maxError = 500;

export function rowOf(job: FleetJob, stopping: ReadonlyMap<string, number>): Row {
  const { run, progress } = job;
  const isRunning = job.state === 'running';
  return {
    name: job.name,
    spider: job.spider,
    args: job.args,
    state: job.state,
    priority: job.priority,
    ...(job.group !== undefined && { group: job.group }),
    changedAt: job.changedAt,
    attempts: job.attempts,
    ...(job.expectedSeconds !== undefined && { expectedSeconds: job.expectedSeconds }),
    ...(run && { startedAt: run.startedAt, machine: run.machine, ...ratesOf(run) }),
    ...(!isRunning && run?.reason !== undefined && { reason: run.reason }),
    ...progress,
    ...(job.error !== undefined && { error: job.error.slice(0, maxError) }),
    ...(isRunning && stopping.get(job.name) === job.attempts && { isStopping: true }),
  };
}

export function runOf(run: FleetRun): Run {
  return { ...run, ...(run.error !== undefined && { error: run.error.slice(0, maxError) }) };
}

function ratesOf({ items, responses, seconds }: FleetRun): Partial<Row> {
  const perMinute = (count: number): number => (seconds ? (count * 60) / seconds : 0);
  return {
    ...(seconds !== undefined && { seconds }),
    ...(items !== undefined && { items, itemsPerMinute: perMinute(items) }),
    ...(responses !== undefined && { responses, responsesPerMinute: perMinute(responses) }),
  };
}

/** True where somebody wanted it to end. */
export function isStopped({ state, reason, error }: Row): boolean {
  return state === 'failed' && error === undefined && (reason ?? 'stopped') === 'stopped';
}

/** Why it failed, without what differs from one to the next. */
function whyOf(row: Row): string {
  return firstLine(row).replaceAll(/\d+/g, '#');
}

function firstLine({ error, reason }: Row): string {
  return (error ?? reason ?? '').split('\n')[0]!.slice(0, 160);
}

/** The failed, those that failed alike together, the most frequent first. */
export function failures(rows: readonly Row[]): Failure[] {
  const found = new Map<string, Failure>();
  for (const row of rows) {
    if (row.state !== 'failed' || isStopped(row)) continue;
    const why = whyOf(row);
    const { example = firstLine(row), count = 0 } = found.get(why) ?? {};
    found.set(why, { why, example, count: count + 1 });
  }
  return [...found.values()].toSorted((a, b) => b.count - a.count).slice(0, 20);
}

export function find(rows: readonly Row[], query: RowQuery): Row[] {
  const { state, machine, why, sort, isDescending } = query;
  const search = query.search?.trim().toLowerCase();
  const found = rows.filter(
    (row) =>
      (state === undefined || row.state === state) &&
      (machine === undefined || row.machine === machine) &&
      (why === undefined || whyOf(row) === why) &&
      (!search || textOf(row).includes(search)),
  );
  if (sort === undefined) return found;
  const sign = isDescending ? -1 : 1;
  return found.toSorted((a, b) => compare(keyOf(a, sort), keyOf(b, sort), sign));
}

export function pageOf(rows: readonly Row[], offset: number, limit: number): Page {
  return { total: rows.length, rows: rows.slice(offset, offset + limit) };
}

function textOf(row: Row): string {
  const args = Object.entries(row.args).map(([name, value]) => `${name}=${String(value)}`);
  const { name, machine, reason, error, group } = row;
  return [name, machine, reason, error, group, ...args].join('\n').toLowerCase();
}

function keyOf(row: Row, sort: SortKey): string | number | undefined {
  if (sort === 'rate') return row.itemsPerMinute;
  if (sort === 'why') return row.error ?? row.reason;
  if (sort === 'seconds' && row.state === 'running')
    return Date.now() / 1000 - (row.startedAt ?? 0) / 1000;
  return row[sort];
}

/** What is not known comes last, whichever way. */
function compare(a: string | number | undefined, b: typeof a, sign: number): number {
  if (a === b) return 0;
  if (a === undefined) return 1;
  if (b === undefined) return -1;
  return a < b ? -sign : sign;
}
