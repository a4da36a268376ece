import type { Crawler } from '../../crawler/crawler.ts';
import { SettingsError } from '../../errors.ts';
import type { Request } from '../../http/request.ts';
import { hostOf, isUnder } from '../../http/url.ts';
import type { DownloaderMiddleware } from '../middleware.ts';

/**
 * Basic authentication from `HTTPAUTH_USER` and `HTTPAUTH_PASS` for `HTTPAUTH_DOMAIN` and what lies below it.
 * `meta.httpUser`, `meta.httpPass` and `meta.httpAuthDomain` say it for one request. A request that has an
 * Authorization header keeps it.
 */
export class HttpAuthMiddleware implements DownloaderMiddleware {
  /** @throws SettingsError when the credentials have no domain: they would go to every site. */
  static fromCrawler(crawler: Crawler): HttpAuthMiddleware {
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

  readonly #domain: string;
  readonly #header: string | undefined;

  constructor(domain = '', header?: string) {
    this.#domain = domain.toLowerCase();
    this.#header = header;
  }

  processRequest(request: Request): undefined {
    const { meta } = request;
    if (meta.httpUser !== undefined || meta.httpPass !== undefined) {
      const domain = meta.httpAuthDomain;
      // The request names its own credentials; without a domain they are for the host it goes to.
      const redirected = meta.redirectUrls?.[0];
      const own = typeof domain === 'string' ? domain : hostOf(redirected ?? request.url);
      this.#set(request, own, basicAuth(meta.httpUser ?? '', meta.httpPass ?? ''));
    } else if (this.#header !== undefined) this.#set(request, this.#domain, this.#header);
  }

  #set(request: Request, domain: string, header: string): void {
    if (isUnder(hostOf(request.url), domain)) request.headers.setDefault('authorization', header);
  }
}

function basicAuth(user: string, pass: string): string {
  return `Basic ${Buffer.from(`${user}:${pass}`).toString('base64')}`;
}
