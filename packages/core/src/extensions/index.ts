export { AutoThrottle, type AutoThrottleHost, type DelayStep, nextDelay } from './auto-throttle.ts';
export { Backoff, type BackoffHost } from './backoff.ts';
export { CloseSpider, type CloseSpiderHost, type CloseSpiderLimits } from './close-spider.ts';
export { CoreStats } from './core-stats.ts';
export { LogCount } from './log-count.ts';
export { LogStats } from './log-stats.ts';
export { MemoryUsage, type MemoryUsageHost, type MemoryUsageOptions } from './memory-usage.ts';
export { FeedExport } from '../feeds/feed-export.ts';
