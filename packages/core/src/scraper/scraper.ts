import { buildComponents, type ComponentClass } from '../crawler/component.ts';
import type { Crawler } from '../crawler/crawler.ts';
import type { MaybePromise } from '../downloader/middleware.ts';
import {
  CloseSpider,
  Control,
  type Failure,
  HttpError,
  IgnoreRequest,
  toError,
  UsageError,
} from '../errors.ts';
import { type CallbackRef, Request } from '../http/request.ts';
import { Response } from '../http/response.ts';
import type { ItemPipelines } from '../pipeline/item-pipeline.ts';
import type { SpiderMiddleware } from './spider-middleware.ts';

/** How the scraping of a response ended. `stopped`: the crawl closed before all of its output was taken. */
export type ScrapeResult = 'done' | 'failed' | 'dropped' | 'stopped';

/** What the scraper needs of the engine. */
export interface ScraperHost {
  /** @param parent - The request whose response led to it. */
  schedule(request: Request, parent?: Request): MaybePromise<boolean>;
  closeSpider(reason: string): void;
  /** A page has had its turn: there is room for another. */
  wake(): void;
  /** True once nothing more may pass: a limit was reached, or the stop is fast. */
  readonly isCut: boolean;
  readonly limits: { items?: number };
}

type Hook<T, R> = (value: T, response: Response | null) => R;

/** Response in, requests and items out: spider middlewares, then callback or errback. */
export class Scraper {
  readonly middlewares: readonly SpiderMiddleware[];
  readonly #crawler: Crawler;
  readonly #host: ScraperHost;
  readonly #pipelines: ItemPipelines;
  readonly #inputHooks: ((response: Response) => void)[] = [];
  readonly #requestHooks: Hook<Request, Request | null>[] = [];
  readonly #itemHooks: Hook<unknown, unknown>[] = [];
  /** True where a middleware wraps the whole output, so that elements pass through in its order. */
  readonly #wrapsOutput: boolean;
  readonly #maxItems: number;
  #itemsInFlight = 0;
  #itemsPassed = 0;
  #itemSettled: (() => void)[] = [];
  /** Bytes of the responses being scraped, as Scrapy counts them. */
  activeBytes = 0;
  active = 0;
  #queue: (() => void)[] = [];
  #hasTurn = false;

  constructor(
    crawler: Crawler,
    host: ScraperHost,
    pipelines: ItemPipelines,
    middlewares: readonly (readonly [ComponentClass<SpiderMiddleware>, number])[],
  ) {
    this.#crawler = crawler;
    this.#host = host;
    this.#pipelines = pipelines;
    this.#maxItems = crawler.settings.get('CONCURRENT_ITEMS');
    this.middlewares = buildComponents(middlewares, crawler);
    this.#wrapsOutput = this.middlewares.some((middleware) => middleware.processSpiderOutput);
    for (const middleware of this.middlewares) {
      if (middleware.processSpiderInput)
        this.#inputHooks.push(middleware.processSpiderInput.bind(middleware));
      // Output goes from the spider to the engine: the highest number first.
      if (middleware.getProcessedRequest)
        this.#requestHooks.unshift(middleware.getProcessedRequest.bind(middleware));
      if (middleware.getProcessedItem)
        this.#itemHooks.unshift(middleware.getProcessedItem.bind(middleware));
    }
  }

  get itemsInFlight(): number {
    return this.#itemsInFlight;
  }

