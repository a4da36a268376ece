import { setTimeout as sleep } from 'node:timers/promises';

import { buildComponent } from '../crawler/component.ts';
import type { Crawler } from '../crawler/crawler.ts';
import { Downloader } from '../downloader/downloader.ts';
import type { MaybePromise } from '../downloader/middleware.ts';
import {
  CloseSpider,
  DontCloseSpider,
  DownloadCancelledError,
  IgnoreRequest,
  toError,
  UsageError,
} from '../errors.ts';
import { FeedExport } from '../feeds/feed-export.ts';
import { type CallbackRef, Request } from '../http/request.ts';
import type { Response } from '../http/response.ts';
import { ItemPipelines } from '../pipeline/item-pipeline.ts';
import { FingerprintDupeFilter, NoDupeFilter } from '../scheduler/dupe-filter.ts';
import { JobScheduler } from '../scheduler/job-scheduler.ts';
import { MemoryScheduler, type Scheduler } from '../scheduler/scheduler.ts';
import { Scraper, type ScraperHost, type ScrapeResult } from '../scraper/scraper.ts';
import { checkJson } from './check-json.ts';
import { InFlight } from './in-flight.ts';
import { StartLoop } from './start-loop.ts';

export type StopMode = 'graceful' | 'fast';

/** Milliseconds after which an idle spider that asked to stay open is asked again. */
const idleInterval = 5000;

/** The heart of a crawl: one loop that wakes on events, and the life of each request. */
export class Engine implements ScraperHost {
  readonly downloader: Downloader;
  readonly scraper: Scraper;
  readonly pipelines: ItemPipelines;
  readonly scheduler: Scheduler;
  /** Exact caps: the engine lets no item and no response beyond them pass. 0 or absent means none. */
  readonly limits: { items?: number; pages?: number } = {};
  readonly #crawler: Crawler;
  readonly #start: StartLoop;
  readonly #concurrency: number;
  readonly #maxActiveBytes: number;
  /** Pages that may wait for the spider, which is busy then: more would only be memory, and grow old. */
  readonly #maxWaiting: number;
  /** Requests between the scheduler and the end of the downloader. */
  readonly #downloading = new InFlight<Request>();
  /** Requests between the downloader and the end of their last item, and the method that has them. */
  readonly #scraping = new InFlight<Request, CallbackRef>();
  readonly #names = new Map<CallbackRef, string>();
  readonly #postponed = new Set<Request>();
  #sideDownloads = 0;
  #pages = 0;
  #isWoken = false;
  #isAsking = false;
  #isPaused = false;
  #isCut = false;
  #isClosing = false;
  /** Ends the waits of downloads past the scheduler. */
  readonly #closing = new AbortController();
  #reason = 'finished';
  #dueTimer: NodeJS.Timeout | undefined;
  #idleTimer: NodeJS.Timeout | undefined;
  #isRunning = false;
  #hasSchedulerFailed = false;
  /** Tells what a stop still waits for. */
  #heldTimer: NodeJS.Timeout | undefined;
  /** Ends the wait of a fast stop. */
  #cutTimer: NodeJS.Timeout | undefined;
  readonly #ended = Promise.withResolvers<void>();

  constructor(crawler: Crawler) {
    this.#crawler = crawler;
    const { settings, components } = crawler;
    this.#concurrency = settings.get('CONCURRENT_REQUESTS') || Infinity;
    this.#maxWaiting = Math.min(Math.max(this.#concurrency, 16), 64);
    this.#maxActiveBytes = settings.get('SCRAPER_SLOT_MAX_ACTIVE_SIZE') || Infinity;
    this.scheduler = this.#makeScheduler();
    this.downloader = new (components.downloader ?? Downloader)(
      crawler,
      components.downloaderMiddlewares,
    );
    this.pipelines = new ItemPipelines(crawler, components.pipelines);
    this.scraper = new Scraper(crawler, this, this.pipelines, components.spiderMiddlewares);
    this.#start = new StartLoop(crawler, this);
  }

