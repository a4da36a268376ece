/** A process that runs spiders for the agent of its machine: several in one event loop. Started by fleet-host-process.ts. */
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

import {
  Crawler,
  type CrawlResult,
  createLogger,
  type LycosaConfig,
  Settings,
  SlotRegistry,
  type SlotReport,
  type SpiderClass,
  SpiderLoader,
} from 'lycosa';

import type { FleetProgress } from './fleet-jobs.ts';
import { fileNameOf, RunLog } from './fleet-log.ts';
import type { FromHost, HostConfig, ToHost } from './fleet-messages.ts';
import { ownFolder } from './fleet-owner.ts';
import { agentOptions } from './fleet-settings.ts';
import { recordOf, verdictOf, verdictOfReason } from './reasons.ts';

type RunOrder = Extract<ToHost, { type: 'run' }>;

/** Milliseconds between two signs of life. */
const beatMs = 500;
/** Every so many of them also tell of slots and runs. */
const beatsPerReport = 4;
/** Slots that are told of: those with the most traffic. */
const maxSlots = 200;

class FleetHost {
  readonly #root: string;
  readonly #paths: readonly string[];
  readonly #settings: Settings;
  /** One politeness budget for all that runs here. */
  readonly #slots = new SlotRegistry();
  readonly #running = new Map<number, Run>();
  readonly #logFolder: string;
  readonly #logLines: number;
  #beats = 0;
  #all: Promise<SpiderLoader> | undefined;

  constructor(root: string, config: LycosaConfig, settings: Settings) {
    this.#root = root;
    this.#paths = [config.spiders ?? './spiders'].flat();
    this.#settings = settings;
    const { dir, logLines } = agentOptions(settings);
    this.#logFolder = resolve(root, dir, 'logs');
    this.#logLines = logLines;
  }

  take(message: ToHost): void {
    if (message.type === 'run') void this.#run(message);
    else if (message.type === 'exit') void this.#exit();
    else if (message.type === 'stop')
      this.#running.get(message.id)?.stop(message.mode, message.isForGood);
    else this.#running.get(message.id)?.answer(message.holds);
  }

