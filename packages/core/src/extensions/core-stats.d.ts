import type { Crawler } from '../crawler/crawler.ts';
import type { Extension } from './extension.ts';
/** Counts responses and items, and notes when the crawl began, when it ended, and why. */
export declare class CoreStats implements Extension {
  static fromCrawler(crawler: Crawler): CoreStats;
  constructor({ signals, stats }: Pick<Crawler, 'signals' | 'stats'>);
}
//# sourceMappingURL=core-stats.d.ts.map
