import type { Crawler } from '../../crawler/crawler.ts';
import type { Request } from '../../http/request.ts';
import type { DownloaderMiddleware } from '../middleware.ts';
/** Adds the headers of `DEFAULT_REQUEST_HEADERS` that a request does not have. */
export declare class DefaultHeadersMiddleware implements DownloaderMiddleware {
  #private;
  static fromCrawler(crawler: Crawler): DefaultHeadersMiddleware;
  /** @param headers - Null as a value leaves the header out. */
  constructor(headers: Readonly<Record<string, string | null | undefined>>);
  processRequest(request: Request): undefined;
}
//# sourceMappingURL=default-headers.d.ts.map
