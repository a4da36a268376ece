import type { Crawler } from '../../crawler/crawler.ts';
import type { Request } from '../../http/request.ts';
import type { SpiderMiddleware } from '../spider-middleware.ts';
/** Drops requests whose URL is longer than `URLLENGTH_LIMIT`. */
export declare class UrlLengthMiddleware implements SpiderMiddleware {
  #private;
  static fromCrawler(crawler: Crawler): UrlLengthMiddleware;
  constructor(crawler: Crawler, limit: number);
  getProcessedRequest(request: Request): Request | null;
}
//# sourceMappingURL=url-length.d.ts.map
