import { NotConfigured } from '../../errors.js';
import { policyOfResponse, referrerFor, toPolicy } from './referrer-policy.js';
/**
 * Says in the Referer header where a request comes from, as far as the policy allows: `meta.referrerPolicy`,
 * the page's own `Referrer-Policy`, or `REFERRER_POLICY`. A header set by hand stays.
 */
export class RefererMiddleware {
  static fromCrawler(crawler) {
    if (!crawler.settings.get('REFERER_ENABLED')) throw new NotConfigured();
    return new RefererMiddleware(toPolicy(crawler.settings.get('REFERRER_POLICY')));
  }
  #policy;
  constructor(policy) {
    this.#policy = policy;
  }
  getProcessedRequest(request, response) {
    if (response === null) return request;
    const policy = policyOfResponse(response, request.meta.referrerPolicy, this.#policy);
    const referrer = referrerFor(policy, response.url, request.url);
    if (referrer !== undefined) request.headers.setDefault('referer', referrer);
    return request;
  }
}
//# sourceMappingURL=referer.js.map
