/** Counts responses and items, and notes when the crawl began, when it ended, and why. */
export class CoreStats {
  static fromCrawler(crawler) {
    return new CoreStats(crawler);
  }
  constructor({ signals, stats }) {
    let openedAt = performance.now();
    signals.connect('spider_opened', () => {
      openedAt = performance.now();
      stats.set('start_time', new Date());
    });
    signals.connect('spider_closed', ({ reason }) => {
      stats.set('finish_time', new Date());
      // Not the difference of the two times: the wall clock may be set meanwhile.
      stats.set('elapsed_time_seconds', (performance.now() - openedAt) / 1000);
      stats.set('finish_reason', reason);
    });
    signals.connect('response_received', () => {
      stats.inc('response_received_count');
    });
    signals.connect('item_scraped', () => {
      stats.inc('item_scraped_count');
    });
    signals.connect('item_dropped', ({ exception }) => {
      stats.inc('item_dropped_count');
      stats.inc(`item_dropped_reasons_count/${exception.name}`);
    });
  }
}
//# sourceMappingURL=core-stats.js.map
