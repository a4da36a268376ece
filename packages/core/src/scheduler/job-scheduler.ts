import type { MaybePromise } from '../downloader/middleware.ts';
import type { CrawlerSlots } from '../downloader/slot-registry.ts';
import { InFlight } from '../engine/in-flight.ts';
import { RequestFingerprints } from '../http/request-fingerprints.ts';
import type { Request } from '../http/request.ts';
import type { Logger } from '../log/logger.ts';
import type { Spider } from '../spider/spider.ts';
import type { StatsCollector } from '../stats/stats-collector.ts';
import { callbackRefusal } from './callback-refusal.ts';
import {
  type DupeFilter,
  FingerprintDupeFilter,
  FingerprintSet,
  RecentUrls,
} from './dupe-filter.ts';
import { holdHeap } from './heap-hold.ts';
import { Heap } from './heap.ts';
import { JobStore, JobWindows } from './job-store.ts';
import type { BadEntry, JobEntry, JobFile, Rank } from './job.ts';
import { ReadyQueue } from './ready-queue.ts';
import type { Scheduler } from './scheduler.ts';

/**
 * Milliseconds from a write to its commit: writes of this time share one transaction, and what was done in it is done
 * again after a crash. Ten times what the last commit took, within these bounds.
 */
const minInterval = 10;
const maxInterval = 250;

export interface JobSchedulerOptions {
  readonly job: JobFile;
  /** One that knows requests by fingerprints is taken over by the job; another one is asked in its place. */
  readonly dupeFilter?: DupeFilter;
  readonly order: 'lifo' | 'fifo';
  readonly slots: CrawlerSlots;
  readonly stats: StatsCollector;
  readonly log: Logger;
  readonly onReady: () => void;
  /** Runs before each commit: what a done request has led to must be safe before it is forgotten. False if it is not. */
  readonly beforeCommit: () => MaybePromise<boolean>;
  /** Takes what could not be committed. */
  readonly onError: (error: unknown) => void;
}

/** A scheduler over the file of a job: memory is bounded, and `kill -9` loses nothing. */
export class JobScheduler implements Scheduler {
  readonly #job: JobFile;
  readonly #options: JobSchedulerOptions;
  readonly #queue: ReadyQueue<JobEntry>;
  readonly #seen = new FingerprintSet();
  readonly #started = new FingerprintSet();
  readonly #recent: RecentUrls | undefined;
  readonly #fingerprints: RequestFingerprints;
  /** Asked instead of the job. */
  readonly #filter: DupeFilter | undefined;
  readonly #leased = new InFlight<Request, JobEntry>();
  readonly #waiting = new Heap<JobEntry>((a, b) => a.request.notBefore! - b.request.notBefore!);
  readonly #wasResumed: boolean;
  /** Entries that are in the file but not to be read from it: leased, waiting, or done and not committed yet. */
  readonly #taken = new Set<number>();
  readonly #windows: JobWindows;
  #done: JobEntry[] = [];
  #spider: Spider | undefined;
  #asideCount = 0;
  #timer: NodeJS.Timeout | undefined;
  #committing: Promise<void> | undefined;
  #interval = minInterval;

