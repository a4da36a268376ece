import { resolve } from 'node:path';
import { performance } from 'node:perf_hooks';

import type { DownloaderClass } from '../downloader/downloader.ts';
import type { DownloaderMiddleware } from '../downloader/middleware.ts';
import { baseDownloaderMiddlewares } from '../downloader/middlewares/base.ts';
import { CookiesMiddleware } from '../downloader/middlewares/cookies.ts';
import type { RobotsParserClass } from '../downloader/robots-parser.ts';
import { CrawlerSlots, SlotRegistry } from '../downloader/slot-registry.ts';
import { Engine, type StopMode } from '../engine/engine.ts';
import { CloseSpider, SettingsError, toError } from '../errors.ts';
import { baseExtensions } from '../extensions/base.ts';
import type { Extension } from '../extensions/extension.ts';
import { FeedExport } from '../feeds/feed-export.ts';
import { type Fingerprinter, RequestFingerprints } from '../http/request-fingerprints.ts';
import type { Request } from '../http/request.ts';
import { LogFormatter } from '../log/log-formatter.ts';
import type { Logger } from '../log/logger.ts';
import type { ItemPipeline } from '../pipeline/item-pipeline.ts';
import type { DupeFilter } from '../scheduler/dupe-filter.ts';
import { JobFile } from '../scheduler/job.ts';
import type { SchedulerClass } from '../scheduler/scheduler.ts';
import { baseSpiderMiddlewares } from '../scraper/middlewares/base.ts';
import type { SpiderMiddleware } from '../scraper/spider-middleware.ts';
import type { Settings } from '../settings/settings.ts';
import { SignalManager } from '../signals/signal-manager.ts';
import type { Spider, SpiderArgs, SpiderClass } from '../spider/spider.ts';
import { DummyStatsCollector, StatsCollector, type StatValue } from '../stats/stats-collector.ts';
import {
  buildComponent,
  buildComponents,
  type ComponentClass,
  type ComponentPriorities,
  mergeComponents,
  resolveClass,
  resolveComponents,
} from './component.ts';

/** How a crawl ended. */
export interface CrawlResult {
  readonly spider: string;
  /** `finished`, `shutdown`, `start_error`, `closespider_…`, `bootstrap_failed`, or what closed it. */
  readonly reason: string;
  /** False if it could not start, was interrupted, or lost something: all requests failed, a feed was not stored. */
  readonly ok: boolean;
  readonly stats: Readonly<Record<string, StatValue>>;
  readonly error?: Error;
}

type Resolved<T> = readonly (readonly [ComponentClass<T>, number])[];

/** The component classes of a crawl, in their order. */
export interface CrawlerComponents {
  readonly downloaderMiddlewares: Resolved<DownloaderMiddleware>;
  readonly spiderMiddlewares: Resolved<SpiderMiddleware>;
  readonly pipelines: Resolved<ItemPipeline>;
  readonly extensions: Resolved<Extension>;
  /** Null switches duplicates off; undefined is the default filter. */
  readonly dupeFilter: ComponentClass<DupeFilter> | null | undefined;
  /** Undefined is in memory, or in the file of a job. */
  readonly scheduler: SchedulerClass | undefined;
  readonly fingerprinter: ComponentClass<Fingerprinter> | undefined;
  readonly downloader: DownloaderClass | undefined;
  readonly robotsParser: RobotsParserClass | undefined;
}

/** Which run of which job of a fleet a crawl is. */
export interface CrawlRun {
  /** The name of the job; `%(job)s` in the URI of a feed. */
  readonly job: string;
  /** Counts the runs of the job, from 1 on; `%(attempt)d` in the URI of a feed. */
  readonly attempt: number;
  /** Whether it is still the latest run of its job. If not, it must put no feed in place. */
  mayStore(): Promise<boolean>;
  /** Whether the job begins anew where a run ends for this reason. Its feeds stay parts then, for nobody to take for whole. */
  beginsAnew?(reason: string): boolean;
}

export interface CrawlerOptions {
  readonly log: Logger;
  /** Shared by the crawlers of a process. */
  readonly slots?: SlotRegistry;
  /** Folder that component paths and feeds are seen from. */
  readonly root?: string;
  readonly run?: CrawlRun;
}

