import type { Crawler } from '../../crawler/crawler.ts';
import { NotConfigured } from '../../errors.ts';
import type { Request } from '../../http/request.ts';
import type { Response } from '../../http/response.ts';
import { originOf } from '../../http/url.ts';
import type { SpiderMiddleware } from '../spider-middleware.ts';
import { policyOfResponse, referrerFor, type ReferrerPolicy, toPolicy } from './referrer-policy.ts';

/**
 * Says in the Referer header where a request comes from, as far as the policy allows: `meta.referrerPolicy`,
 * the page's own `Referrer-Policy`, or `REFERRER_POLICY`. A header set by hand stays.
 */
export class RefererMiddleware implements SpiderMiddleware {
  static fromCrawler(crawler: Crawler): RefererMiddleware {
    if (!crawler.settings.get('REFERER_ENABLED')) throw new NotConfigured();
    return new RefererMiddleware(toPolicy(crawler.settings.get('REFERRER_POLICY')));
  }

  readonly #policy: ReferrerPolicy;
  /** The last answer, and the page, policy and `scheme://host/` it is for: most links of a page lead to one site. */
  #last: { page: string; policy: ReferrerPolicy; to: string; referrer: string | undefined };

  constructor(policy: ReferrerPolicy) {
    this.#policy = policy;
    this.#last = { page: '', policy, to: '\0', referrer: undefined };
  }

  getProcessedRequest(request: Request, response: Response | null): Request {
    if (response === null) return request;
    const policy = policyOfResponse(response, request.meta.referrerPolicy, this.#policy);
    const last = this.#last;
    const { url } = response;
    if (last.page !== url || last.policy !== policy || !request.url.startsWith(last.to)) {
      const to = `${originOf(request.url)}/`;
      this.#last = { page: url, policy, to, referrer: referrerFor(policy, url, request.url) };
    }
    const { referrer } = this.#last;
    if (referrer !== undefined) request.referer = referrer;
    return request;
  }
}
