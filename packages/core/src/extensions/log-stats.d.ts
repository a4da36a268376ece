import type { Crawler } from '../crawler/crawler.ts';
import type { Extension } from './extension.ts';
/** Logs one line of progress every `LOGSTATS_INTERVAL` seconds, and leaves the mean rates in the stats. */
export declare class LogStats implements Extension {
  #private;
  static fromCrawler(crawler: Crawler): LogStats;
  /** @param interval - Seconds between two lines. */
  constructor(crawler: Pick<Crawler, 'signals' | 'stats' | 'log'>, interval: number);
}
//# sourceMappingURL=log-stats.d.ts.map