/** One run of one spider: its settings, signals, stats, components and engine. */
export class Crawler {
  readonly spiderClass: SpiderClass;
  readonly settings: Settings;
  readonly signals: SignalManager;
  /** Of `STATS_CLASS`, from the start of the crawl on. */
  stats: StatsCollector;
  readonly log: Logger;
  readonly root: string;
  /** Set in a fleet. */
  readonly run: CrawlRun | undefined;
  readonly slots: CrawlerSlots;
  logFormatter: LogFormatter = new LogFormatter();
  /** By what requests are known. */
  fingerprints: RequestFingerprints = new RequestFingerprints();
  /** Hosts that `start()` has named. */
  readonly startHosts: Set<string> = new Set();
  /** Requests dropped so far. */
  droppedCount = 0;
  #spider: Spider | undefined;
  #engine: Engine | undefined;
  #components: CrawlerComponents | undefined;
  #extensions: readonly Extension[] = [];
  #job: JobFile | undefined;
  #error: Error | undefined;
  #isStarted = false;
  #hasShownDuplicate = false;
  #stopMode: StopMode | undefined;

  constructor(spiderClass: SpiderClass, settings: Settings, options: CrawlerOptions) {
    this.spiderClass = spiderClass;
    this.settings = settings.copy();
    if (spiderClass.updateSettings) spiderClass.updateSettings(this.settings);
    this.root = options.root ?? process.cwd();
    this.run = options.run;
    this.log = options.log.child({ spider: spiderClass.name });
    this.signals = new SignalManager();
    this.signals.onError = (error, signal) => {
      this.log.error(`A listener of ${signal} failed: ${error.message}`, { error });
    };
    this.stats = this.settings.get('STATS_ENABLED')
      ? new StatsCollector()
      : new DummyStatsCollector();
    const shared = options.slots ?? new SlotRegistry();
    const registry =
      this.settings.get('SLOT_SCOPE') === 'crawler' ? shared.apart(spiderClass.name) : shared;
    const perIp = this.settings.get('CONCURRENT_REQUESTS_PER_IP');
    this.slots = new CrawlerSlots(registry, {
      concurrency: perIp || this.settings.get('CONCURRENT_REQUESTS_PER_DOMAIN') || Infinity,
      byAddress: perIp > 0,
      delay: this.settings.get('DOWNLOAD_DELAY'),
      jitter: this.settings.get('RANDOMIZE_DOWNLOAD_DELAY')
        ? this.settings.get('DOWNLOAD_DELAY_JITTER')
        : 0,
      slots: this.settings.get('DOWNLOAD_SLOTS'),
    });
  }

