/** Counts this crawl's log records by level: those that `LOG_LEVEL` admits, and no other crawl's. */
export class LogCount {
  static fromCrawler(crawler) {
    return new LogCount(crawler);
  }
  constructor({ log, stats }) {
    const before = log.onRecord;
    log.onRecord = (level) => {
      before?.(level);
      stats.inc(`log_count/${level}`);
    };
  }
}
//# sourceMappingURL=log-count.js.map
