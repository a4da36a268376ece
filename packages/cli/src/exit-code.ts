import type { CrawlResult } from 'lycosa';

/** What a shell is told: 0 fine, 1 could not start or usage, 3 ended with errors, 4 closed by a limit, 130 interrupted. */
export type ExitCode = 0 | 1 | 3 | 4 | 130;

export function exitCodeOf({ ok, reason }: CrawlResult): ExitCode {
  if (reason === 'shutdown') return 130;
  // No request was made: the spider or a feed could not be opened.
  if (reason === 'bootstrap_failed' || reason === 'feed_error') return 1;
  if (reason.startsWith('closespider_') || reason === 'memusage_exceeded') return 4;
  return ok && reason !== 'start_error' ? 0 : 3;
}
