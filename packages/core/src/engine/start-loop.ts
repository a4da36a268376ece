import type { Crawler } from '../crawler/crawler.ts';
import { policyHost } from '../downloader/handlers/address-policy.ts';
import { CloseSpider, toError, UsageError } from '../errors.ts';
import { Request } from '../http/request.ts';
import type { Engine } from './engine.ts';

/** Hosts of start requests that are remembered: they may be inside addresses. */
const maxStartHosts = 100_000;

/** Takes what `start()` yields as the crawl has room for it. */
export class StartLoop {
  readonly #crawler: Crawler;
  readonly #engine: Engine;
  #iterator: AsyncIterator<unknown> | undefined;
  #hasRoom: (() => void) | undefined;
  #isStopped = false;
  #isSettled = false;
  #isComplete = false;
  #hasFailed = false;

  constructor(crawler: Crawler, engine: Engine) {
    this.#crawler = crawler;
    this.#engine = engine;
  }

  /** True when there is nothing more to come and everything that came is handed on. */
  get isSettled(): boolean {
    return this.#isSettled;
  }

  /** True when the crawl was closed before `start()` had yielded all it has. */
  get isCut(): boolean {
    return this.#isStopped && !this.#isComplete && !this.#hasFailed;
  }

  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  begin(): void {
    void this.#run();
  }

  /** The engine has room. */
  more(): void {
    this.#hasRoom?.();
  }

  stop(): void {
    this.#isStopped = true;
    this.#hasRoom?.();
    // A start() that waits for something is not waited for.
    void this.#iterator?.return?.().catch(() => {});
    this.#isSettled = true;
  }

  async #run(): Promise<void> {
    const { scheduler } = this.#engine;
    try {
      if (scheduler.claimStart && !(await scheduler.claimStart())) return;
      if (this.#isStopped) return;
      this.#iterator = this.#open();
      for (;;) {
        if (!this.#engine.wantsMore) {
          await new Promise<void>((resolve) => {
            this.#hasRoom = resolve;
          });
          this.#hasRoom = undefined;
        }
        if (this.#isStopped) return;
        const { done, value } = await this.#iterator.next();
        if (this.#isStopped) return;
        this.#isComplete = done === true;
        if (this.#isComplete) break;
        // The loop gets its turn between two of them.
        if (value instanceof Request) this.#markStart(value);
        await this.#engine.scraper.take(value, null);
      }
    } catch (thrown) {
      this.#failed(toError(thrown));
    } finally {
      await this.#end();
      this.#isSettled = true;
      this.#engine.wake();
    }
  }

  async #end(): Promise<void> {
    try {
      await this.#engine.scheduler.startEnded?.(this.#isComplete);
    } catch (thrown) {
      this.#failed(toError(thrown));
    }
  }

  /** Start requests are marked, so that the scheduler keeps them in their own order. */
  #markStart(request: Request): void {
    request.meta.isStartRequest = true;
    const { startHosts } = this.#crawler;
    if (startHosts.size < maxStartHosts) startHosts.add(policyHost(request.url));
  }

  #open(): AsyncIterator<unknown> {
    const { spider } = this.#crawler;
    if (
      (spider as { startUrl?: unknown }).startUrl !== undefined &&
      spider.startUrls.length === 0
    ) {
      throw new UsageError(
        `Spider ${spider.name} sets startUrl. The field is startUrls, a list: readonly startUrls = ['https://…'].`,
      );
    }
    const start: unknown = spider.start();
    if (
      typeof start !== 'object' ||
      start === null ||
      !(Symbol.asyncIterator in start || Symbol.iterator in start)
    ) {
      throw new UsageError(
        `start() of spider ${spider.name} must yield requests: write async *start() { yield new Request(…) }.`,
      );
    }
    let output: AsyncIterable<unknown> = each(start as AsyncIterable<unknown>);
    for (const middleware of this.#engine.scraper.middlewares.toReversed()) {
      if (middleware.processStart) output = middleware.processStart(output);
    }
    return output[Symbol.asyncIterator]();
  }

  #failed(error: Error): void {
    if (error instanceof CloseSpider) {
      this.#engine.closeSpider(error.reason);
      return;
    }
    this.#hasFailed = true;
    this.#crawler.fail(error);
    this.#engine.scraper.reportError(error, null, null);
  }
}

async function* each(start: AsyncIterable<unknown> | Iterable<unknown>): AsyncGenerator<unknown> {
  yield* start as AsyncIterable<unknown>;
}
