import { buildComponents, type ComponentClass } from '../crawler/component.ts';
import type { Crawler } from '../crawler/crawler.ts';
import { InFlight } from '../engine/in-flight.ts';
import {
  DownloadCancelledError,
  toError,
  UnsupportedUrlSchemeError,
  UsageError,
} from '../errors.ts';
import { Request } from '../http/request.ts';
import { Response } from '../http/response.ts';
import { DataHandler } from './handlers/data.ts';
import { FileHandler } from './handlers/file.ts';
import { type DownloadHandler, SendAgain } from './handlers/handler.ts';
import { HttpHandler } from './handlers/http.ts';
import type { DownloaderMiddleware, MaybePromise } from './middleware.ts';
import type { Slot } from './slot.ts';

type HandlerClass = ComponentClass<DownloadHandler>;

/** What `DOWNLOADER` takes: a class that extends `Downloader`. */
export type DownloaderClass = new (
  crawler: Crawler,
  middlewares: readonly (readonly [ComponentClass<DownloaderMiddleware>, number])[],
) => Downloader;

/** Request in, response out: middlewares around the slot around the handler. */
export class Downloader {
  readonly middlewares: readonly DownloaderMiddleware[];
  readonly #crawler: Crawler;
  readonly #requestHooks: ((
    request: Request,
  ) => MaybePromise<Request | Response | undefined | void>)[] = [];
  readonly #responseHooks: ((
    request: Request,
    response: Response,
  ) => MaybePromise<Request | Response>)[] = [];
  readonly #errorHooks: ((
    request: Request,
    error: Error,
  ) => MaybePromise<Request | Response | undefined | void>)[] = [];
  readonly #handlers = new Map<string, DownloadHandler>();
  readonly #handlerClasses: ReadonlyMap<string, HandlerClass | null>;
  /** Which slot holds a place for a request that is not on the wire yet. */
  readonly #reserved = new InFlight<Request, Slot>();
  /** What is on the wire, and since when. */
  readonly #transfers = new InFlight<Request, number>();
  #http: HttpHandler | undefined;
  #isStopping = false;

  constructor(
    crawler: Crawler,
    middlewares: readonly (readonly [ComponentClass<DownloaderMiddleware>, number])[],
  ) {
    this.#crawler = crawler;
    this.#handlerClasses = new Map<string, HandlerClass | null>([
      ['http:', HttpHandler as HandlerClass],
      ['https:', HttpHandler as HandlerClass],
      ['data:', DataHandler],
      ['file:', FileHandler],
      ...Object.entries(
        crawler.settings.get('DOWNLOAD_HANDLERS') as Record<string, HandlerClass | null>,
      ).map(([scheme, handler]) => [`${scheme}:`, handler] as const),
    ]);
    this.middlewares = buildComponents(middlewares, crawler);
    // Compiled once: a middleware without a hook costs nothing.
    for (const middleware of this.middlewares) {
      if (middleware.processRequest)
        this.#requestHooks.push(middleware.processRequest.bind(middleware));
      if (middleware.processResponse)
        this.#responseHooks.unshift(middleware.processResponse.bind(middleware));
      if (middleware.processException)
        this.#errorHooks.unshift(middleware.processException.bind(middleware));
    }
  }

  /** Transfers on the wire. */
  get transferring(): number {
    return this.#transfers.size;
  }

  /** Open pools of connections, one for each origin and proxy. */
  get pools(): number {
    return this.#http?.pools ?? 0;
  }

  /** When a request that is on the wire was sent, on the clock of `performance.now()`. */
  dispatchedAt(request: Request): number | undefined {
    return this.#transfers.get(request);
  }

  /** `slot` holds a place for `request`, taken by the scheduler. */
  expect(request: Request, slot: Slot): void {
    this.#reserved.add(request, slot);
  }

  /**
   * The response; or a request to make instead: a redirect, a retry.
   *
   * @throws DownloadError where no response came, `IgnoreRequest` where a middleware refused.
   */
  async fetch(request: Request): Promise<Request | Response> {
    let result: Request | Response | undefined | void;
    try {
      for (const hook of this.#requestHooks) {
        const answer = hook(request);
        result = answer instanceof Promise ? await answer : answer;
        if (result !== undefined) break;
      }
      if (result === undefined) {
        const slot = this.#slotFor(request);
        result = await this.#transfer(request, slot);
      }
    } catch (thrown) {
      const error = toError(thrown);
      result = undefined;
      for (const hook of this.#errorHooks) {
        const handled = hook(request, error);
        result = handled instanceof Promise ? await handled : handled;
        if (result !== undefined) break;
      }
      if (result === undefined) throw error;
    } finally {
      this.#unreserve(request);
    }
    if (result instanceof Request) return result;
    let response = checked(result);
    response.request = request;
    for (const hook of this.#responseHooks) {
      const next = hook(request, response);
      const done = next instanceof Promise ? await next : next;
      if (done instanceof Request) return done;
      response = checked(done);
      response.request ??= request;
    }
    return response;
  }

  /** Sends back what is not on the wire yet. */
  cancelWaiting(): void {
    this.#isStopping = true;
    for (const slot of this.#crawler.slots.entries()) slot.cancel(this);
  }

  /** Breaks off what is on the wire. */
  abort(): void {
    this.cancelWaiting();
    const error = new DownloadCancelledError('The crawl is stopping.');
    for (const handler of new Set(this.#handlers.values())) handler.abort?.(error);
  }

  async close(): Promise<void> {
    for (const handler of new Set(this.#handlers.values())) {
      try {
        await handler.close?.();
      } catch (thrown) {
        const error = toError(thrown);
        this.#crawler.fail(error);
        this.#crawler.log.error(`${handler.constructor.name}.close failed: ${error.message}`, {
          error,
        });
      }
    }
  }

  #slotFor(request: Request): Slot {
    const { slots } = this.#crawler;
    const slot = slots.get(slots.keyOf(request));
    if (this.#reserved.get(request) === slot) {
      this.#reserved.delete(request);
      slot.reserved--;
    }
    return slot;
  }

  #unreserve(request: Request): void {
    const slot = this.#reserved.get(request);
    if (slot === undefined) return;
    this.#reserved.delete(request);
    slot.reserved--;
    slot.wake();
  }

  async #transfer(request: Request, slot: Slot): Promise<Response> {
    const { signals, spider } = this.#crawler;
    const handler = this.#handler(request.url);
    if (signals.has('request_reached_downloader')) {
      signals.send('request_reached_downloader', { request, spider });
    }
    const turn = slot.enter(this);
    if (turn !== undefined && !(await turn))
      throw new DownloadCancelledError('The crawl is stopping.');
    this.#transfers.add(request, performance.now());
    try {
      if (this.#isStopping) throw new DownloadCancelledError('The crawl is stopping.');
      const response = await handler.download(request);
      response.request = request;
      if (signals.has('response_downloaded'))
        signals.send('response_downloaded', { response, request, spider });
      return response;
    } catch (thrown) {
      if (!(thrown instanceof SendAgain)) {
        if (signals.has('download_failed'))
          signals.send('download_failed', { error: toError(thrown), request, spider });
        throw thrown;
      }
    } finally {
      this.#transfers.delete(request);
      slot.leave();
      if (signals.has('request_left_downloader'))
        signals.send('request_left_downloader', { request, spider });
    }
    // In its turn like any other: the delay of the slot holds between the two.
    return this.#transfer(request, slot);
  }

  #handler(url: string): DownloadHandler {
    const scheme = url.slice(0, url.indexOf(':') + 1);
    const known = this.#handlers.get(scheme);
    if (known) return known;
    const handlerClass = this.#handlerClasses.get(scheme);
    if (!handlerClass) {
      throw new UnsupportedUrlSchemeError(
        `There is no download handler for ${scheme} URLs, asked for by ${url}.`,
      );
    }
    const handler = this.#build(handlerClass);
    this.#handlers.set(scheme, handler);
    return handler;
  }

  /** http and https share one handler, and so their pools. */
  #build(handlerClass: HandlerClass): DownloadHandler {
    if (handlerClass !== (HttpHandler as HandlerClass))
      return buildComponents([[handlerClass, 0]], this.#crawler)[0]!;
    return (this.#http ??= new HttpHandler(this.#crawler));
  }
}

function checked(result: unknown): Response {
  if (result instanceof Response) return result;
  throw new UsageError(
    `A downloader middleware returned ${typeof result}. processResponse must return a Response or a Request, processRequest also nothing.`,
  );
}
