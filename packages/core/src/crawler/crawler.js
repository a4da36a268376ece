import { resolve } from 'node:path';
import { performance } from 'node:perf_hooks';

import { baseDownloaderMiddlewares } from '../downloader/middlewares/base.js';
import { CrawlerSlots, SlotRegistry } from '../downloader/slot-registry.js';
import { Engine } from '../engine/engine.js';
import { CloseSpider, toError } from '../errors.js';
import { baseExtensions } from '../extensions/base.js';
import { FeedExport } from '../feeds/feed-export.js';
import { LogFormatter } from '../log/log-formatter.js';
import { JobFile } from '../scheduler/job.js';
import { baseSpiderMiddlewares } from '../scraper/middlewares/base.js';
import { SignalManager } from '../signals/signal-manager.js';
import { DummyStatsCollector, StatsCollector } from '../stats/stats-collector.js';
import { buildComponents, mergeComponents, resolveComponents } from './component.js';
/** One run of one spider: its settings, signals, stats, components and engine. */
export class Crawler {
  spiderClass;
  settings;
  signals;
  stats;
  log;
  root;
  slots;
  logFormatter = new LogFormatter();
  /** Requests dropped so far. */
  droppedCount = 0;
  #spider;
  #engine;
  #components;
  #extensions = [];
  #job;
  #error;
  #isStarted = false;
  #stopMode;
  constructor(spiderClass, settings, options) {
    this.spiderClass = spiderClass;
    this.settings = settings.copy();
    if (spiderClass.updateSettings) spiderClass.updateSettings(this.settings);
    this.root = options.root ?? process.cwd();
    this.log = options.log.child({ spider: spiderClass.name });
    this.signals = new SignalManager();
    this.signals.onError = (error, signal) => {
      this.log.error(`A listener of ${signal} failed: ${error.message}`, { error });
    };
    this.stats = this.settings.get('STATS_ENABLED')
      ? new StatsCollector()
      : new DummyStatsCollector();
    const registry =
      this.settings.get('SLOT_SCOPE') === 'crawler'
        ? new SlotRegistry()
        : (options.slots ?? new SlotRegistry());
    this.slots = new CrawlerSlots(registry, {
      concurrency: this.settings.get('CONCURRENT_REQUESTS_PER_DOMAIN') || Infinity,
      delay: this.settings.get('DOWNLOAD_DELAY'),
      jitter: this.settings.get('RANDOMIZE_DOWNLOAD_DELAY')
        ? this.settings.get('DOWNLOAD_DELAY_JITTER')
        : 0,
      slots: this.settings.get('DOWNLOAD_SLOTS'),
    });
  }
  /** @throws Error before the crawl has started. */
  get spider() {
    if (this.#spider === undefined) throw new Error('The spider is built when the crawl starts.');
    return this.#spider;
  }
  get engine() {
    return this.#engine;
  }
  /** The file of the job, with `JOBDIR`. */
  get job() {
    return this.#job;
  }
  get components() {
    if (this.#components === undefined)
      throw new Error('Components are known when the crawl starts.');
    return this.#components;
  }
  get extensions() {
    return this.#extensions;
  }
  getExtension(componentClass) {
    return this.#extensions.find((one) => one instanceof componentClass);
  }
  getDownloaderMiddleware(componentClass) {
    return this.#engine?.downloader.middlewares.find((one) => one instanceof componentClass);
  }
  getSpiderMiddleware(componentClass) {
    return this.#engine?.scraper.middlewares.find((one) => one instanceof componentClass);
  }
  getItemPipeline(componentClass) {
    return this.#engine?.pipelines.pipelines.find((one) => one instanceof componentClass);
  }
  /** Says why a request is not made: one stat, one signal, one debug line. */
  dropped(request, cause, message = '') {
    this.droppedCount++;
    this.stats.inc(`request_dropped_count/${cause}`);
    this.stats.inc('account/dropped');
    if (this.log.isEnabled('DEBUG')) {
      this.log.debug(`Dropped ${request.toString()}: ${cause}${message ? ` (${message})` : ''}`, {
        cause,
      });
    }
    if (this.signals.has('request_dropped'))
      this.signals.send('request_dropped', { request, cause, spider: this.spider });
  }
  /** Makes the result not ok. The first error is the one reported; log it yourself. */
  fail(error) {
    this.#error ??= error;
  }
  /** Stops the crawl; what is not done goes back to the scheduler. */
  stop(mode = 'graceful') {
    this.#stopMode = mode;
    this.#engine?.closeSpider('shutdown', mode);
  }
  /** Runs the crawl to its end. Once only. Never rejects: a spider that cannot start has a result too. */
  async crawl(args = {}) {
    if (this.#isStarted) throw new Error('A crawler runs once. Make another one.');
    this.#isStarted = true;
    const start = performance.now();
    let result;
    this.signals.send('crawl_started', { crawler: this });
    try {
      const reason = await this.#run(args);
      result = this.#result(reason);
    } catch (thrown) {
      const error = toError(thrown);
      this.#error ??= error;
      this.log.error(`Spider ${this.spiderClass.name} could not start: ${error.message}`, {
        error,
      });
      this.signals.send('crawl_failed', { crawler: this, error });
      result = this.#result('bootstrap_failed');
    } finally {
      this.slots.close();
    }
    this.log.info(
      `Spider closed (${result.reason}) after ${((performance.now() - start) / 1000).toFixed(1)} s`,
    );
    await this.signals.sendAwaited('crawl_ended', { crawler: this, result });
    return result;
  }
  async #run(args) {
    const { spiderClass, settings, signals } = this;
    const spider = spiderClass.fromCrawler
      ? spiderClass.fromCrawler(this, args)
      : new spiderClass(args);
    spider.bind(this);
    this.#spider = spider;
    await this.#openJob(spider);
    this.#components = await this.#resolve();
    this.#extensions = buildComponents(this.#components.extensions, this);
    settings.freeze();
    const engine = new Engine(this);
    this.#engine = engine;
    if (spider.closed) {
      signals.connect('spider_closed', ({ reason }) => spider.closed(reason), { phase: 'after' });
    }
    this.log.info(`Spider opened`, { settings: this.#overridden() });
    let opened = false;
    let stopped = false;
    try {
      await engine.scheduler.open(spider);
      await engine.pipelines.open();
      opened = true;
    } catch (thrown) {
      if (!(thrown instanceof CloseSpider)) {
        await engine.pipelines.close();
        await engine.scheduler.close('bootstrap_failed');
        throw thrown;
      }
      engine.closeSpider(thrown.reason);
    }
    for (const outcome of await signals.sendAwaited('spider_opened', { spider })) {
      if (outcome instanceof CloseSpider) engine.closeSpider(outcome.reason);
    }
    if (this.#stopMode !== undefined) engine.closeSpider('shutdown', this.#stopMode);
    if (opened && !engine.isClosing) {
      await signals.sendAwaited('engine_started', {});
      await engine.run();
      stopped = true;
    }
    await this.#close(engine, spider);
    if (stopped) await signals.sendAwaited('engine_stopped', {});
    return engine.reason;
  }
  async #openJob(spider) {
    const folder = this.settings.get('JOBDIR');
    if (!folder) return;
    this.#job = await JobFile.open(resolve(this.root, folder));
    Object.assign(spider.state, this.#job.get('state'));
    for (const [key, delay] of Object.entries(this.#job.get('slots') ?? {})) {
      this.slots.remember(key, delay);
    }
  }
  /** @internal Before requests are forgotten: what they led to is in the feeds, and the state is written down. */
  async saveJob() {
    await this.getExtension(FeedExport)?.flush();
    const job = this.#job;
    job.set('state', this.spider.state);
    job.set('stats', this.stats.getAll());
    const learnt = {};
    for (const slot of this.slots.entries())
      if (slot.learnt !== undefined) learnt[slot.key] = slot.learnt;
    job.set('slots', learnt);
  }
  /** Each step runs whatever became of the one before. */
  async #close(engine, spider) {
    const { reason } = engine;
    await engine.pipelines.close();
    this.stats.set('account/left', engine.scheduler.pending + engine.scheduler.leased);
    try {
      await engine.scheduler.close(reason);
    } catch (thrown) {
      this.fail(toError(thrown));
      this.log.error('The scheduler could not be closed', { error: toError(thrown) });
    }
    for (const outcome of await this.signals.sendAwaited('spider_closed', { spider, reason })) {
      if (outcome instanceof Error) this.fail(outcome);
    }
    this.#balance();
    if (this.settings.get('STATS_DUMP'))
      this.log.info('Dumping stats', { stats: this.stats.getAll() });
  }
  /** scheduled = done + failed + dropped + left, or something was lost. */
  #balance() {
    const count = (name) => Number(this.stats.get(`account/${name}`) ?? 0);
    const ended = count('done') + count('failed') + count('dropped') + count('left');
    if (this.settings.get('STATS_ENABLED') && count('scheduled') !== ended) {
      const error = new Error(
        `The account does not balance: ${count('scheduled')} requests scheduled, ${ended} accounted for.`,
      );
      this.fail(error);
      this.log.error(error.message);
    }
  }
  #result(reason) {
    const stats = this.stats.getAll();
    const done = Number(stats['account/done'] ?? 0);
    const failed = Number(stats['account/failed'] ?? 0);
    const allFailed = done === 0 && failed > 0;
    const ok = this.#error === undefined && !allFailed && reason !== 'shutdown';
    const error =
      this.#error ?? (allFailed ? new Error(`All ${failed} requests failed.`) : undefined);
    return { spider: this.spiderClass.name, reason, ok, stats, ...(error && { error }) };
  }
  async #resolve() {
    const { settings, root } = this;
    const list = async (base, own) =>
      mergeComponents(await resolveComponents(base, root), await resolveComponents(own, root));
    const DupeFilterClass = settings.get('DUPEFILTER_CLASS');
    return {
      downloaderMiddlewares: await list(
        baseDownloaderMiddlewares,
        settings.get('DOWNLOADER_MIDDLEWARES'),
      ),
      spiderMiddlewares: await list(baseSpiderMiddlewares, settings.get('SPIDER_MIDDLEWARES')),
      pipelines: await list([], settings.get('ITEM_PIPELINES')),
      extensions: await list(baseExtensions, settings.get('EXTENSIONS')),
      dupeFilter: DupeFilterClass ? new DupeFilterClass() : DupeFilterClass,
    };
  }
  #overridden() {
    return this.settings
      .names()
      .filter((name) => (this.settings.getPriority(name) ?? 0) > 0)
      .join(', ');
  }
}
//# sourceMappingURL=crawler.js.map
