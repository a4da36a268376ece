import { SettingsError } from '../../errors.js';
import { hostOf, isUnder } from '../../http/url.js';
/**
 * Basic authentication from `HTTPAUTH_USER` and `HTTPAUTH_PASS` for `HTTPAUTH_DOMAIN` and what lies below it.
 * `meta.httpUser`, `meta.httpPass` and `meta.httpAuthDomain` say it for one request. A request that has an
 * Authorization header keeps it.
 */
export class HttpAuthMiddleware {
  /** @throws SettingsError when the credentials have no domain: they would go to every site. */
  static fromCrawler(crawler) {
    const { settings } = crawler;
    const user = settings.get('HTTPAUTH_USER');
    const pass = settings.get('HTTPAUTH_PASS');
    const domain = settings.get('HTTPAUTH_DOMAIN');
    if (!user && !pass) return new HttpAuthMiddleware();
    if (!domain) {
      throw new SettingsError(
        'HTTPAUTH_USER needs HTTPAUTH_DOMAIN: the host that may receive the credentials, for example HTTPAUTH_DOMAIN=example.com.',
      );
    }
    return new HttpAuthMiddleware(domain, basicAuth(user, pass));
  }
  #domain;
  #header;
  constructor(domain = '', header) {
    this.#domain = domain.toLowerCase();
    this.#header = header;
  }
  processRequest(request) {
    const { meta } = request;
    if (meta.httpUser !== undefined || meta.httpPass !== undefined) {
      const domain = meta.httpAuthDomain;
      // The request names its own credentials; without a domain they are for the host it goes to.
      const redirected = meta.redirectUrls?.[0];
      const own = typeof domain === 'string' ? domain : hostOf(redirected ?? request.url);
      this.#set(request, own, basicAuth(String(meta.httpUser ?? ''), String(meta.httpPass ?? '')));
    } else if (this.#header !== undefined) this.#set(request, this.#domain, this.#header);
  }
  #set(request, domain, header) {
    if (isUnder(hostOf(request.url), domain)) request.headers.setDefault('authorization', header);
  }
}
function basicAuth(user, pass) {
  return `Basic ${Buffer.from(`${user}:${pass}`).toString('base64')}`;
}
//# sourceMappingURL=http-auth.js.map
