import type { Crawler } from '../../crawler/crawler.ts';
import { Headers } from '../../http/headers.ts';
import type { Request } from '../../http/request.ts';
import type { Response } from '../../http/response.ts';
import type { DownloaderMiddleware } from '../middleware.ts';
/**
 * A copy of the headers without what a jar added, for a request that follows this one: the jar may have
 * changed by then. Undefined if there are none.
 */
export declare function ownHeaders(request: Request): Headers | undefined;
/**
 * Keeps the cookies that sites set and sends them back. One jar for all requests, or one for each
 * `meta.cookiejar`; `meta.dontMergeCookies` leaves a request and its response alone.
 */
export declare class CookiesMiddleware implements DownloaderMiddleware {
  #private;
  static fromCrawler(crawler: Crawler): CookiesMiddleware;
  constructor(crawler: Crawler);
  processRequest(request: Request): undefined;
  processResponse(request: Request, response: Response): Response;
  /** The Cookie header that a request to `url` would get from a jar; empty if none. */
  cookieHeader(url: string, cookiejar?: string | number): string;
}
//# sourceMappingURL=cookies.d.ts.map
