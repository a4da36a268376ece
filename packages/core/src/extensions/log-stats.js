import { NotConfigured } from '../errors.js';
/** Logs one line of progress every `LOGSTATS_INTERVAL` seconds, and leaves the mean rates in the stats. */
export class LogStats {
  static fromCrawler(crawler) {
    const interval = crawler.settings.get('LOGSTATS_INTERVAL');
    if (!interval) throw new NotConfigured();
    return new LogStats(crawler, interval);
  }
  #crawler;
  #pages = 0;
  #items = 0;
  #lastPages = 0;
  #lastItems = 0;
  #openedAt = 0;
  #lastAt = 0;
  #timer;
  /** @param interval - Seconds between two lines. */
  constructor(crawler, interval) {
    this.#crawler = crawler;
    const { signals } = crawler;
    signals.connect('response_received', () => {
      this.#pages++;
    });
    signals.connect('item_scraped', () => {
      this.#items++;
    });
    signals.connect('spider_opened', () => {
      this.#openedAt = this.#lastAt = performance.now();
      this.#timer = setInterval(() => this.#log(), interval * 1000).unref();
    });
    signals.connect('spider_closed', () => {
      clearInterval(this.#timer);
      this.#close();
    });
  }
  #log() {
    const now = performance.now();
    const minutes = (now - this.#lastAt) / 60_000;
    const pageRate = Math.round((this.#pages - this.#lastPages) / minutes);
    const itemRate = Math.round((this.#items - this.#lastItems) / minutes);
    this.#lastAt = now;
    this.#lastPages = this.#pages;
    this.#lastItems = this.#items;
    this.#crawler.log.info(
      `Crawled ${this.#pages} pages (at ${pageRate} pages/min), scraped ${this.#items} items (at ${itemRate} items/min)`,
    );
  }
  /** The mean over the crawl; null below a second, which is too short for a rate. */
  #close() {
    const minutes = (performance.now() - this.#openedAt) / 60_000;
    const rate = (count) => (minutes < 1 / 60 ? null : count / minutes);
    this.#crawler.stats.set('responses_per_minute', rate(this.#pages));
    this.#crawler.stats.set('items_per_minute', rate(this.#items));
  }
}
//# sourceMappingURL=log-stats.js.map
