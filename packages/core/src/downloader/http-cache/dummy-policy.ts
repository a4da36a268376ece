import type { Request } from '../../http/request.ts';
import type { Response } from '../../http/response.ts';
import type { Settings } from '../../settings/settings.ts';
import type { HttpCachePolicy } from './policy.ts';

/** Caches everything and never asks again: for work on a spider, when the same pages are wanted time and again. */
export class DummyPolicy implements HttpCachePolicy {
  readonly #ignoredSchemes: readonly string[];
  readonly #ignoredStatuses: readonly number[];

  constructor(settings: Settings) {
    this.#ignoredSchemes = settings.get('HTTPCACHE_IGNORE_SCHEMES');
    this.#ignoredStatuses = settings.get('HTTPCACHE_IGNORE_HTTP_CODES').map(Number);
  }

  shouldCacheRequest(request: Request): boolean {
    return !this.#ignoredSchemes.includes(request.url.slice(0, request.url.indexOf(':')));
  }

  /** A part of a page and "not modified" would be taken for the page. */
  shouldCacheResponse({ status }: Response): boolean {
    return status !== 206 && status !== 304 && !this.#ignoredStatuses.includes(status);
  }

  isCachedResponseFresh(): boolean {
    return true;
  }

  isCachedResponseValid(): boolean {
    return true;
  }
}
