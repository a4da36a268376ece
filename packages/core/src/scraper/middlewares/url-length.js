import { NotConfigured } from '../../errors.js';
/** Drops requests whose URL is longer than `URLLENGTH_LIMIT`. */
export class UrlLengthMiddleware {
  static fromCrawler(crawler) {
    const limit = crawler.settings.get('URLLENGTH_LIMIT');
    if (!limit) throw new NotConfigured();
    return new UrlLengthMiddleware(crawler, limit);
  }
  #crawler;
  #limit;
  constructor(crawler, limit) {
    this.#crawler = crawler;
    this.#limit = limit;
  }
  getProcessedRequest(request) {
    const { length } = request.url;
    if (length <= this.#limit) return request;
    this.#crawler.stats.inc('urllength/request_ignored_count');
    this.#crawler.log.info(
      `Ignoring link (URL length ${length} > ${this.#limit}, URLLENGTH_LIMIT): ${request.url.slice(0, 200)}…`,
    );
    this.#crawler.dropped(request, 'url-length');
    return null;
  }
}
//# sourceMappingURL=url-length.js.map
