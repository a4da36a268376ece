import { NotConfigured } from '../../errors.js';
/** Adds `USER_AGENT` to requests that name none. */
export class UserAgentMiddleware {
  static fromCrawler(crawler) {
    const userAgent = crawler.settings.get('USER_AGENT');
    if (!userAgent) throw new NotConfigured();
    return new UserAgentMiddleware(userAgent);
  }
  #userAgent;
  constructor(userAgent) {
    this.#userAgent = userAgent;
  }
  processRequest(request) {
    request.headers.setDefault('user-agent', this.#userAgent);
  }
}
//# sourceMappingURL=user-agent.js.map