  /** Resolves when everything the response led to has settled. Never throws. */
  scrape(outcome: Response | Error, request: Request): Promise<ScrapeResult> {
    const bytes = outcome instanceof Response ? Math.max(outcome.body.length, 1024) : 1024;
    this.activeBytes += bytes;
    this.active++;
    return new Promise((resolve) => {
      // One page a turn of the loop: what came from the network meanwhile is answered first.
      this.#queue.push(() => {
        void this.#scrape(outcome, request).then((result) => {
          this.activeBytes -= bytes;
          this.active--;
          resolve(result);
        });
      });
      if (this.#hasTurn) return;
      this.#hasTurn = true;
      setImmediate(this.#next);
    });
  }

  readonly #next = (): void => {
    this.#queue.shift()?.();
    this.#hasTurn = this.#queue.length > 0;
    if (this.#hasTurn) setImmediate(this.#next);
    this.#host.wake();
  };

  /** Pages that wait for their turn. */
  get waiting(): number {
    return this.#queue.length;
  }

  async #scrape(outcome: Response | Error, request: Request): Promise<ScrapeResult> {
    if (this.#host.isCut) return 'stopped';
    const response = outcome instanceof Response ? outcome : null;
    let result: ScrapeResult = response
      ? 'done'
      : outcome instanceof IgnoreRequest
        ? 'dropped'
        : 'failed';
    try {
      let output: unknown;
      try {
        if (response) {
          for (const hook of this.#inputHooks) hook(response);
          output = this.#callback(request.callback ?? 'parse').call(
            this.#crawler.spider,
            response,
            request.cbKwargs ?? {},
          );
        } else {
          output = this.#errback(outcome as Error, request, null);
        }
      } catch (thrown) {
        // What stopped the response on its way in goes to the errback; what the callback throws does not.
        if (!(thrown instanceof HttpError) || !response) throw thrown;
        result = 'failed';
        if (request.errback === undefined) {
          output = await this.#handledByMiddleware(thrown, response);
        } else {
          output = this.#errback(thrown, request, response);
        }
      }
      if (output instanceof Promise) output = await output;
      if (output === undefined || output === null) return result;
      if (!(await this.#consume(output, response, request))) return 'stopped';
      return result;
    } catch (thrown) {
      return this.#spiderError(toError(thrown), request, response);
    }
  }

  #callback(ref: CallbackRef): (...args: unknown[]) => unknown {
    if (typeof ref === 'function') return ref;
    const method = (this.#crawler.spider as unknown as Record<string, unknown>)[ref];
    if (typeof method !== 'function') {
      throw new UsageError(
        `Spider ${this.#crawler.spider.name} has no method ${JSON.stringify(ref)}, named as a callback.`,
      );
    }
    return method as (...args: unknown[]) => unknown;
  }

  #errback(error: Error, request: Request, response: Response | null): unknown {
    const { log, logFormatter } = this.#crawler;
    if (request.errback === undefined) {
      if (!(error instanceof Control))
        logFormatter.log(log, logFormatter.downloadError(error, request));
      return undefined;
    }
    const failure: Failure = {
      error,
      request,
      ...((response ?? (error as { response?: Response }).response) && {
        response: response ?? (error as { response?: Response }).response,
      }),
    };
    return this.#callback(request.errback).call(this.#crawler.spider, failure);
  }

  /** The output of the first middleware that handles `error`; undefined if it is an HttpError that none wants. */
  async #handledByMiddleware(error: Error, response: Response): Promise<unknown> {
    for (const middleware of this.middlewares.toReversed()) {
      const output = middleware.processSpiderException?.(response, error);
      if (output !== undefined) return output;
    }
    if (error instanceof HttpError) return undefined;
    throw error;
  }

  async #spiderError(
    error: Error,
    request: Request,
    response: Response | null,
  ): Promise<ScrapeResult> {
    if (error instanceof CloseSpider) {
      this.#host.closeSpider(error.reason);
      return 'done';
    }
    if (response) {
      try {
        const output = await this.#handledByMiddleware(error, response);
        if (output !== undefined)
          return (await this.#consume(output, response, request)) ? 'done' : 'stopped';
      } catch (thrown) {
        this.reportError(toError(thrown), request, response);
        return 'failed';
      }
    }
    this.reportError(error, request, response);
    return 'failed';
  }

  /** Logs, counts and signals what spider code threw. */
  reportError(error: Error, request: Request | null, response: Response | null): void {
    const { signals, spider, log, logFormatter, stats } = this.#crawler;
    stats.inc('spider_exceptions/count');
    stats.inc(`spider_exceptions/${error.name}`);
    logFormatter.log(log, logFormatter.spiderError(error, request, response));
    const failure = {
      error,
      ...(request && { request }),
      ...(response && { response }),
    } as Failure;
    signals.send('spider_error', { failure, response, spider });
  }

  /** Takes all output of a callback; false if the crawl was cut before its end. */
  async #consume(output: unknown, response: Response | null, parent: Request): Promise<boolean> {
    if (this.#wrapsOutput) return this.#consumeWrapped(output, response, parent);
    if (!isIterable(output)) {
      if (this.#host.isCut) return false;
      await this.take(output, response, parent);
      return true;
    }
    const pending: Promise<unknown>[] = [];
    const settled = async (): Promise<void> => {
      await Promise.all(pending.splice(0));
    };
    try {
      if (Symbol.asyncIterator in output) {
        for await (const element of output as AsyncIterable<unknown>) {
          if (this.#host.isCut) return false;
          const taken = this.take(element, response, parent);
          if (taken instanceof Promise && pending.push(taken) >= this.#maxItems) await settled();
        }
      } else {
        for (const element of output as Iterable<unknown>) {
          if (this.#host.isCut) return false;
          const taken = this.take(element, response, parent);
          if (taken instanceof Promise && pending.push(taken) >= this.#maxItems) await settled();
        }
      }
    } finally {
      await settled();
    }
    return true;
  }

  async #consumeWrapped(
    output: unknown,
    response: Response | null,
    parent: Request,
  ): Promise<boolean> {
    let wrapped: AsyncIterable<unknown> = toAsync(output);
    for (const middleware of this.middlewares.toReversed()) {
      if (middleware.processSpiderOutput && response)
        wrapped = middleware.processSpiderOutput(response, wrapped);
      else wrapped = perElement(middleware, wrapped, response);
    }
    for await (const element of wrapped) {
      if (this.#host.isCut) return false;
      await this.#deliver(element, response, parent);
    }
    return true;
  }

  /** One element of the output, through the middlewares, to the scheduler or the pipelines. */
  take(element: unknown, response: Response | null, parent?: Request): MaybePromise<unknown> {
    if (element instanceof Request) {
      let request: Request | null = element;
      const { droppedCount } = this.#crawler;
      for (const hook of this.#requestHooks) {
        request = hook(request, response);
        if (request === null) return this.#droppedByMiddleware(element, droppedCount);
      }
      return this.#deliver(request, response, parent);
    }
    let item: unknown = element;
    for (const hook of this.#itemHooks) item = hook(item, response);
    return this.#deliver(item, response, parent);
  }

  /** Drops before the scheduler stand in the account too. */
  #droppedByMiddleware(request: Request, before: number): undefined {
    this.#crawler.stats.inc('account/scheduled');
    if (this.#crawler.droppedCount === before) this.#crawler.dropped(request, 'middleware');
  }

  #deliver(
    element: unknown,
    response: Response | null,
    parent: Request | undefined,
  ): MaybePromise<unknown> {
    if (element === undefined || element === null) return undefined;
    if (element instanceof Request) return this.#host.schedule(element, parent);
    if (typeof element !== 'object') {
      throw new UsageError(
        `A spider yields requests and items (objects), not ${JSON.stringify(element)}.`,
      );
    }
    return this.#process(element, response);
  }

  #process(item: object, response: Response | null): MaybePromise<unknown> {
    const limit = this.#host.limits.items;
    // Beyond the limit no item may pass, so one is let in only when those before it cannot reach the limit.
    if (
      this.#itemsInFlight >= this.#maxItems ||
      (limit && this.#itemsPassed + this.#itemsInFlight >= limit)
    ) {
      return this.#processLater(item, response);
    }
    const passed = this.#pipelines.process(item, response);
    if (!(passed instanceof Promise)) {
      if (passed) this.#itemsPassed++;
      return undefined;
    }
    this.#itemsInFlight++;
    return passed.then((did) => {
      this.#itemsInFlight--;
      if (did) this.#itemsPassed++;
      for (const go of this.#itemSettled.splice(0)) go();
    });
  }

  async #processLater(item: object, response: Response | null): Promise<void> {
    const limit = this.#host.limits.items;
    while (
      this.#itemsInFlight > 0 &&
      (this.#itemsInFlight >= this.#maxItems ||
        (limit && this.#itemsPassed + this.#itemsInFlight >= limit))
    ) {
      await new Promise<void>((go) => {
        this.#itemSettled.push(go);
      });
    }
    if (limit && this.#itemsPassed >= limit) return;
    await this.#process(item, response);
  }
}

function isIterable(value: unknown): value is object {
  return (
    typeof value === 'object' &&
    value !== null &&
    (Symbol.asyncIterator in value || Symbol.iterator in value)
  );
}

async function* toAsync(output: unknown): AsyncGenerator<unknown> {
  if (isIterable(output)) yield* output as AsyncIterable<unknown>;
  else yield output;
}

async function* perElement(
  middleware: SpiderMiddleware,
  output: AsyncIterable<unknown>,
  response: Response | null,
): AsyncGenerator<unknown> {
  for await (const element of output) {
    if (element instanceof Request) {
      const request = middleware.getProcessedRequest
        ? middleware.getProcessedRequest(element, response)
        : element;
      if (request !== null) yield request;
    } else {
      yield middleware.getProcessedItem ? middleware.getProcessedItem(element, response) : element;
    }
  }
}
