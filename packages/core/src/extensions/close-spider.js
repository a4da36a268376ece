import { NotConfigured } from '../errors.js';
/** A timer set for longer fires at once. */
const maxTimerMs = 2 ** 31 - 1;
/** Closes the spider when one of the `CLOSESPIDER_…` limits is reached. */
export class CloseSpider {
  static fromCrawler(crawler) {
    const { settings } = crawler;
    const limits = {
      items: settings.get('CLOSESPIDER_ITEMCOUNT'),
      pages: settings.get('CLOSESPIDER_PAGECOUNT'),
      pagesWithoutItem: settings.get('CLOSESPIDER_PAGECOUNT_NO_ITEM'),
      errors: settings.get('CLOSESPIDER_ERRORCOUNT'),
      timeout: settings.get('CLOSESPIDER_TIMEOUT'),
      timeoutWithoutItem: settings.get('CLOSESPIDER_TIMEOUT_NO_ITEM'),
    };
    if (!Object.values(limits).some(Boolean)) throw new NotConfigured();
    return new CloseSpider(crawler, limits);
  }
  #host;
  constructor(host, limits) {
    this.#host = host;
    host.signals.connect('spider_opened', () => {
      if (!host.engine) return;
      if (limits.items) host.engine.limits.items = limits.items;
      if (limits.pages) host.engine.limits.pages = limits.pages;
    });
    if (limits.items) this.#closeAfterItems(limits.items);
    if (limits.pages) this.#closeAfterPages(limits.pages);
    if (limits.pagesWithoutItem) this.#closeAfterPagesWithoutItem(limits.pagesWithoutItem);
    if (limits.errors) this.#closeAfterErrors(limits.errors);
    if (limits.timeout) this.#closeAfterTimeout(limits.timeout);
    if (limits.timeoutWithoutItem) this.#closeAfterTimeWithoutItem(limits.timeoutWithoutItem);
  }
  #closeAfterItems(limit) {
    let items = 0;
    this.#host.signals.connect('item_scraped', () => {
      // Fast: no item may follow, so nothing under way is worth waiting for.
      if (++items === limit) this.#host.engine?.closeSpider('closespider_itemcount', 'fast');
    });
  }
  #closeAfterPages(limit) {
    let pages = 0;
    this.#host.signals.connect('response_received', () => {
      // Not fast: the engine fetches no page beyond the limit, and this one is still to be scraped.
      if (++pages === limit) this.#host.engine?.closeSpider('closespider_pagecount');
    });
  }
  #closeAfterPagesWithoutItem(limit) {
    let pages = 0;
    this.#host.signals.connect('item_scraped', () => {
      pages = 0;
    });
    this.#host.signals.connect('response_received', () => {
      if (++pages === limit) this.#host.engine?.closeSpider('closespider_pagecount_no_item');
    });
  }
  #closeAfterErrors(limit) {
    let errors = 0;
    this.#host.signals.connect('spider_error', () => {
      if (++errors === limit) this.#host.engine?.closeSpider('closespider_errorcount');
    });
  }
  #closeAfterTimeout(seconds) {
    let timer;
    this.#host.signals.connect('spider_opened', () => {
      timer = setTimeout(
        () => this.#host.engine?.closeSpider('closespider_timeout'),
        Math.min(seconds * 1000, maxTimerMs),
      );
    });
    this.#host.signals.connect('spider_closed', () => clearTimeout(timer));
  }
  #closeAfterTimeWithoutItem(seconds) {
    let timer;
    this.#host.signals.connect('item_scraped', () => {
      timer?.refresh();
    });
    this.#host.signals.connect('spider_opened', () => {
      timer = setTimeout(
        () => this.#host.engine?.closeSpider('closespider_timeout_no_item'),
        Math.min(seconds * 1000, maxTimerMs),
      );
    });
    this.#host.signals.connect('spider_closed', () => clearTimeout(timer));
  }
}
//# sourceMappingURL=close-spider.js.map
