import type { Crawler } from '../crawler/crawler.ts';
import type { Engine } from '../engine/engine.ts';
import { NotConfigured } from '../errors.ts';
import type { Extension } from './extension.ts';

/** When to close a spider. 0 or absent: never. */
export interface CloseSpiderLimits {
  /** Items that passed the pipelines. Exact: not one more passes. */
  readonly items?: number;
  /** Responses. Exact: not one more is fetched, and all of these are scraped. */
  readonly pages?: number;
  /** Responses one after the other without an item between them. */
  readonly pagesWithoutItem?: number;
  /** Errors in spider code. */
  readonly errors?: number;
  /** Seconds since the spider was opened. */
  readonly timeout?: number;
  /** A span of this many seconds without an item. */
  readonly timeoutWithoutItem?: number;
}

/** What closing needs of a crawler. */
export interface CloseSpiderHost {
  readonly signals: Crawler['signals'];
  readonly engine: Pick<Engine, 'limits' | 'closeSpider'> | undefined;
}

/** A timer set for longer fires at once. */
const maxTimerMs = 2 ** 31 - 1;

/** Closes the spider when one of the `CLOSESPIDER_…` limits is reached. */
export class CloseSpider implements Extension {
  static fromCrawler(crawler: Crawler): CloseSpider {
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

  readonly #host: CloseSpiderHost;

  constructor(host: CloseSpiderHost, limits: CloseSpiderLimits) {
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

  #closeAfterItems(limit: number): void {
    let items = 0;
    this.#host.signals.connect('item_scraped', () => {
      // Fast: no item may follow, so nothing under way is worth waiting for.
      if (++items === limit) this.#host.engine?.closeSpider('closespider_itemcount', 'fast');
    });
  }

  #closeAfterPages(limit: number): void {
    let pages = 0;
    this.#host.signals.connect('response_received', () => {
      // Not fast: the engine fetches no page beyond the limit, and this one is still to be scraped.
      if (++pages === limit) this.#host.engine?.closeSpider('closespider_pagecount');
    });
  }

  #closeAfterPagesWithoutItem(limit: number): void {
    let pages = 0;
    this.#host.signals.connect('item_scraped', () => {
      pages = 0;
    });
    this.#host.signals.connect('response_received', () => {
      if (++pages === limit) this.#host.engine?.closeSpider('closespider_pagecount_no_item');
    });
  }

  #closeAfterErrors(limit: number): void {
    let errors = 0;
    this.#host.signals.connect('spider_error', () => {
      if (++errors === limit) this.#host.engine?.closeSpider('closespider_errorcount');
    });
  }

  #closeAfterTimeout(seconds: number): void {
    let timer: NodeJS.Timeout | undefined;
    this.#host.signals.connect('spider_opened', () => {
      timer = setTimeout(
        () => this.#host.engine?.closeSpider('closespider_timeout'),
        Math.min(seconds * 1000, maxTimerMs),
      );
    });
    this.#host.signals.connect('spider_closed', () => clearTimeout(timer));
  }

  #closeAfterTimeWithoutItem(seconds: number): void {
    let timer: NodeJS.Timeout | undefined;
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
