import type { CrawlResult } from 'lycosa';

import type { SpiderTarget } from './spider-sets.ts';

/** What the end of a run means: where the name goes, `retry` for a failure that may pass, `none` where the run is not ours any more. */
export type ReasonVerdict = SpiderTarget | 'retry' | 'none';

/** What close reasons mean: a table, or a function that looks at the stats as well and may leave a result to the built-in table. */
export type ReasonVerdicts =
  | Readonly<Record<string, ReasonVerdict>>
  | ((result: CrawlResult) => ReasonVerdict | undefined);

const verdicts: Readonly<Record<string, ReasonVerdict>> = {
  finished: 'finished',
  shutdown: 'pending',
  memusage_exceeded: 'pending',
  bootstrap_failed: 'retry',
  start_error: 'retry',
  stopped: 'failed',
  feed_error: 'retry',
  lease_lost: 'none',
  spider_count_limit: 'none',
  spider_already_running: 'none',
};

/**
 * What a close reason means. Reasons that are not in the table, `closespider_…` among them, were meant, and are finished.
 *
 * @param own - What is asked first, as of `FLEET_REASONS`.
 */
export function verdictOf(result: CrawlResult, own: ReasonVerdicts = {}): ReasonVerdict {
  if (typeof own === 'object') return verdictOfReason(result.reason, own);
  return own(result) ?? verdictOfReason(result.reason);
}

/** As `verdictOf`, while the result is not there yet. */
export function verdictOfReason(
  reason: string,
  own: Readonly<Record<string, ReasonVerdict>> = {},
): ReasonVerdict {
  if (Object.hasOwn(own, reason)) return own[reason]!;
  return Object.hasOwn(verdicts, reason) ? verdicts[reason]! : 'finished';
}

/** What is kept of a run: small, and without what pages sent. */
export interface RunRecord {
  readonly spider: string;
  readonly reason: string;
  readonly ok: boolean;
  readonly items: number;
  readonly requests: number;
  readonly responses: number;
  readonly retries: number;
  /** Log lines of errors. */
  readonly errors: number;
  /** Of all responses, as they came. */
  readonly bytes: number;
  readonly seconds: number;
  readonly at: number;
  readonly error?: string;
}

export function recordOf(result: CrawlResult, seconds: number): RunRecord {
  const count = (name: string): number => Number(result.stats[name] ?? 0);
  return {
    spider: result.spider,
    reason: result.reason,
    ok: result.ok,
    items: count('item_scraped_count'),
    requests: count('downloader/request_count'),
    responses: count('response_received_count'),
    retries: count('retry/count'),
    errors: count('log_count/ERROR'),
    bytes: count('downloader/response_bytes'),
    seconds: Math.round(seconds * 1000) / 1000,
    at: Date.now(),
    ...(result.error && { error: result.error.message.slice(0, 1000) }),
  };
}
