import type { Crawler } from '../../crawler/crawler.ts';
import type { Response } from '../../http/response.ts';
import type { SpiderMiddleware } from '../spider-middleware.ts';
/**
 * Keeps responses that are not 2xx from callbacks. They pass where `HTTPERROR_ALLOW_ALL`,
 * `HTTPERROR_ALLOWED_CODES`, `spider.handleHttpstatusList`, `meta.handleHttpstatusAll` or
 * `meta.handleHttpstatusList` allow them; `meta` decides before the spider, the spider before the settings.
 */
export declare class HttpErrorMiddleware implements SpiderMiddleware {
  #private;
  static fromCrawler(crawler: Crawler): HttpErrorMiddleware;
  constructor(crawler: Crawler);
  /** @throws HttpError for a status that nobody asked for. */
  processSpiderInput(response: Response): void;
}
//# sourceMappingURL=http-error.d.ts.map
