import type { Crawler } from '../../crawler/crawler.ts';
import { NotConfigured } from '../../errors.ts';
import type { Request } from '../../http/request.ts';
import { HtmlResponse } from '../../http/response-types.ts';
import type { Response } from '../../http/response.ts';
import type { SpiderMiddleware } from '../spider-middleware.ts';

/** Drops the requests of one HTML page beyond `LINKS_PER_PAGE_LIMIT`. Sitemaps and data are no pages of links. */
export class LinksPerPageMiddleware implements SpiderMiddleware {
  static fromCrawler(crawler: Crawler): LinksPerPageMiddleware {
    const limit = crawler.settings.get('LINKS_PER_PAGE_LIMIT');
    if (!limit) throw new NotConfigured();
    return new LinksPerPageMiddleware(crawler, limit);
  }

  readonly #crawler: Crawler;
  readonly #limit: number;
  /** Most pages yield all of theirs in one go: only the others are looked up. */
  #page: WeakRef<Response> | undefined;
  #count = 0;
  readonly #counts = new WeakMap<Response, number>();
  #hasTold = false;

  constructor(crawler: Crawler, limit: number) {
    this.#crawler = crawler;
    this.#limit = limit;
  }

  getProcessedRequest(request: Request, response: Response | null): Request | null {
    if (!(response instanceof HtmlResponse)) return request;
    if (this.#page?.deref() !== response) this.#turnTo(response);
    if (++this.#count <= this.#limit) return request;
    const { stats, log } = this.#crawler;
    stats.inc('security/blocked/LINKS_PER_PAGE_LIMIT');
    if (!this.#hasTold) {
      this.#hasTold = true;
      log.warn(
        `${response.toString()} led to more than ${this.#limit} requests (LINKS_PER_PAGE_LIMIT): those beyond are dropped. Further pages are counted only.`,
      );
    }
    this.#crawler.dropped(request, 'links-per-page');
    return null;
  }

  #turnTo(response: Response): void {
    const last = this.#page?.deref();
    if (last !== undefined) this.#counts.set(last, this.#count);
    this.#count = this.#counts.get(response) ?? 0;
    this.#page = new WeakRef(response);
  }
}
