import type { ComponentClass } from '../crawler/component.ts';
import { FeedExport } from '../feeds/feed-export.ts';
import { AutoThrottle } from './auto-throttle.ts';
import { Backoff } from './backoff.ts';
import { CloseSpider } from './close-spider.ts';
import { CoreStats } from './core-stats.ts';
import type { Extension } from './extension.ts';
import { LogCount } from './log-count.ts';
import { LogStats } from './log-stats.ts';
import { MemoryUsage } from './memory-usage.ts';

/** The extensions every crawl has, unless `EXTENSIONS` switches one off with `null`. */
export const baseExtensions: readonly (readonly [ComponentClass<Extension>, number])[] = [
  [CoreStats, 0],
  [LogCount, 0],
  [LogStats, 0],
  [CloseSpider, 0],
  [MemoryUsage, 0],
  [FeedExport, 0],
  [AutoThrottle, 0],
  [Backoff, 0],
];
