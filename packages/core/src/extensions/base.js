import { FeedExport } from '../feeds/feed-export.js';
import { AutoThrottle } from './auto-throttle.js';
import { CloseSpider } from './close-spider.js';
import { CoreStats } from './core-stats.js';
import { LogCount } from './log-count.js';
import { LogStats } from './log-stats.js';
import { MemoryUsage } from './memory-usage.js';
/** The extensions every crawl has, unless `EXTENSIONS` switches one off with `null`. */
export const baseExtensions = [
  [CoreStats, 0],
  [LogCount, 0],
  [LogStats, 0],
  [CloseSpider, 0],
  [MemoryUsage, 0],
  [FeedExport, 0],
  [AutoThrottle, 0],
];
//# sourceMappingURL=base.js.map
