import type { Crawler } from '../../crawler/crawler.ts';
import type { Request } from '../../http/request.ts';
import type { Response } from '../../http/response.ts';
import type { DownloaderMiddleware } from '../middleware.ts';
export interface RetryOptions {
  readonly crawler: Crawler;
  /** Counted in `retry/reason_count/{reason}` and logged: a text, or the error that was the reason. */
  readonly reason?: string | Error;
  /** Over `meta.maxRetryTimes` and `RETRY_TIMES`. */
  readonly maxRetryTimes?: number;
  /** Over `meta.priorityAdjust` and `RETRY_PRIORITY_ADJUST`. */
  readonly priorityAdjust?: number;
  /** Seconds to wait at least, as a server asked for. At most `RETRY_AFTER_MAX`. */
  readonly retryAfter?: number;
  /** First part of the stats' names; `retry` by default. */
  readonly statsBaseKey?: string;
}
/**
 * A copy of `request` to try again, or undefined when its retries are used up. It passes the duplicate filter
 * and is not sent before its back-off is over. Yield it from a callback to retry a page that came but is no good.
 */
export declare function getRetryRequest(
  request: Request,
  options: RetryOptions,
): Request | undefined;
/** Tries again what failed for a passing reason: the statuses of `RETRY_HTTP_CODES`, the errors of `RETRY_EXCEPTIONS`. */
export declare class RetryMiddleware implements DownloaderMiddleware {
  #private;
  static fromCrawler(crawler: Crawler): RetryMiddleware;
  constructor(crawler: Crawler);
  /** The response stays what it is once its retries are used up. */
  processResponse(request: Request, response: Response): Request | Response;
  processException(request: Request, error: Error): Request | undefined;
}
//# sourceMappingURL=retry.d.ts.map