  /** @throws Error before the crawl has started. */
  get spider(): Spider {
    if (this.#spider === undefined) throw new Error('The spider is built when the crawl starts.');
    return this.#spider;
  }

  get engine(): Engine | undefined {
    return this.#engine;
  }

  /** The file of the job, with `JOBDIR`. */
  get job(): JobFile | undefined {
    return this.#job;
  }

  get components(): CrawlerComponents {
    if (this.#components === undefined)
      throw new Error('Components are known when the crawl starts.');
    return this.#components;
  }

  get extensions(): readonly Extension[] {
    return this.#extensions;
  }

  getExtension<T extends Extension>(componentClass: new (...args: never[]) => T): T | undefined {
    return this.#extensions.find((one): one is T => one instanceof componentClass);
  }

  getDownloaderMiddleware<T extends DownloaderMiddleware>(
    componentClass: new (...args: never[]) => T,
  ): T | undefined {
    return this.#engine?.downloader.middlewares.find(
      (one): one is T => one instanceof componentClass,
    );
  }

  getSpiderMiddleware<T extends SpiderMiddleware>(
    componentClass: new (...args: never[]) => T,
  ): T | undefined {
    return this.#engine?.scraper.middlewares.find((one): one is T => one instanceof componentClass);
  }

  getItemPipeline<T extends ItemPipeline>(
    componentClass: new (...args: never[]) => T,
  ): T | undefined {
    return this.#engine?.pipelines.pipelines.find((one): one is T => one instanceof componentClass);
  }

  /** Says why a request is not made: one stat, one signal, one debug line. */
  dropped(request: Request, cause: string, message = ''): void {
    this.droppedCount++;
    // Most links of a crawl are duplicates: that name is not put together anew.
    if (cause === 'duplicate') this.stats.inc('request_dropped_count/duplicate');
    else this.stats.inc(`request_dropped_count/${cause}`);
    this.stats.inc('account/dropped');
    if (this.log.isEnabled('DEBUG') && (cause !== 'duplicate' || this.#showsDuplicate())) {
      this.log.debug(`Dropped ${request.toString()}: ${cause}${message ? ` (${message})` : ''}`, {
        cause,
      });
    }
    if (this.signals.has('request_dropped'))
      this.signals.send('request_dropped', { request, cause, spider: this.spider });
  }

  /** The first says that the others are counted. */
  #showsDuplicate(): boolean {
    if (this.settings.get('DUPEFILTER_DEBUG')) return true;
    if (this.#hasShownDuplicate) return false;
    this.#hasShownDuplicate = true;
    this.log.debug('Of duplicates only the first is shown (DUPEFILTER_DEBUG shows all)');
    return true;
  }

  /** Makes the result not ok. The first error is the one reported; log it yourself. */
  fail(error: Error): void {
    this.#error ??= error;
  }

  /** Stops the crawl; what is not done goes back to the scheduler. */
  stop(mode: StopMode = 'graceful'): void {
    this.#stopMode = mode;
    this.#engine?.closeSpider('shutdown', mode);
  }

  /** Runs the crawl to its end. Once only. Never rejects: a spider that cannot start has a result too. */
  async crawl(args: SpiderArgs = {}): Promise<CrawlResult> {
    if (this.#isStarted) throw new Error('A crawler runs once. Make another one.');
    this.#isStarted = true;
    const start = performance.now();
    let result: CrawlResult;
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
      await this.#closeJob();
    }
    this.log.info(
      `Spider closed (${result.reason}) after ${((performance.now() - start) / 1000).toFixed(1)} s`,
    );
    await this.signals.sendAwaited('crawl_ended', { crawler: this, result });
    return result;
  }

  async #run(args: SpiderArgs): Promise<string> {
    const { spiderClass, settings, signals } = this;
    await this.#openStats();
    const spider = spiderClass.fromCrawler
      ? spiderClass.fromCrawler(this, args)
      : new spiderClass(args);
    spider.bind(this);
    this.#spider = spider;
    await this.#openJob(spider);
    this.#components = await this.#resolve();
    const { fingerprinter } = this.#components;
    if (fingerprinter)
      this.fingerprints = new RequestFingerprints(buildComponent(fingerprinter, this));
    this.#extensions = buildComponents(this.#components.extensions, this);
    settings.freeze();
    const engine = new Engine(this);
    this.#engine = engine;
    if (this.#job) this.getDownloaderMiddleware(CookiesMiddleware)?.restore(this.#job);
    if (spider.closed) {
      signals.connect('spider_closed', ({ reason }) => spider.closed!(reason), { phase: 'after' });
    }
    this.log.info(`Spider opened`, { settings: this.#overridden() });
    let opened = false;
    let stopped = false;
    try {
      await engine.scheduler.open(spider);
      if (!engine.scheduler.isShared) this.#carryAccount(engine.scheduler.pending);
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
    if (signals.has('slot_changed')) {
      this.slots.listen((key, change) => signals.send('slot_changed', { key, change }));
    }
    if (opened && !engine.isClosing) {
      await signals.sendAwaited('engine_started', {});
      await engine.run();
      stopped = true;
    }
    await this.#close(engine, spider);
    if (stopped) await signals.sendAwaited('engine_stopped', {});
    return engine.reason;
  }

  async #openStats(): Promise<void> {
    const { settings, root } = this;
    const collector = settings.get('STATS_CLASS');
    if (!collector || !settings.get('STATS_ENABLED')) return;
    this.stats = buildComponent(await resolveClass(collector, root), this);
  }

  async #openJob(spider: Spider): Promise<void> {
    const folder = this.settings.get('JOBDIR');
    if (!folder) return;
    this.#job = await JobFile.open(resolve(this.root, folder), this.spiderClass.name);
    const saved = (key: string): [string, unknown][] => Object.entries(this.#job!.get(key) ?? {});
    Object.assign(spider.state, Object.fromEntries(saved('state')));
    for (const [, host] of saved('startHosts')) {
      if (typeof host === 'string') this.startHosts.add(host);
    }
    this.slots.addresses = Object.fromEntries(saved('addresses')) as Record<string, string>;
    for (const [key, delay] of saved('slots')) {
      if (typeof delay === 'number' && delay >= 0) this.slots.remember(key, delay);
    }
    for (const [key, value] of saved('stats')) {
      if (typeof value === 'number') this.stats.set(key, value);
    }
  }

  /** What earlier runs of the job left is in the account of this one; after a crash the queue is what counts. */
  #carryAccount(pending: number): void {
    const count = (name: string): number => Number(this.stats.get(`account/${name}`) ?? 0);
    const ended = count('done') + count('failed') + count('dropped');
    if (pending + ended > 0) this.stats.set('account/scheduled', pending + ended);
  }

  /** Before requests are forgotten: what they led to is in the feeds. False if a feed has failed. */
  async flushFeeds(): Promise<boolean> {
    return (await this.getExtension(FeedExport)?.flush()) ?? true;
  }

  /**
   * Before requests are forgotten: what they led to is in the feeds, and the state is written down.
   *
   * @internal
   * @returns False if a feed has failed, so that they must not be forgotten.
   */
  async saveJob(): Promise<boolean> {
    const isSafe = await this.flushFeeds();
    const job = this.#job!;
    job.set('state', this.spider.state);
    job.set('startHosts', [...this.startHosts]);
    job.set('stats', this.stats.getAll());
    const learnt: Record<string, number> = {};
    for (const slot of this.slots.entries())
      if (slot.learnt !== undefined) learnt[slot.key] = slot.learnt;
    job.set('slots', learnt);
    job.set('addresses', this.slots.addresses);
    this.getDownloaderMiddleware(CookiesMiddleware)?.save(job);
    return isSafe;
  }

  /** What is not in it by now is done again in the next run. */
  async #closeJob(): Promise<void> {
    const job = this.#job;
    if (!job?.isOpen) return;
    try {
      // The last word is that of the close hooks: what they put into the state and the stats is in it.
      if (this.#engine) await this.saveJob();
      job.close();
    } catch (thrown) {
      this.fail(toError(thrown));
      this.log.error('The job could not be closed', { error: toError(thrown) });
    }
  }

  /** Each step runs whatever became of the one before. */
  async #close(engine: Engine, spider: Spider): Promise<void> {
    const { reason } = engine;
    await engine.pipelines.close();
    const { pending, leased, isShared } = engine.scheduler;
    this.stats.set('account/left', isShared ? leased : pending + leased);
    try {
      await engine.scheduler.close(reason);
    } catch (thrown) {
      this.fail(toError(thrown));
      this.log.error('The scheduler could not be closed', { error: toError(thrown) });
      this.getExtension(FeedExport)?.keepParts();
    }
    for (const outcome of await this.signals.sendAwaited('spider_closed', { spider, reason })) {
      if (outcome instanceof Error) this.fail(outcome);
    }
    await this.#closeJob();
    this.#balance();
    if (this.settings.get('STATS_DUMP'))
      this.log.info('Dumping stats', { stats: this.stats.getAll() });
  }

  /** scheduled = done + failed + dropped + left, or something was lost. */
  #balance(): void {
    const count = (name: string): number => Number(this.stats.get(`account/${name}`) ?? 0);
    const ended = count('done') + count('failed') + count('dropped') + count('left');
    if (this.settings.get('STATS_ENABLED') && count('scheduled') !== ended) {
      const error = new Error(
        `The account does not balance: ${count('scheduled')} requests scheduled, ${ended} accounted for.`,
      );
      this.fail(error);
      this.log.error(error.message);
    }
  }

  #result(reason: string): CrawlResult {
    const stats = this.stats.getAll();
    const done = Number(stats['account/done'] ?? 0);
    const failed = Number(stats['account/failed'] ?? 0);
    const allFailed = done === 0 && failed > 0;
    const ok = this.#error === undefined && !allFailed && reason !== 'shutdown';
    const error =
      this.#error ?? (allFailed ? new Error(`All ${failed} requests failed.`) : undefined);
    return { spider: this.spiderClass.name, reason, ok, stats, ...(error && { error }) };
  }

