import type { Crawler } from '../crawler/crawler.ts';
import type { Engine } from '../engine/engine.ts';
import type { Extension } from './extension.ts';
/** When to close a spider. 0 or absent: never. */
export interface CloseSpiderLimits {
  /** Items that passed the pipelines. Exact: not one more passes. */
  readonly items?: number;
  /** Responses. Exact: not one more is fetched, and all of these are scraped. */
  readonly pages?: number;
  /** Responses one after the other without an item between them. */
  readonly pagesWithoutItem?: number;
  /** Errors in spider code. */
  readonly errors?: number;
  /** Seconds since the spider was opened. */
  readonly timeout?: number;
  /** A span of this many seconds without an item. */
  readonly timeoutWithoutItem?: number;
}
/** What closing needs of a crawler. */
export interface CloseSpiderHost {
  readonly signals: Crawler['signals'];
  readonly engine: Pick<Engine, 'limits' | 'closeSpider'> | undefined;
}
/** Closes the spider when one of the `CLOSESPIDER_…` limits is reached. */
export declare class CloseSpider implements Extension {
  #private;
  static fromCrawler(crawler: Crawler): CloseSpider;
  constructor(host: CloseSpiderHost, limits: CloseSpiderLimits);
}
//# sourceMappingURL=close-spider.d.ts.map
