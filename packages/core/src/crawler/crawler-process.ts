import { SlotRegistry } from '../downloader/slot-registry.ts';
import type { SlotOverride, SlotReport } from '../downloader/slot.ts';
import type { StopMode } from '../engine/engine.ts';
import { toError, UsageError } from '../errors.ts';
import { createLogger, type RootLogger } from '../log/logger.ts';
import { Settings, type SettingsInput } from '../settings/settings.ts';
import type { SpiderArgs, SpiderClass } from '../spider/spider.ts';
import { Crawler, type CrawlResult } from './crawler.ts';
import type { SpiderLoader } from './spider-loader.ts';

export interface CrawlerProcessOptions {
  readonly settings?: Settings | SettingsInput;
  /** Lets `crawl()` take names. */
  readonly spiders?: SpiderLoader;
  /** Folder that component paths and feeds are seen from; the working folder by default. */
  readonly root?: string;
  /** Crawls that run at once; the rest wait in line. No limit by default. */
  readonly maxConcurrent?: number;
  /** Where log lines go instead of stderr or `LOG_FILE`. */
  readonly logger?: RootLogger;
}

interface Waiting {
  readonly run: () => void;
  readonly cancel: () => void;
}

/** Runs any number of crawls in one event loop, with one politeness budget for each site. */
export class CrawlerProcess {
  readonly settings: Settings;
  readonly log: RootLogger;
  /** Crawls that run now. */
  readonly crawlers: Set<Crawler> = new Set();
  readonly slotRegistry: SlotRegistry = new SlotRegistry();
  readonly #spiders: SpiderLoader | undefined;
  readonly #root: string;
  readonly #maxConcurrent: number;
  readonly #ownsLog: boolean;
  readonly #waiting: Waiting[] = [];
  readonly #running = new Set<Promise<CrawlResult>>();
  /** Places taken of `maxConcurrent`; one that ends hands its place to the next in line. */
  #places = 0;
  #stopMode: StopMode | undefined;
  #deadline: NodeJS.Timeout | undefined;

  constructor(options: CrawlerProcessOptions = {}) {
    const { settings = {} } = options;
    this.settings = settings instanceof Settings ? settings : new Settings(settings);
    this.#spiders = options.spiders;
    this.#root = options.root ?? process.cwd();
    this.#maxConcurrent = options.maxConcurrent ?? Infinity;
    this.#ownsLog = options.logger === undefined;
    this.log = options.logger ?? createLogger(logOptions(this.settings));
  }

  /**
   * Runs a spider; may be called before, during and after other crawls. A crawl that fails has a result that says so.
   *
   * @throws SpiderLoadError (as a rejection) when there is no spider of that name.
   */
  async crawl(spider: SpiderClass | string, args: SpiderArgs = {}): Promise<CrawlResult> {
    const spiderClass = typeof spider === 'string' ? this.#load(spider) : spider;
    const result = this.#enter(spiderClass, args);
    this.#running.add(result);
    try {
      return await result;
    } finally {
      this.#running.delete(result);
    }
  }

  /** Waits until nothing runs and nothing waits, crawls added meanwhile included. */
  async join(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running);
  }

  /** Waits as `join()` does, with SIGINT and SIGTERM stopping the crawls: once gracefully, twice fast, three times at once. */
  async start(): Promise<void> {
    let count = 0;
    const onSignal = (signal: NodeJS.Signals): void => {
      count++;
      if (count === 1) {
        this.log.info(`Received ${signal}: stopping gracefully. Send it again to stop fast.`);
        this.stop('graceful');
      } else if (count === 2) {
        this.log.info(`Received ${signal} twice: stopping fast. Send it again to force.`);
        this.stop('fast');
      } else {
        process.exit(130);
      }
    };
    process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
    try {
      await this.join();
    } finally {
      process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
    }
  }

  /** What each slot does and why, for all sites that were visited. */
  slots(): SlotReport[] {
    return [...this.slotRegistry.reports()];
  }

  /**
   * Sets delay (seconds) or concurrency of a slot in place of settings, from now on; undefined gives it back to them.
   *
   * @throws UsageError for a delay or a concurrency that cannot be.
   */
  setSlot(key: string, values: SlotOverride): void {
    this.slotRegistry.override(key, values);
  }

  /** Sends nothing to a host until `resumeHost()`; what is on the wire ends. */
  pauseHost(key: string): void {
    this.slotRegistry.hold(key);
  }

  resumeHost(key: string): void {
    this.slotRegistry.resume(key);
  }

  /** Stops all crawls. A graceful stop becomes a fast one after `SHUTDOWN_TIMEOUT` seconds. */
  stop(mode: StopMode = 'graceful'): void {
    this.#stopMode = mode;
    for (const { cancel } of this.#waiting.splice(0)) cancel();
    for (const crawler of this.crawlers) crawler.stop(mode);
    if (mode === 'graceful' && this.crawlers.size > 0) {
      this.#deadline ??= setTimeout(
        () => this.stop('fast'),
        this.settings.get('SHUTDOWN_TIMEOUT') * 1000,
      ).unref();
    }
  }

  /** Stops what runs, waits for it, and closes the log. */
  async close(): Promise<void> {
    if (this.crawlers.size > 0) this.stop('fast');
    await this.join();
    clearTimeout(this.#deadline);
    if (this.#ownsLog) await this.log.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #load(name: string): SpiderClass {
    if (this.#spiders === undefined) {
      throw new UsageError(
        `crawl(${JSON.stringify(name)}) needs a SpiderLoader: new CrawlerProcess({ spiders: await SpiderLoader.load(root) }).`,
      );
    }
    return this.#spiders.load(name);
  }

  async #enter(spiderClass: SpiderClass, args: SpiderArgs): Promise<CrawlResult> {
    const stopped: CrawlResult = {
      spider: spiderClass.name,
      reason: 'shutdown',
      ok: false,
      stats: {},
    };
    if (this.#places === 0) this.#reset();
    if (this.#stopMode !== undefined) return stopped;
    if (this.#places < this.#maxConcurrent) {
      this.#places++;
    } else {
      const mayRun = await new Promise<boolean>((resolve) => {
        this.#waiting.push({ run: () => resolve(true), cancel: () => resolve(false) });
      });
      if (!mayRun) return stopped;
    }
    let crawler: Crawler | undefined;
    try {
      crawler = new Crawler(spiderClass, this.settings, {
        log: this.log,
        slots: this.slotRegistry,
        root: this.#root,
      });
      this.crawlers.add(crawler);
      return await crawler.crawl(args);
    } catch (thrown) {
      const error = toError(thrown);
      this.log.error(`Spider ${spiderClass.name} could not start: ${error.message}`, { error });
      return { ...stopped, reason: 'bootstrap_failed', error };
    } finally {
      if (crawler) this.crawlers.delete(crawler);
      const next = this.#waiting.shift();
      if (next) next.run();
      else this.#places--;
    }
  }

  #reset(): void {
    clearTimeout(this.#deadline);
    this.#deadline = undefined;
    this.#stopMode = undefined;
  }
}

function logOptions(settings: Settings): Parameters<typeof createLogger>[0] {
  return {
    level: settings.get('LOG_ENABLED') ? settings.get('LOG_LEVEL') : 'OFF',
    file: settings.get('LOG_FILE'),
    append: settings.get('LOG_FILE_APPEND'),
    format: settings.get('LOG_FORMAT'),
    redact: settings.get('LOG_REDACT'),
  } as Parameters<typeof createLogger>[0];
}
