import type { MaybePromise } from '../downloader/middleware.ts';
import type { CrawlerSlots } from '../downloader/slot-registry.ts';
import type { Request } from '../http/request.ts';
import type { Spider } from '../spider/spider.ts';
import type { StatsCollector } from '../stats/stats-collector.ts';
import type { DupeFilter } from './dupe-filter.ts';
/**
 * Which request is next. The life of a request is `pending → leased → done`, and this is the only place that
 * knows it. A scheduler over SQLite or Redis is the same interface.
 */
export interface Scheduler {
  open(spider: Spider): MaybePromise<void>;
  /** False if it is a duplicate. */
  enqueue(request: Request): MaybePromise<boolean>;
  /**
   * Leases the best request that may start now and reserves its slot. Undefined if none may, which does not mean
   * that none waits: `onReady` is called when that changes.
   */
  next(slots: CrawlerSlots): MaybePromise<Request | undefined>;
  /** The request, its callback and the items it yielded have settled. Only now is it forgotten. */
  done(request: Request): MaybePromise<void>;
  /** Back to pending: a stop, a cancelled transfer. */
  release(request: Request): MaybePromise<void>;
  readonly pending: number;
  readonly leased: number;
  /** When the next waiting request is due, in milliseconds since the epoch. */
  readonly nextDue: number | undefined;
  close(reason: string): MaybePromise<void>;
}
export interface MemorySchedulerOptions {
  readonly order: 'lifo' | 'fifo';
  readonly dupeFilter: DupeFilter;
  readonly slots: CrawlerSlots;
  readonly stats: StatsCollector;
  /** Called when `next` may have something again. */
  readonly onReady: () => void;
}
/** The default scheduler: everything in memory. */
export declare class MemoryScheduler implements Scheduler {
  #private;
  constructor(options: MemorySchedulerOptions);
  open(): void;
  enqueue(request: Request): boolean;
  next(slots: CrawlerSlots): Request | undefined;
  done(request: Request): void;
  release(request: Request): void;
  get pending(): number;
  get leased(): number;
  get nextDue(): number | undefined;
  close(): void;
}
//# sourceMappingURL=scheduler.d.ts.map