  async #resolve(): Promise<CrawlerComponents> {
    const { settings, root } = this;
    const list = async <T>(
      base: ComponentPriorities<T>,
      own: ComponentPriorities<T>,
    ): Promise<Resolved<T>> =>
      mergeComponents(await resolveComponents(base, root), await resolveComponents(own, root));
    const dupeFilter = settings.get('DUPEFILTER_CLASS');
    const scheduler = settings.get('SCHEDULER');
    const fingerprinter = settings.get('REQUEST_FINGERPRINTER_CLASS');
    const downloader = settings.get('DOWNLOADER');
    const robotsParser = settings.get('ROBOTSTXT_PARSER');
    if (scheduler && settings.get('JOBDIR')) {
      throw new SettingsError(
        'SCHEDULER and JOBDIR both say where requests are kept. Leave one of them out.',
      );
    }
    return {
      downloaderMiddlewares: await list(
        baseDownloaderMiddlewares,
        settings.get('DOWNLOADER_MIDDLEWARES'),
      ),
      spiderMiddlewares: await list(baseSpiderMiddlewares, settings.get('SPIDER_MIDDLEWARES')),
      pipelines: await list<ItemPipeline>([], settings.get('ITEM_PIPELINES')),
      extensions: await list(baseExtensions, settings.get('EXTENSIONS')),
      dupeFilter:
        typeof dupeFilter === 'string'
          ? await resolveClass<ComponentClass<DupeFilter>>(dupeFilter, root)
          : dupeFilter,
      scheduler: scheduler ? await resolveClass(scheduler, root) : undefined,
      fingerprinter: fingerprinter ? await resolveClass(fingerprinter, root) : undefined,
      downloader: downloader ? await resolveClass(downloader, root) : undefined,
      robotsParser: robotsParser ? await resolveClass(robotsParser, root) : undefined,
    };
  }

  #overridden(): string {
    return this.settings
      .names()
      .filter((name) => (this.settings.getPriority(name) ?? 0) > 0)
      .join(', ');
  }
}
