import type { Crawler } from '../../crawler/crawler.ts';
import type { Request } from '../../http/request.ts';
import type { Response } from '../../http/response.ts';
import type { SpiderMiddleware } from '../spider-middleware.ts';
import { type ReferrerPolicy } from './referrer-policy.ts';
/**
 * Says in the Referer header where a request comes from, as far as the policy allows: `meta.referrerPolicy`,
 * the page's own `Referrer-Policy`, or `REFERRER_POLICY`. A header set by hand stays.
 */
export declare class RefererMiddleware implements SpiderMiddleware {
  #private;
  static fromCrawler(crawler: Crawler): RefererMiddleware;
  constructor(policy: ReferrerPolicy);
  getProcessedRequest(request: Request, response: Response | null): Request;
}
//# sourceMappingURL=referer.d.ts.map
