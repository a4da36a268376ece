import type { Crawler } from '../../crawler/crawler.ts';
import type { Request } from '../../http/request.ts';
import type { DownloaderMiddleware } from '../middleware.ts';
/**
 * Keeps the crawl on `spider.allowedDomains` and what lies below them. It looks when a request is
 * scheduled and again when it is made, which is how redirects are caught. Requests with `dontFilter` or
 * `meta.allowOffsite` pass. The list may change while the crawl runs.
 */
export declare class OffsiteMiddleware implements DownloaderMiddleware {
  #private;
  static fromCrawler(crawler: Crawler): OffsiteMiddleware;
  constructor(crawler: Crawler);
  /** @throws IgnoreRequest for a request to another site. */
  processRequest(request: Request): undefined;
}
//# sourceMappingURL=offsite.d.ts.map
