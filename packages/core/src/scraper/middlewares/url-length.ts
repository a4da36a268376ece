import type { Crawler } from '../../crawler/crawler.ts';
import { NotConfigured } from '../../errors.ts';
import type { Request } from '../../http/request.ts';
import type { SpiderMiddleware } from '../spider-middleware.ts';

/** Drops requests whose URL is longer than `URLLENGTH_LIMIT`. */
export class UrlLengthMiddleware implements SpiderMiddleware {
  static fromCrawler(crawler: Crawler): UrlLengthMiddleware {
    const limit = crawler.settings.get('URLLENGTH_LIMIT');
    if (!limit) throw new NotConfigured();
    return new UrlLengthMiddleware(crawler, limit);
  }

  readonly #crawler: Crawler;
  readonly #limit: number;

  constructor(crawler: Crawler, limit: number) {
    this.#crawler = crawler;
    this.#limit = limit;
  }

  getProcessedRequest(request: Request): Request | null {
    const { length } = request.url;
    if (length <= this.#limit) return request;
    this.#crawler.stats.inc('urllength/request_ignored_count');
    this.#crawler.stats.inc('security/blocked/URLLENGTH_LIMIT');
    this.#crawler.log.info(
      `Ignoring link (URL length ${length} > ${this.#limit}, URLLENGTH_LIMIT): ${request.url.slice(0, 200)}…`,
    );
    this.#crawler.dropped(request, 'url-length');
    return null;
  }
}
