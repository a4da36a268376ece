import type { Request } from '../http/request.ts';
import type { Response } from '../http/response.ts';
/** A value now, or later. What need not wait is not a promise: nobody then has to await it. */
export type MaybePromise<T> = T | Promise<T>;
/**
 * Sees each request on its way to the download and each response on its way back.
 * Requests pass the middlewares by rising order number, responses and errors by falling.
 * A middleware that needs the crawler has a static `fromCrawler(crawler)`.
 */
export interface DownloaderMiddleware {
  /**
   * Nothing lets the request go on. A response answers it without a download and still passes every
   * `processResponse`; a request goes to the scheduler in its place.
   *
   * @throws IgnoreRequest to drop the request; any error visits `processException`.
   */
  processRequest?(request: Request): MaybePromise<Request | Response | undefined | void>;
  /** The response, this or another; or a request to schedule instead. */
  processResponse?(request: Request, response: Response): MaybePromise<Request | Response>;
  /** Nothing leaves the error to the next middleware; a response or a request takes its place. */
  processException?(
    request: Request,
    error: Error,
  ): MaybePromise<Request | Response | undefined | void>;
}
//# sourceMappingURL=middleware.d.ts.map
