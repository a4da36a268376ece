import type { Crawler } from '../crawler/crawler.ts';
import { type FeedOptions } from './feed-options.ts';
/** What the feeds use of a crawler. */
export type FeedCrawler = Pick<
  Crawler,
  'settings' | 'signals' | 'stats' | 'log' | 'spider' | 'engine' | 'root' | 'fail'
>;
/** Writes every scraped item to the feeds of `FEEDS` and of `-o` and `-O`. */
export declare class FeedExport {
  #private;
  /** @throws SettingsError, UsageError for feeds that cannot be. */
  static fromCrawler(crawler: Crawler): FeedExport;
  constructor(crawler: FeedCrawler, options: readonly FeedOptions[]);
  /** Opens all feeds. If one cannot be opened, the crawl ends before its first request and no file is changed. */
  open(): Promise<void>;
  /** Waits until every item so far is in its files. */
  flush(): Promise<void>;
  /** Stores all feeds. Those of a job that is not finished stay parts, and the next run goes on with them. */
  close(): Promise<void>;
}
//# sourceMappingURL=feed-export.d.ts.map
