import type { Crawler } from '../../crawler/crawler.ts';
import { Request } from '../../http/request.ts';
import type { DownloaderMiddleware } from '../middleware.ts';
/**
 * Obeys robots.txt. One fetch an origin; requests that come meanwhile wait for it. A file that cannot be had
 * with a 4xx allows everything, a 5xx or a broken connection nothing until it can be read (RFC 9309 §2.3.1).
 * `meta.dontObeyRobotstxt` lets a request pass.
 */
export declare class RobotsTxtMiddleware implements DownloaderMiddleware {
  #private;
  static fromCrawler(crawler: Crawler): RobotsTxtMiddleware;
  constructor(crawler: Crawler);
  /** @throws IgnoreRequest when robots.txt forbids it. */
  processRequest(request: Request): undefined | Promise<undefined>;
}
//# sourceMappingURL=robots-txt.d.ts.map