  beat(lagMs: number): void {
    for (const run of this.#running.values()) run.flushLog();
    const mayTellMore = this.#beats++ % beatsPerReport === 0;
    say({
      type: 'beat',
      rssMb: Math.round(process.memoryUsage.rss() / 2 ** 20),
      lagMs: Math.round(lagMs),
      ...(mayTellMore && {
        slots: [...this.#slots.reports()].toSorted(byTraffic).slice(0, maxSlots),
        runs: [...this.#running].map(([id, run]) => [id, run.progress()] as const),
      }),
    });
  }

  async #run(order: RunOrder): Promise<void> {
    const { id, job, spider } = order;
    const since = performance.now();
    const log = await RunLog.open(this.#logFolder, job, order.attempt, this.#logLines);
    const run = new Run(order, log);
    this.#running.set(id, run);
    const result = await this.#crawl(run).catch((error: Error): CrawlResult => {
      log.write(`${spider} could not start: ${error.message}\n`);
      return { spider, reason: 'bootstrap_failed', ok: false, stats: {}, error };
    });
    run.flushLog();
    this.#running.delete(id);
    await log.close();
    say({
      type: 'ended',
      id,
      verdict: verdictOf(result, this.#settings.get('FLEET_REASONS') ?? {}),
      record: recordOf(result, (performance.now() - since) / 1000),
    });
  }

  async #crawl(run: Run): Promise<CrawlResult> {
    const { spider, args, job, token, attempt, file } = run.order;
    const spiderClass = await this.#load(spider, file);
    const settings = this.#settings.copy();
    const jobs = settings.get('FLEET_JOBDIR');
    if (jobs) {
      const folder = resolve(this.#root, jobs, fileNameOf(job));
      await ownFolder(folder, token);
      settings.set('JOBDIR', folder, 'cmdline');
    }
    const own = settings.get('FLEET_REASONS');
    const reasons = typeof own === 'object' ? own : {};
    const log = createLogger({
      level: settings.get('LOG_ENABLED') ? settings.get('LOG_LEVEL') : 'OFF',
      format: settings.get('LOG_FORMAT'),
      redact: settings.get('LOG_REDACT'),
      destination: run.log,
    } as Parameters<typeof createLogger>[0]);
    const crawler = new Crawler(spiderClass, settings, {
      log,
      slots: this.#slots,
      root: this.#root,
      run: {
        job,
        attempt,
        mayStore: () => run.mayStore(),
        beginsAnew: (reason) =>
          !jobs && !run.isForGood && verdictOfReason(reason, reasons) === 'pending',
      },
    });
    run.began(crawler);
    return crawler.crawl(args);
  }

  /** Imports the file that names the spider; all of them only where none does. */
  async #load(name: string, file: string | undefined): Promise<SpiderClass> {
    if (file !== undefined) {
      const some = await SpiderLoader.load(this.#root, file);
      if (some.list().includes(name)) return some.load(name);
    }
    this.#all ??= SpiderLoader.load(this.#root, this.#paths, () => {});
    return (await this.#all).load(name);
  }

  async #exit(): Promise<void> {
    for (const run of this.#running.values()) run.stop('fast');
    while (this.#running.size > 0) await new Promise((done) => setTimeout(done, 20));
    process.exit(0);
  }
}

/** One run. Asked to stop before its crawler is there, it stops when it is. */
class Run {
  readonly order: RunOrder;
  readonly log: RunLog;
  #crawler: Crawler | undefined;
  #stop: 'graceful' | 'fast' | 'lost' | undefined;
  /** Whether it was stopped and is not run again. */
  isForGood = false;
  #asked: { promise: Promise<boolean>; resolve(holds: boolean): void } | undefined;
  #last = { at: performance.now(), items: 0, responses: 0 };

  constructor(order: RunOrder, log: RunLog) {
    this.order = order;
    this.log = log;
  }

  began(crawler: Crawler): void {
    this.#crawler = crawler;
    if (this.#stop) this.stop(this.#stop, this.isForGood);
  }

  stop(mode: 'graceful' | 'fast' | 'lost', isForGood = false): void {
    this.#stop = mode;
    this.isForGood ||= isForGood;
    if (mode !== 'lost') return this.#crawler?.stop(mode);
    this.answer(false);
    // The first reason counts.
    this.#crawler?.engine?.closeSpider('lease_lost', 'fast');
    this.#crawler?.stop('fast');
  }

  /** Asks the agent whether the run is still the latest of its job. */
  mayStore(): Promise<boolean> {
    if (this.#stop === 'lost') return Promise.resolve(false);
    if (this.#asked === undefined) {
      this.#asked = Promise.withResolvers<boolean>();
      say({ type: 'holds', id: this.order.id });
    }
    return this.#asked.promise;
  }

  answer(holds: boolean): void {
    this.#asked?.resolve(holds);
    this.#asked = undefined;
  }

  flushLog(): void {
    const lines = this.log.take();
    if (lines.length > 0) say({ type: 'log', id: this.order.id, lines });
  }

  progress(): FleetProgress {
    const { stats } = this.#crawler ?? {};
    const count = (name: string): number => Number(stats?.get(name) ?? 0);
    const items = count('item_scraped_count');
    const responses = count('response_received_count');
    const minutes = (performance.now() - this.#last.at) / 60_000;
    const rates = {
      itemsPerMinute: Math.round((items - this.#last.items) / minutes),
      responsesPerMinute: Math.round((responses - this.#last.responses) / minutes),
    };
    // Rates are those of the last ten seconds or so.
    if (minutes > 1 / 6) this.#last = { at: performance.now(), items, responses };
    return { items, responses, errors: count('log_count/ERROR'), ...rates };
  }
}

function byTraffic(a: SlotReport, b: SlotReport): number {
  return b.transferring + b.queued - a.transferring - a.queued;
}

function say(message: FromHost): void {
  // A parent that is gone has no use for it, and we are gone in a moment.
  process.send?.(message, () => {});
}

async function start(text: string): Promise<void> {
  const { root, config, settings: own } = JSON.parse(text) as HostConfig;
  const module = config
    ? ((await import(pathToFileURL(config).href)) as { readonly default: LycosaConfig })
    : { default: {} };
  const settings = new Settings(module.default.settings ?? {}, 'project');
  settings.update(own, 'cmdline');
  const host = new FleetHost(root, module.default, settings);
  process.on('message', (message: ToHost) => host.take(message));
  let last = performance.now();
  setInterval(() => {
    const now = performance.now();
    host.beat(Math.max(0, now - last - beatMs));
    last = now;
  }, beatMs);
  host.beat(0);
}

// Without its agent nobody renews the leases: whatever runs here will run elsewhere.
process.on('disconnect', () => process.exit(1));
// The agent is told to stop, and tells us.
process.on('SIGINT', () => {}).on('SIGTERM', () => {});
const config = process.env['LYCOSA_FLEET_HOST'];
if (config !== undefined) await start(config);
