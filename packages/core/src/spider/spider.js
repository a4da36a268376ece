import { Request } from '../http/request.js';
/**
 * What users extend: where a crawl starts, and what is read from its pages.
 *
 * @typeParam Item - What its callbacks yield beside requests.
 */
export class Spider {
  /** The word typed after `crawl`. Every spider has its own. */
  static name = 'spider';
  /** Settings of this spider; they stand above the project's and below the command line's. */
  static customSettings;
  /** Builds the spider of a crawl. Override it to read settings or to connect signals. */
  static fromCrawler(crawler, args) {
    const spider = new this(args);
    spider.bind(crawler);
    return spider;
  }
  /** Adds `customSettings`. Override it to decide at run time. */
  static updateSettings(settings) {
    if (this.customSettings) settings.update(this.customSettings, 'spider');
  }
  name = this.constructor.name;
  /** Where the crawl starts, unless `start()` is overridden. */
  startUrls = [];
  /** Hosts to stay on, with everything below them; all hosts if absent. */
  allowedDomains;
  /** Statuses beside 2xx that callbacks want to see. */
  handleHttpstatusList;
  args;
  /** Kept between runs of one job. JSON. */
  state = {};
  #crawler;
  constructor(args = {}) {
    this.args = args;
  }
  /** Set when the crawl is built; not yet in the constructor. */
  get crawler() {
    if (this.#crawler === undefined) {
      throw new Error(
        `The crawler of spider ${this.name} is not set in its constructor. Use it in start() or later, or in fromCrawler().`,
      );
    }
    return this.#crawler;
  }
  get settings() {
    return this.crawler.settings;
  }
  get log() {
    return this.crawler.log;
  }
  /** @internal */
  bind(crawler) {
    this.#crawler ??= crawler;
  }
  /** The first requests; items are welcome too. Taken as the crawl has room for them. */
  start() {
    return this.startUrls.map((url) => new Request(url, { dontFilter: true }));
  }
  /** Reads a page: yields items and requests. The callback of requests that name none. */
  parse(response, ..._args) {
    throw new Error(
      `Spider ${this.name} has no parse() method and ${response.url} names no callback. Write parse(response), or give the request a callback.`,
    );
  }
}
//# sourceMappingURL=spider.js.map
