import type { Crawler } from '../../crawler/crawler.ts';
import type { Request } from '../../http/request.ts';
import type { Response } from '../../http/response.ts';
import type { DownloaderMiddleware } from '../middleware.ts';
/** Follows 301, 302, 303, 307 and 308. What may not be followed goes to the spider as it is. */
export declare class RedirectMiddleware implements DownloaderMiddleware {
  #private;
  static fromCrawler(crawler: Crawler): RedirectMiddleware;
  constructor(crawler: Crawler);
  /** @throws IgnoreRequest after `REDIRECT_MAX_TIMES`. */
  processResponse(request: Request, response: Response): Request | Response;
}
//# sourceMappingURL=redirect.d.ts.map
