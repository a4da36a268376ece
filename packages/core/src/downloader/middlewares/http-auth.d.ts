import type { Crawler } from '../../crawler/crawler.ts';
import type { Request } from '../../http/request.ts';
import type { DownloaderMiddleware } from '../middleware.ts';
/**
 * Basic authentication from `HTTPAUTH_USER` and `HTTPAUTH_PASS` for `HTTPAUTH_DOMAIN` and what lies below it.
 * `meta.httpUser`, `meta.httpPass` and `meta.httpAuthDomain` say it for one request. A request that has an
 * Authorization header keeps it.
 */
export declare class HttpAuthMiddleware implements DownloaderMiddleware {
  #private;
  /** @throws SettingsError when the credentials have no domain: they would go to every site. */
  static fromCrawler(crawler: Crawler): HttpAuthMiddleware;
  constructor(domain?: string, header?: string);
  processRequest(request: Request): undefined;
}
//# sourceMappingURL=http-auth.d.ts.map