  constructor(options: JobSchedulerOptions) {
    this.#options = options;
    const { job, dupeFilter } = options;
    this.#job = job;
    const isOurs = dupeFilter === undefined || dupeFilter instanceof FingerprintDupeFilter;
    this.#filter = isOurs ? undefined : dupeFilter;
    this.#fingerprints = (isOurs && dupeFilter?.fingerprints) || new RequestFingerprints();
    this.#recent = isOurs && this.#fingerprints.isUrlEnough ? new RecentUrls() : undefined;
    this.#windows = new JobWindows({
      job,
      taken: this.#taken,
      slotCount: () => this.#queue.slotCount,
      refusal: (request) => callbackRefusal(this.#spider!, request),
      setAside: (key, entry) => this.#setAside(key, entry),
    });
    this.#queue = new ReadyQueue((key) => new JobStore(this.#windows, key), options.onReady);
    this.#wasResumed = job.isResumed;
  }

  open(spider: Spider): MaybePromise<void> {
    this.#spider = spider;
    for (const print of this.#job.seen('seen')) this.#seen.add(print);
    for (const print of this.#job.seen('started')) this.#started.add(print);
    for (const { slot, count, priority } of this.#job.slots())
      this.#queue.adopt(slot, new JobStore(this.#windows, slot, count, priority), count);
    this.#job.set('runs', Number(this.#job.get('runs') ?? 0) + 1);
    if (this.#wasResumed) {
      this.#options.log.info(
        `Resuming the job in ${this.#job.folder}: ${this.pending} requests pending, ${this.#seen.size} seen`,
      );
    }
    if (!this.#job.isComplete) {
      this.#options.log.warn(
        `What an earlier run of the job in ${this.#job.folder} wrote last is lost: it was killed, and job.sqlite-wal was deleted before the next run.`,
      );
    }
    this.#job.commit();
    return this.#filter?.open?.();
  }

  enqueue(request: Request): MaybePromise<boolean> {
    const isStart =
      request.meta.isStartRequest === true &&
      !('retryTimes' in request.meta) &&
      !('redirectTimes' in request.meta);
    let print: Buffer | undefined;
    if (!request.dontFilter && !isStart && this.#recent?.knows(request)) return this.#filtered();
    if (!request.dontFilter || isStart) {
      print = this.#fingerprints.of(request);
      // start() runs anew on each run of the job; what it had asked for before is in the queue or done.
      if (isStart && this.#knowsStart(print)) return this.#filtered();
      if (this.#filter !== undefined) return this.#ask(this.#filter, request);
      if (!this.#seen.add(print) && !request.dontFilter) return this.#filtered();
    }
    return this.#add(request, print);
  }

  #ask(filter: DupeFilter, request: Request): MaybePromise<boolean> {
    const admit = (isSeen: boolean): boolean =>
      isSeen && !request.dontFilter ? this.#filtered() : this.#add(request, undefined);
    const isSeen = filter.requestSeen(request);
    return typeof isSeen === 'boolean' ? admit(isSeen) : isSeen.then(admit);
  }

  #filtered(): false {
    this.#options.stats.inc('dupefilter/filtered');
    return false;
  }

  #add(request: Request, print: Buffer | undefined): true {
    const { stats } = this.#options;
    const key = this.#options.slots.keyOf(request);
    const rank = (id: number): Rank => [
      -request.priority,
      request.meta.isStartRequest ? 1 : 0,
      request.meta.isStartRequest || this.#options.order === 'fifo' ? id : -id,
    ];
    this.#push(this.#job.add(key, rank, request, print));
    this.#changed();
    stats.inc('scheduler/enqueued');
    stats.inc('scheduler/enqueued/disk');
    return true;
  }

  next(slots: CrawlerSlots): Request | undefined {
    const now = Date.now();
    for (
      let entry = this.#waiting.peek();
      entry && entry.request.notBefore! <= now;
      entry = this.#waiting.peek()
    ) {
      this.#waiting.pop();
      this.#push(entry);
    }
    for (;;) {
      const entry = this.#queue.pop(slots);
      if (entry === undefined) return undefined;
      if (entry.request.notBefore !== undefined && entry.request.notBefore > now) {
        // Read back from the file: it still has to wait.
        slots.unreserve();
        this.#wait(entry);
        continue;
      }
      this.#taken.add(entry.id);
      this.#leased.add(entry.request, entry);
      this.#options.stats.inc('scheduler/dequeued');
      this.#options.stats.inc('scheduler/dequeued/disk');
      return entry.request;
    }
  }

  done(request: Request): void {
    const entry = this.#leased.get(request);
    if (entry === undefined) return;
    this.#leased.delete(request);
    this.#done.push(entry);
    this.#changed();
  }

  release(request: Request): void {
    const entry = this.#leased.get(request);
    if (entry === undefined) return;
    this.#leased.delete(request);
    this.#push(entry);
  }

  get pending(): number {
    return this.#queue.size + this.#waiting.size;
  }

  get leased(): number {
    return this.#leased.size;
  }

  get nextDue(): number | undefined {
    return this.#waiting.peek()?.request.notBefore;
  }

  /** Makes sure of everything so far. */
  async commit(): Promise<void> {
    // Whoever began it hears of its failure.
    while (this.#committing) await this.#committing.catch(() => {});
    this.#committing = this.#commit();
    try {
      await this.#committing;
    } finally {
      this.#committing = undefined;
    }
  }

  /** The file stays open: close hooks have something to put into it. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    try {
      await this.commit();
    } finally {
      this.#queue.clear(this.#options.slots);
      this.#waiting.clear();
      await this.#filter?.close?.();
    }
  }

  /** The crawl goes on without it. */
  #setAside(key: string, entry: BadEntry): void {
    const { stats, log } = this.#options;
    this.#job.setAside(key, entry);
    this.#queue.size--;
    stats.inc('scheduler/set_aside');
    stats.inc('account/dropped');
    // The rest are most likely the same mistake; lycosa job show tells their number.
    log[this.#asideCount++ === 0 ? 'warn' : 'debug'](
      `An entry of the job in ${this.#job.folder} was set aside: ${entry.reason}`,
    );
    this.#changed();
  }

  #knowsStart(print: Buffer): boolean {
    if (!this.#started.add(print)) return this.#wasResumed;
    this.#job.markStarted(print);
    return false;
  }

  #push(entry: JobEntry): void {
    const { request } = entry;
    if (request.notBefore !== undefined && request.notBefore > Date.now()) return this.#wait(entry);
    this.#taken.delete(entry.id);
    this.#queue.push(entry, this.#options.slots.keyOf(request));
  }

  #wait(entry: JobEntry): void {
    this.#taken.add(entry.id);
    this.#waiting.push(entry);
  }

  #changed(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.commit().catch(this.#options.onError);
    }, this.#interval);
  }

  async #commit(): Promise<void> {
    holdHeap(this.pending);
    const begin = performance.now();
    // Those that are done by now are forgotten only when what they yielded is safe.
    const done = this.#done;
    this.#done = [];
    // What is not safe is done again in the next run.
    if (await this.#options.beforeCommit()) for (const entry of done) this.#job.remove(entry);
    this.#job.commit();
    for (const { id } of done) this.#taken.delete(id);
    const wait = 10 * (performance.now() - begin);
    this.#interval = Math.min(Math.max(wait, minInterval), maxInterval);
  }
}
