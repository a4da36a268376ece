import { buildComponents } from '../crawler/component.js';
import { CloseSpider, Control, HttpError, IgnoreRequest, toError, UsageError } from '../errors.js';
import { Request } from '../http/request.js';
import { Response } from '../http/response.js';
/** Response in, requests and items out: spider middlewares, then callback or errback. */
export class Scraper {
  middlewares;
  #crawler;
  #host;
  #pipelines;
  #inputHooks = [];
  #requestHooks = [];
  #itemHooks = [];
  /** True where a middleware wraps the whole output, so that elements pass through in its order. */
  #wrapsOutput;
  #maxItems;
  #itemsInFlight = 0;
  #itemsPassed = 0;
  #itemSettled = [];
  /** Bytes of the responses being scraped, as Scrapy counts them. */
  activeBytes = 0;
  active = 0;
  #queue = [];
  #turn;
  constructor(crawler, host, pipelines, middlewares) {
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
  get itemsInFlight() {
    return this.#itemsInFlight;
  }
  /** Resolves when everything the response led to has settled. Never throws. */
  scrape(outcome, request) {
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
      this.#turn ??= setImmediate(this.#next);
    });
  }
  #next = () => {
    this.#queue.shift()?.();
    this.#turn = this.#queue.length > 0 ? setImmediate(this.#next) : undefined;
  };
  async #scrape(outcome, request) {
    if (this.#host.isCut) return 'stopped';
    const response = outcome instanceof Response ? outcome : null;
    let result = response ? 'done' : outcome instanceof IgnoreRequest ? 'dropped' : 'failed';
    try {
      let output;
      try {
        if (response) {
          for (const hook of this.#inputHooks) hook(response);
          output = this.#callback(request.callback ?? 'parse').call(
            this.#crawler.spider,
            response,
            request.cbKwargs ?? {},
          );
        } else {
          output = this.#errback(outcome, request, null);
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
      if (!(await this.#consume(output, response))) return 'stopped';
      return result;
    } catch (thrown) {
      return this.#spiderError(toError(thrown), request, response);
    }
  }
  #callback(ref) {
    if (typeof ref === 'function') return ref;
    const method = this.#crawler.spider[ref];
    if (typeof method !== 'function') {
      throw new UsageError(
        `Spider ${this.#crawler.spider.name} has no method ${JSON.stringify(ref)}, named as a callback.`,
      );
    }
    return method;
  }
  #errback(error, request, response) {
    const { log, logFormatter } = this.#crawler;
    if (request.errback === undefined) {
      if (!(error instanceof Control))
        logFormatter.log(log, logFormatter.downloadError(error, request));
      return undefined;
    }
    const failure = {
      error,
      request,
      ...((response ?? error.response) && {
        response: response ?? error.response,
      }),
    };
    return this.#callback(request.errback).call(this.#crawler.spider, failure);
  }
  /** The output of the first middleware that handles `error`; undefined if it is an HttpError that none wants. */
  async #handledByMiddleware(error, response) {
    for (const middleware of this.middlewares.toReversed()) {
      const output = middleware.processSpiderException?.(response, error);
      if (output !== undefined) return output;
    }
    if (error instanceof HttpError) return undefined;
    throw error;
  }
  async #spiderError(error, request, response) {
    if (error instanceof CloseSpider) {
      this.#host.closeSpider(error.reason);
      return 'done';
    }
    if (response) {
      try {
        const output = await this.#handledByMiddleware(error, response);
        if (output !== undefined)
          return (await this.#consume(output, response)) ? 'done' : 'stopped';
      } catch (thrown) {
        this.reportError(toError(thrown), request, response);
        return 'failed';
      }
    }
    this.reportError(error, request, response);
    return 'failed';
  }
  /** Logs, counts and signals what spider code threw. */
  reportError(error, request, response) {
    const { signals, spider, log, logFormatter, stats } = this.#crawler;
    stats.inc('spider_exceptions/count');
    stats.inc(`spider_exceptions/${error.name}`);
    logFormatter.log(log, logFormatter.spiderError(error, request, response));
    const failure = {
      error,
      ...(request && { request }),
      ...(response && { response }),
    };
    signals.send('spider_error', { failure, response, spider });
  }
  /** Takes all output of a callback; false if the crawl was cut before its end. */
  async #consume(output, response) {
    if (this.#wrapsOutput) return this.#consumeWrapped(output, response);
    if (!isIterable(output)) {
      if (this.#host.isCut) return false;
      await this.take(output, response);
      return true;
    }
    const pending = [];
    const settled = async () => {
      await Promise.all(pending.splice(0));
    };
    try {
      if (Symbol.asyncIterator in output) {
        for await (const element of output) {
          if (this.#host.isCut) return false;
          const taken = this.take(element, response);
          if (taken instanceof Promise && pending.push(taken) >= this.#maxItems) await settled();
        }
      } else {
        for (const element of output) {
          if (this.#host.isCut) return false;
          const taken = this.take(element, response);
          if (taken instanceof Promise && pending.push(taken) >= this.#maxItems) await settled();
        }
      }
    } finally {
      await settled();
    }
    return true;
  }
  async #consumeWrapped(output, response) {
    let wrapped = toAsync(output);
    for (const middleware of this.middlewares.toReversed()) {
      if (middleware.processSpiderOutput && response)
        wrapped = middleware.processSpiderOutput(response, wrapped);
      else wrapped = perElement(middleware, wrapped, response);
    }
    for await (const element of wrapped) {
      if (this.#host.isCut) return false;
      await this.#deliver(element, response);
    }
    return true;
  }
  /** One element of the output, through the middlewares, to the scheduler or the pipelines. */
  take(element, response) {
    if (element instanceof Request) {
      let request = element;
      const { droppedCount } = this.#crawler;
      for (const hook of this.#requestHooks) {
        request = hook(request, response);
        if (request === null) return this.#droppedByMiddleware(element, droppedCount);
      }
      return this.#deliver(request, response);
    }
    let item = element;
    for (const hook of this.#itemHooks) item = hook(item, response);
    return this.#deliver(item, response);
  }
  /** Drops before the scheduler stand in the account too. */
  #droppedByMiddleware(request, before) {
    this.#crawler.stats.inc('account/scheduled');
    if (this.#crawler.droppedCount === before) this.#crawler.dropped(request, 'middleware');
  }
  #deliver(element, response) {
    if (element === undefined || element === null) return undefined;
    if (element instanceof Request) return this.#host.schedule(element);
    if (typeof element !== 'object') {
      throw new UsageError(
        `A spider yields requests and items (objects), not ${JSON.stringify(element)}.`,
      );
    }
    return this.#process(element, response);
  }
  #process(item, response) {
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
  async #processLater(item, response) {
    const limit = this.#host.limits.items;
    while (
      this.#itemsInFlight > 0 &&
      (this.#itemsInFlight >= this.#maxItems ||
        (limit && this.#itemsPassed + this.#itemsInFlight >= limit))
    ) {
      await new Promise((go) => {
        this.#itemSettled.push(go);
      });
    }
    if (limit && this.#itemsPassed >= limit) return;
    await this.#process(item, response);
  }
}
function isIterable(value) {
  return (
    typeof value === 'object' &&
    value !== null &&
    (Symbol.asyncIterator in value || Symbol.iterator in value)
  );
}
async function* toAsync(output) {
  if (isIterable(output)) yield* output;
  else yield output;
}
async function* perElement(middleware, output, response) {
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
//# sourceMappingURL=scraper.js.map
