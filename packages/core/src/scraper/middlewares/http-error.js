import { HttpError } from '../../errors.js';
/**
 * Keeps responses that are not 2xx from callbacks. They pass where `HTTPERROR_ALLOW_ALL`,
 * `HTTPERROR_ALLOWED_CODES`, `spider.handleHttpstatusList`, `meta.handleHttpstatusAll` or
 * `meta.handleHttpstatusList` allow them; `meta` decides before the spider, the spider before the settings.
 */
export class HttpErrorMiddleware {
  static fromCrawler(crawler) {
    return new HttpErrorMiddleware(crawler);
  }
  #crawler;
  #allowsAll;
  #allowed;
  constructor(crawler) {
    this.#crawler = crawler;
    this.#allowsAll = crawler.settings.get('HTTPERROR_ALLOW_ALL');
    this.#allowed = crawler.settings.get('HTTPERROR_ALLOWED_CODES');
  }
  /** @throws HttpError for a status that nobody asked for. */
  processSpiderInput(response) {
    const { status } = response;
    if ((status >= 200 && status < 300) || this.#isAllowed(status, response)) return;
    const { stats, log } = this.#crawler;
    stats.inc('httperror/response_ignored_count');
    stats.inc(`httperror/response_ignored_status_count/${status}`);
    const error = new HttpError(response);
    log.info(`Ignoring response ${response.toString()}: its status is not handled or not allowed`);
    throw error;
  }
  #isAllowed(status, response) {
    const meta = response.request?.meta;
    if (meta?.handleHttpstatusAll) return true;
    if (meta?.handleHttpstatusList) return meta.handleHttpstatusList.includes(status);
    if (this.#allowsAll) return true;
    const allowed = this.#crawler.spider.handleHttpstatusList ?? this.#allowed;
    return allowed.includes(status);
  }
}
//# sourceMappingURL=http-error.js.map
