import type { Crawler } from '../crawler/crawler.ts';
import type { Extension } from './extension.ts';
/** Counts this crawl's log records by level: those that `LOG_LEVEL` admits, and no other crawl's. */
export declare class LogCount implements Extension {
  static fromCrawler(crawler: Crawler): LogCount;
  constructor({ log, stats }: Pick<Crawler, 'log' | 'stats'>);
}
//# sourceMappingURL=log-count.d.ts.map
