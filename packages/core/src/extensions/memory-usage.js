import { NotConfigured } from '../errors.js';
const mebibyte = 1024 * 1024;
/**
 * Watches the memory of the process, which all its spiders share: what it holds now (RSS), not the most it ever held.
 * Above `MEMUSAGE_LIMIT_MB` the spider is closed with `memusage_exceeded`.
 */
export class MemoryUsage {
  static fromCrawler(crawler) {
    const { settings } = crawler;
    if (!settings.get('MEMUSAGE_ENABLED')) throw new NotConfigured();
    return new MemoryUsage(crawler, {
      interval: settings.get('MEMUSAGE_CHECK_INTERVAL_SECONDS'),
      limit: settings.get('MEMUSAGE_LIMIT_MB'),
      warning: settings.get('MEMUSAGE_WARNING_MB'),
    });
  }
  #host;
  #options;
  #rss;
  #isWarned = false;
  #isOver = false;
  constructor(host, options) {
    this.#host = host;
    this.#options = options;
    this.#rss = options.rss ?? process.memoryUsage.rss;
    let timer;
    host.signals.connect('engine_started', () => {
      host.stats.set('memusage/startup', this.#rss());
      this.#check();
      timer = setInterval(() => this.#check(), options.interval * 1000).unref();
    });
    host.signals.connect('spider_closed', () => {
      clearInterval(timer);
      if (timer) host.stats.max('memusage/max', this.#rss());
    });
  }
  #check() {
    const { stats, log, engine, signals } = this.#host;
    const { limit, warning } = this.#options;
    const bytes = this.#rss();
    const size = `${Math.round(bytes / mebibyte)} MiB`;
    stats.max('memusage/max', bytes);
    if (warning && bytes > warning * mebibyte && !this.#isWarned) {
      this.#isWarned = true;
      stats.set('memusage/warning_reached', 1);
      log.warn(`Memory has reached ${size}, more than MEMUSAGE_WARNING_MB (${warning})`);
      signals.send('memusage_warning_reached', {});
    }
    if (limit && bytes > limit * mebibyte && !this.#isOver) {
      this.#isOver = true;
      stats.set('memusage/limit_reached', 1);
      log.error(
        `Memory has reached ${size}, more than MEMUSAGE_LIMIT_MB (${limit}): closing the spider`,
      );
      engine?.closeSpider('memusage_exceeded');
    }
  }
}
//# sourceMappingURL=memory-usage.js.map
