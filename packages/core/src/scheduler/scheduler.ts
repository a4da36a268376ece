import type { Crawler } from '../crawler/crawler.ts';
import type { MaybePromise } from '../downloader/middleware.ts';
import type { CrawlerSlots } from '../downloader/slot-registry.ts';
import { InFlight } from '../engine/in-flight.ts';
import type { Request } from '../http/request.ts';
import type { Spider } from '../spider/spider.ts';
import type { StatsCollector } from '../stats/stats-collector.ts';
import type { DupeFilter } from './dupe-filter.ts';
import { Heap } from './heap.ts';
import { MemoryStore } from './memory-queue.ts';
import { ReadyQueue } from './ready-queue.ts';

/**
 * Which request is next. The life of a request is `pending → leased → done`, and this is the only place that
 * knows it. A scheduler over SQLite or Redis is the same interface.
 */
export interface Scheduler {
  open(spider: Spider): MaybePromise<void>;
  /**
   * False if it is a duplicate.
   *
   * @param parent - The leased request whose response led to it; undefined for those of `start()` and of extensions.
   */
  enqueue(request: Request, parent?: Request): MaybePromise<boolean>;
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
  /** True where several workers share it, so that what waits in it is not this crawl's to account for. */
  readonly isShared?: boolean;
  /** Whether `start()` shall run here. Where workers share a crawl it waits until that is known. */
  claimStart?(): Promise<boolean>;
  /** All that `start()` yielded is enqueued; `isComplete` is false where it broke off. */
  startEnded?(isComplete: boolean): MaybePromise<void>;
}

/** How a scheduler speaks to the engine. */
export interface SchedulerHooks {
  /** `next` may have something again, or the last pending request is gone. */
  onReady(): void;
  /** It cannot go on; the crawl is closed. */
  onError(error: unknown): void;
}

/** What the setting `SCHEDULER` names. */
export interface SchedulerClass {
  new (...args: never[]): Scheduler;
  readonly name: string;
  fromCrawler?(crawler: Crawler, hooks: SchedulerHooks): Scheduler;
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
export class MemoryScheduler implements Scheduler {
  readonly #queue: ReadyQueue<Request>;
  readonly #dupeFilter: DupeFilter;
  readonly #slots: CrawlerSlots;
  readonly #stats: StatsCollector;
  readonly #leased = new InFlight<Request>();
  readonly #waiting = new Heap<Request>((a, b) => a.notBefore! - b.notBefore!);

  constructor(options: MemorySchedulerOptions) {
    const { order } = options;
    this.#queue = new ReadyQueue(() => new MemoryStore(order), options.onReady);
    this.#dupeFilter = options.dupeFilter;
    this.#slots = options.slots;
    this.#stats = options.stats;
  }

  open(): MaybePromise<void> {
    return this.#dupeFilter.open?.();
  }

  enqueue(request: Request): MaybePromise<boolean> {
    // A start request always passes, and is known from then on: a link back to it is a duplicate.
    const isKnown =
      (!request.dontFilter || request.meta.isStartRequest === true) &&
      this.#dupeFilter.requestSeen(request);
    if (typeof isKnown === 'boolean') return this.#admit(request, isKnown);
    return isKnown.then((did) => this.#admit(request, did));
  }

  #admit(request: Request, isKnown: boolean): boolean {
    if (isKnown && !request.dontFilter) {
      this.#stats.inc('dupefilter/filtered');
      return false;
    }
    this.#push(request);
    this.#stats.inc('scheduler/enqueued');
    this.#stats.inc('scheduler/enqueued/memory');
    return true;
  }

  next(slots: CrawlerSlots): Request | undefined {
    if (this.#waiting.size > 0) this.#moveDue();
    const request = this.#queue.pop(slots);
    if (request !== undefined) {
      this.#leased.add(request, true);
      this.#stats.inc('scheduler/dequeued');
      this.#stats.inc('scheduler/dequeued/memory');
    }
    return request;
  }

  done(request: Request): void {
    this.#leased.delete(request);
  }

  release(request: Request): void {
    if (this.#leased.delete(request)) this.#push(request, true);
  }

  get pending(): number {
    return this.#queue.size + this.#waiting.size;
  }

  get leased(): number {
    return this.#leased.size;
  }

  get nextDue(): number | undefined {
    return this.#waiting.peek()?.notBefore;
  }

  close(): MaybePromise<void> {
    this.#queue.clear(this.#slots);
    this.#waiting.clear();
    return this.#dupeFilter.close?.();
  }

  #push(request: Request, isBack = false): void {
    if (request.notBefore !== undefined && request.notBefore > Date.now()) {
      this.#waiting.push(request);
    } else {
      this.#queue.push(request, this.#slots.keyOf(request), isBack);
    }
  }

  #moveDue(): void {
    const now = Date.now();
    for (
      let next = this.#waiting.peek();
      next && next.notBefore! <= now;
      next = this.#waiting.peek()
    ) {
      this.#waiting.pop();
      this.#queue.push(next, this.#slots.keyOf(next));
    }
  }
}
