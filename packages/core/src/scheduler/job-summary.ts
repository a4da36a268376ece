import { readdirSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import type { StatValue } from '../stats/stats-collector.ts';
import { JobFile, JobHeldError, jobPath, lockJob, needJob } from './job.ts';

/** What is known of a job. */
export interface JobSummary {
  /** The process that runs it now; the figures are absent then, for the file is its own. */
  readonly heldBy?: string;
  /** Requests that wait, by slot, the most first. Those that were under way when the last run broke off are among them. */
  readonly pending: readonly { readonly slot: string; readonly count: number }[];
  /** Requests that are known, so that they are not asked for again. */
  readonly seen: number;
  /** Runs so far. */
  readonly runs: number;
  /** Entries that could not be used. */
  readonly setAside: number;
  readonly stats: Readonly<Record<string, StatValue>>;
}

/**
 * Looks into the job of a folder.
 *
 * @throws UsageError when there is none, or it cannot be read.
 */
export async function readJob(folder: string): Promise<JobSummary> {
  needJob(folder);
  let job: JobFile;
  try {
    job = await JobFile.open(folder);
  } catch (thrown) {
    if (!(thrown instanceof JobHeldError)) throw thrown;
    return { heldBy: thrown.holder, pending: [], seen: 0, runs: 0, setAside: 0, stats: {} };
  }
  try {
    return {
      pending: job.slots().toSorted((a, b) => b.count - a.count),
      seen: job.seenCount('seen'),
      runs: Number(job.get('runs') ?? 0),
      setAside: job.asideCount,
      stats: Object(job.get('stats') ?? {}) as Record<string, StatValue>,
    };
  } finally {
    job.close();
  }
}

/**
 * Deletes the job of a folder, and the folder if nothing else is in it.
 *
 * @throws UsageError when there is none, or a process runs it.
 */
export async function clearJob(folder: string): Promise<void> {
  needJob(folder);
  try {
    (await lockJob(folder)).close();
  } catch (thrown) {
    // One that is damaged can be cleared too.
    if (thrown instanceof JobHeldError) throw thrown;
  }
  for (const suffix of ['', '-wal', '-shm', '-journal'])
    rmSync(jobPath(folder) + suffix, { force: true });
  rmSync(join(folder, 'job.lock'), { force: true });
  // Parts of feeds that were to be sent: the next job would go on with them.
  rmSync(join(folder, 'feeds'), { recursive: true, force: true });
  if (readdirSync(folder).length === 0) rmdirSync(folder);
}
