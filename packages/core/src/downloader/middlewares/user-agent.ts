import type { Crawler } from '../../crawler/crawler.ts';
import { NotConfigured } from '../../errors.ts';
import type { Request } from '../../http/request.ts';
import type { DownloaderMiddleware } from '../middleware.ts';

/** Adds `USER_AGENT` to requests that name none. */
export class UserAgentMiddleware implements DownloaderMiddleware {
  static fromCrawler(crawler: Crawler): UserAgentMiddleware {
    const userAgent = crawler.settings.get('USER_AGENT');
    if (!userAgent) throw new NotConfigured();
    return new UserAgentMiddleware(userAgent);
  }

  readonly #userAgent: string;

  constructor(userAgent: string) {
    this.#userAgent = userAgent;
  }

  processRequest(request: Request): undefined {
    request.headers.setDefault('user-agent', this.#userAgent);
  }
}
