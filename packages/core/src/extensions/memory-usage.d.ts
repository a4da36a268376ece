import type { Crawler } from '../crawler/crawler.ts';
import type { Engine } from '../engine/engine.ts';
import type { Extension } from './extension.ts';
export interface MemoryUsageOptions {
  /** Seconds between two looks. */
  readonly interval: number;
  /** MiB above which the spider is closed; 0 means never. */
  readonly limit: number;
  /** MiB above which there is one warning; 0 means never. */
  readonly warning: number;
  /** Bytes the process holds now. */
  readonly rss?: () => number;
}
/** What watching needs of a crawler. */
export interface MemoryUsageHost extends Pick<Crawler, 'signals' | 'stats' | 'log'> {
  readonly engine: Pick<Engine, 'closeSpider'> | undefined;
}
/**
 * Watches the memory of the process, which all its spiders share: what it holds now (RSS), not the most it ever held.
 * Above `MEMUSAGE_LIMIT_MB` the spider is closed with `memusage_exceeded`.
 */
export declare class MemoryUsage implements Extension {
  #private;
  static fromCrawler(crawler: Crawler): MemoryUsage;
  constructor(host: MemoryUsageHost, options: MemoryUsageOptions);
}
//# sourceMappingURL=memory-usage.d.ts.map
