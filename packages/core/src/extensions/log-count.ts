import type { Crawler } from '../crawler/crawler.ts';
import type { Extension } from './extension.ts';

/** Counts this crawl's log records by level: those that `LOG_LEVEL` admits, and no other crawl's. */
export class LogCount implements Extension {
  static fromCrawler(crawler: Crawler): LogCount {
    return new LogCount(crawler);
  }

  constructor({ log, stats }: Pick<Crawler, 'log' | 'stats'>) {
    const before = log.onRecord;
    log.onRecord = (level) => {
      before?.(level);
      stats.inc(`log_count/${level}`);
    };
  }
}
