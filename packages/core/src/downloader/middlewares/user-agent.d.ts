import type { Crawler } from '../../crawler/crawler.ts';
import type { Request } from '../../http/request.ts';
import type { DownloaderMiddleware } from '../middleware.ts';
/** Adds `USER_AGENT` to requests that name none. */
export declare class UserAgentMiddleware implements DownloaderMiddleware {
  #private;
  static fromCrawler(crawler: Crawler): UserAgentMiddleware;
  constructor(userAgent: string);
  processRequest(request: Request): undefined;
}
//# sourceMappingURL=user-agent.d.ts.map