  #makeScheduler(): Scheduler {
    const { components, job, settings, slots, stats, log } = this.#crawler;
    const hooks = {
      onReady: () => this.#wake(),
      onError: (error: unknown) => this.#schedulerFailed(toError(error)),
    };
    const { scheduler: Custom } = components;
    if (Custom) return Custom.fromCrawler?.(this.#crawler, hooks) ?? new Custom();
    const common = { order: settings.get('SCHEDULER_MEMORY_QUEUE'), slots, stats, ...hooks };
    const { dupeFilter: Filter } = components;
    const dupeFilter =
      Filter === null
        ? new NoDupeFilter()
        : buildComponent(Filter ?? FingerprintDupeFilter, this.#crawler);
    if (job !== undefined) {
      const beforeCommit = (): MaybePromise<boolean> => this.#crawler.saveJob();
      return new JobScheduler({ ...common, job, log, dupeFilter, beforeCommit });
    }
    return new MemoryScheduler({ ...common, dupeFilter });
  }

  get isCut(): boolean {
    return this.#isCut;
  }

  get isClosing(): boolean {
    return this.#isClosing;
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  get reason(): string {
    return this.#reason;
  }

  /** True when the crawl was closed before `start()` had yielded all it has. */
  get isStartCut(): boolean {
    return this.#start.isCut;
  }

  /** Requests under way: downloading or being scraped. */
  get inFlight(): number {
    return this.#downloading.size + this.#scraping.size;
  }

  /** True if `start()` may be asked for more. */
  get wantsMore(): boolean {
    return (
      !this.#isPaused && this.scheduler.pending < this.#crawler.settings.get('START_QUEUE_SIZE')
    );
  }

  /** Runs the loop until the spider is closed; the pipelines are open, `spider_opened` is sent. */
  async run(): Promise<void> {
    this.#isRunning = true;
    this.#start.begin();
    this.#armWatchdog();
    this.#wake();
    await this.#ended.promise;
    this.#isRunning = false;
    clearTimeout(this.#dueTimer);
    clearTimeout(this.#idleTimer);
    clearTimeout(this.#heldTimer);
    clearTimeout(this.#cutTimer);
    await this.downloader.close();
  }

  /** The life of one request, from the scheduler to its last item. */
  async #process(request: Request): Promise<void> {
    let outcome: Request | Response | Error;
    try {
      outcome = await this.downloader.fetch(request);
    } catch (thrown) {
      outcome = toError(thrown);
    }
    // Given up meanwhile: it is back in the scheduler.
    if (!this.#downloading.delete(request)) return;
    if (this.#isClosing && (this.#isCut || outcome instanceof DownloadCancelledError)) {
      await this.scheduler.release(request);
    } else if (this.#postponed.delete(request)) {
      await this.scheduler.release(request);
    } else if (outcome instanceof Request) {
      await this.#reschedule(outcome, request);
      await this.scheduler.done(request);
    } else {
      if (!(outcome instanceof Error)) this.#received(outcome, request);
      if (outcome instanceof IgnoreRequest)
        this.#crawler.dropped(request, outcome.dropCause, outcome.message);
      this.#scraping.add(
        request,
        (outcome instanceof Error ? request.errback : request.callback) ?? 'parse',
      );
      this.#wake();
      const result = await this.scraper.scrape(outcome, request);
      if (!this.#scraping.delete(request)) return;
      await this.#settle(request, result);
    }
    this.#wake();
  }

  async #settle(request: Request, result: ScrapeResult): Promise<void> {
    if (result === 'stopped') return this.scheduler.release(request);
    // A drop was counted where it happened.
    if (result !== 'dropped') this.#crawler.stats.inc(`account/${result}`);
    await this.scheduler.done(request);
  }

  #received(response: Response, request: Request): void {
    this.#pages++;
    const { signals, spider, log, logFormatter } = this.#crawler;
    if (log.isEnabled('DEBUG')) logFormatter.log(log, logFormatter.crawled(request, response));
    if (signals.has('response_received'))
      signals.send('response_received', { response, request, spider });
  }

  /**
   * Puts a request in the scheduler.
   *
   * @param parent - The request whose response led to it, if one did.
   * @returns False if it was dropped, which `request_dropped` tells.
   * @throws UsageError when its callback is no method of the spider, or its meta is no JSON.
   */
  schedule(request: Request, parent?: Request): MaybePromise<boolean> {
    request.callback = this.#methodName(request.callback);
    request.errback = this.#methodName(request.errback);
    checkJson(request.meta, 'meta', request);
    checkJson(request.cbKwargs, 'cbKwargs', request);
    this.#crawler.stats.inc('account/scheduled');
    return this.#enqueue(request, parent);
  }

  /** A redirect or a retry: the same request once more. */
  #reschedule(request: Request, parent: Request): MaybePromise<boolean> {
    return this.#enqueue(request, parent);
  }

  #enqueue(request: Request, parent: Request | undefined): MaybePromise<boolean> {
    const { signals, spider } = this.#crawler;
    if (signals.has('request_scheduled')) {
      for (const result of signals.send('request_scheduled', { request, spider })) {
        if (result instanceof IgnoreRequest) {
          this.#crawler.dropped(request, result.dropCause, result.message);
          return false;
        }
      }
    }
    const resolving = this.#crawler.slots.resolve(request);
    return resolving === undefined
      ? this.#admit(request, parent)
      : resolving.then(() => this.#admit(request, parent));
  }

  #admit(request: Request, parent: Request | undefined): MaybePromise<boolean> {
    const accepted = this.scheduler.enqueue(request, parent);
    if (accepted instanceof Promise) return accepted.then((did) => this.#enqueued(request, did));
    return this.#enqueued(request, accepted);
  }

  #enqueued(request: Request, accepted: boolean): boolean {
    if (!accepted) this.#crawler.dropped(request, 'duplicate');
    else this.#wake();
    return accepted;
  }

  /** Requests are kept by the name of the method: a queue on disk can hold it, and nothing else can be called. */
  #methodName(ref: CallbackRef | undefined): string | undefined {
    if (ref === undefined || typeof ref === 'string') return ref;
    let name = this.#names.get(ref);
    if (name === undefined) {
      const { spider } = this.#crawler;
      if ((spider as unknown as Record<string, unknown>)[ref.name] !== ref) {
        throw new UsageError(
          `The callback ${ref.name || '(anonymous)'} is not a method of spider ${spider.name}. Requests are stored by method name: pass a method (this.parseAuthor) and what it needs in cbKwargs.`,
        );
      }
      name = ref.name;
      this.#names.set(ref, name);
    }
    return name;
  }

  /**
   * Fetches a page past the scheduler: through the downloader middlewares and the slot, redirects and retries included.
   *
   * @throws DownloadError where no response came.
   */
  async download(request: Request): Promise<Response> {
    this.#sideDownloads++;
    try {
      let next = request;
      for (;;) {
        await this.#crawler.slots.resolve(next);
        const outcome = await this.downloader.fetch(next);
        if (!(outcome instanceof Request)) return outcome;
        this.#postponed.delete(outcome);
        next = outcome;
        const wait = (next.notBefore ?? 0) - Date.now();
        if (wait > 0)
          await sleep(wait, undefined, { signal: this.#closing.signal }).catch(() => {});
        if (this.#isClosing) throw new DownloadCancelledError('The crawl is stopping.');
      }
    } finally {
      this.#sideDownloads--;
      this.#wake();
    }
  }

  /**
   * For a middleware whose `processRequest` found that the turn of a request is not yet, and returns this: it goes
   * back to the scheduler as it is.
   *
   * @internal
   */
  postpone(request: Request): Request {
    this.#postponed.add(request);
    return request;
  }

  pause(): void {
    this.#isPaused = true;
  }

  unpause(): void {
    this.#isPaused = false;
    this.#wake();
  }

  /**
   * Closes the spider. `graceful` finishes what is on the wire and its callbacks; `fast` breaks transfers off and
   * takes no more output. Both give the rest back to the scheduler. A second call can only make it faster.
   */
  closeSpider(reason = 'cancelled', mode: StopMode = 'graceful'): void {
    if (!this.#isClosing) {
      this.#isClosing = true;
      this.#closing.abort();
      this.#reason = reason;
      this.#crawler.log.info(`Closing spider (${reason})`);
      this.downloader.cancelWaiting();
      this.#start.stop();
    }
    if (mode === 'fast' && !this.#isCut) {
      this.#isCut = true;
      this.downloader.abort();
    }
    this.#armWatchdog();
    this.#wake();
  }

  #armWatchdog(): void {
    if (!this.#isRunning || !this.#isClosing) return;
    const wait = this.#crawler.settings.get('SHUTDOWN_TIMEOUT') * 1000;
    this.#heldTimer ??= setTimeout(() => this.#tellHeld(wait), wait);
    if (this.#isCut) this.#cutTimer ??= setTimeout(() => void this.#giveUp(), wait);
  }

  #tellHeld(wait: number): void {
    const held = [
      ...this.#downloading.keys().map((request) => `${request.toString()} in the downloader`),
      ...this.#scraping
        .entries()
        .map(
          ([request, ref]) =>
            `${request.toString()} in ${typeof ref === 'string' ? ref : ref.name}`,
        ),
    ];
    const items = this.scraper.itemsInFlight;
    if (items > 0) held.push(`${items} items in pipelines`);
    const more = held.length > 10 ? ` and ${held.length - 10} more` : '';
    this.#crawler.log.warn(
      `Closing takes longer than ${wait / 1000} s. Still held: ${held.slice(0, 10).join(', ')}${more}`,
    );
  }

  /** A fast stop waits no longer for code that does not return; its requests are not done. */
  async #giveUp(): Promise<void> {
    const held = [...this.#downloading.keys(), ...this.#scraping.keys()];
    this.#downloading.clear();
    this.#scraping.clear();
    this.#crawler.log.error(
      `${held.length} requests are given up: what has them does not return. They are back in the scheduler.`,
    );
    for (const request of held) await this.scheduler.release(request);
    this.#ended.resolve();
  }

  /** Something has changed: looks for work in the next microtask, once. */
  #wake(): void {
    if (this.#isWoken) return;
    this.#isWoken = true;
    queueMicrotask(() => {
      this.#isWoken = false;
      this.#pump();
    });
  }

  /** Something has changed: the loop looks for work. */
  wake(): void {
    this.#wake();
  }

  #pump(): void {
    if (this.#isClosing) {
      if (this.inFlight === 0 && !this.#isAsking && this.#start.isSettled) this.#ended.resolve();
      return;
    }
    if (this.#isPaused || this.#isAsking) return;
    while (this.#mayDispatch()) {
      let next: MaybePromise<Request | undefined>;
      try {
        next = this.scheduler.next(this.#crawler.slots);
      } catch (thrown) {
        return this.#schedulerFailed(toError(thrown));
      }
      if (next instanceof Promise) {
        this.#isAsking = true;
        void next.then(
          (request) => {
            this.#isAsking = false;
            if (request) this.#dispatch(request);
            else this.#ranDry();
            if (request) this.#wake();
          },
          (error: unknown) => {
            this.#isAsking = false;
            this.#schedulerFailed(toError(error));
          },
        );
        return;
      }
      if (next === undefined) {
        this.#ranDry();
        break;
      }
      this.#dispatch(next);
    }
    if (this.wantsMore) this.#start.more();
    this.#armDue();
    if (this.#isIdle) this.#idle();
  }

  #schedulerFailed(error: Error): void {
    if (this.#hasSchedulerFailed) return;
    this.#hasSchedulerFailed = true;
    this.#crawler.fail(error);
    this.#crawler.getExtension(FeedExport)?.keepParts();
    this.#crawler.log.error(`The scheduler failed: ${error.message}`, { error });
    this.closeSpider('scheduler_error', 'fast');
  }

  #mayDispatch(): boolean {
    const { pages } = this.limits;
    return (
      this.#downloading.size < this.#concurrency &&
      this.scraper.activeBytes < this.#maxActiveBytes &&
      this.scraper.waiting < this.#maxWaiting &&
      !(pages && this.#pages + this.#downloading.size >= pages) &&
      !this.#isClosing
    );
  }

  #dispatch(request: Request): void {
    this.#downloading.add(request, true);
    const slot = this.#crawler.slots.claim();
    if (slot !== undefined) this.downloader.expect(request, slot);
    this.#process(request).catch((thrown: unknown) => this.#schedulerFailed(toError(thrown)));
  }

  #ranDry(): void {
    const { signals } = this.#crawler;
    if (signals.has('scheduler_empty')) signals.send('scheduler_empty', {});
  }

  /** Wakes when the next request that waits for its time is due. */
  #armDue(): void {
    const { nextDue } = this.scheduler;
    clearTimeout(this.#dueTimer);
    this.#dueTimer = undefined;
    if (nextDue === undefined) return;
    const wait = Math.min(Math.max(nextDue - Date.now() + 1, 1), 2 ** 31 - 1);
    this.#dueTimer = setTimeout(() => this.#wake(), wait);
  }

  get #isIdle(): boolean {
    return (
      this.#start.isSettled &&
      this.scheduler.pending === 0 &&
      this.scheduler.leased === 0 &&
      this.inFlight === 0 &&
      this.#sideDownloads === 0 &&
      !this.#isClosing
    );
  }

  #idle(): void {
    const { signals, spider } = this.#crawler;
    const results = signals.send('spider_idle', { spider });
    if (results.some((result) => result instanceof DontCloseSpider)) {
      this.#idleTimer ??= setTimeout(() => {
        this.#idleTimer = undefined;
        this.#wake();
      }, idleInterval);
      return;
    }
    if (!this.#isIdle) return;
    const close = results.find((result) => result instanceof CloseSpider);
    this.closeSpider(close?.reason ?? (this.#start.hasFailed ? 'start_error' : 'finished'));
  }
}
