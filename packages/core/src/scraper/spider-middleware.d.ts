import type { Request } from '../http/request.ts';
import type { Response } from '../http/response.ts';
/**
 * Stands between the engine and the spider: responses pass by rising order number, what the spider
 * yields by falling. A middleware that needs the crawler has a static `fromCrawler(crawler)`.
 */
export interface SpiderMiddleware {
  /** What is thrown here keeps the response from the callback and goes to the errback. */
  processSpiderInput?(response: Response): void;
  /** Wraps all that a callback yields. Costs a generator a response: prefer the two hooks per element. */
  processSpiderOutput?(response: Response, result: AsyncIterable<unknown>): AsyncIterable<unknown>;
  /** An iterable takes the place of the output; nothing leaves the error to the next middleware. */
  processSpiderException?(
    response: Response,
    error: Error,
  ): Iterable<unknown> | AsyncIterable<unknown> | undefined | void;
  /** Wraps what `start()` yields. */
  processStart?(start: AsyncIterable<unknown>): AsyncIterable<unknown>;
  /**
   * Each request that the spider yields. Null drops it: say why with `crawler.dropped()`.
   *
   * @param response - Null for requests from `start()`.
   */
  getProcessedRequest?(request: Request, response: Response | null): Request | null;
  /** Each item that the spider yields. Null drops it. */
  getProcessedItem?(item: unknown, response: Response | null): unknown;
}
//# sourceMappingURL=spider-middleware.d.ts.map
