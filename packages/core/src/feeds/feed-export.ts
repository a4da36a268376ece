import { join, resolve } from 'node:path';

import type { Crawler } from '../crawler/crawler.ts';
import { LycosaError, NotConfigured, toError, UsageError } from '../errors.ts';
import { feedOptions, type FeedOptions } from './feed-options.ts';
import { FeedSlot } from './feed-slot.ts';
import { Feed, type FeedEvents } from './feed.ts';
import { type Batch, JobNames } from './job-names.ts';
import { createStorage } from './storages/create-storage.ts';
import { s3Settings } from './storages/s3-client.ts';
import type { FeedStorage } from './storages/storage.ts';
import { expandFeedUri, feedBatchTime, feedTime, hasBatchParameter } from './uri.ts';

/** What the feeds use of a crawler. */
export type FeedCrawler = Pick<
  Crawler,
  'settings' | 'signals' | 'stats' | 'log' | 'spider' | 'engine' | 'root' | 'run' | 'fail' | 'job'
>;

/** Writes every scraped item to the feeds of `FEEDS` and of `-o` and `-O`. */
export class FeedExport {
  /** @throws SettingsError, UsageError for feeds that cannot be. */
  static fromCrawler(crawler: Crawler): FeedExport {
    const options = feedOptions(crawler.settings);
    if (options.length === 0) throw new NotConfigured();
    return new FeedExport(crawler, options);
  }

  readonly #crawler: FeedCrawler;
  readonly #options: readonly FeedOptions[];
  #time = new Date();
  /** Names that outlive a run, in a job. */
  #names: JobNames | undefined;
  /** Where each feed of this crawl goes. */
  readonly #locations = new Map<string, FeedOptions>();
  readonly #itemErrors = new Map<FeedOptions, number>();
  readonly #events: FeedEvents = {
    slot: (...args) => this.#slot(...args),
    opened: (...args) => this.#opened(...args),
    itemError: (...args) => this.#itemError(...args),
    failed: (...args) => this.#failed(...args),
    stored: (...args) => this.#stored(...args),
    closed: (...args) => this.#closed(...args),
    leftOut: (...args) => this.#leftOut(...args),
  };
  #feeds: readonly Feed[] = [];
  #hasFailed = false;
  #keepsParts = false;
  /** When the latest batch began, in microseconds since the epoch. */
  #lastMicros = 0;

  constructor(crawler: FeedCrawler, options: readonly FeedOptions[]) {
    this.#crawler = crawler;
    this.#options = options;
    crawler.signals.connect('spider_opened', () => this.open());
    crawler.signals.connect('item_scraped', ({ item }) => this.#add(item));
    crawler.signals.connect('spider_closed', () => this.close(), { phase: 'before' });
  }

  /** Opens all feeds. If one cannot be opened, the crawl ends before its first request and no file is changed. */
  async open(): Promise<void> {
    const feeds = await this.#makeFeeds().catch((error: unknown) => this.#giveUp(toError(error)));
    if (feeds === undefined) return;
    // One after the other, so that of two feeds in one file it is always the second that is refused.
    for (const feed of feeds) await feed.open();
    if (!feeds.some((feed) => feed.isFailed)) {
      this.#feeds = feeds;
      return;
    }
    for (const feed of feeds) await feed.cancel();
    this.#crawler.engine?.closeSpider('feed_error', 'fast');
  }

  async #makeFeeds(): Promise<Feed[]> {
    const folder = this.#jobFolder;
    // Only where names differ from run to run.
    if (folder !== undefined && this.#options.some(({ uri }) => uri.includes('%('))) {
      this.#names = await JobNames.open(join(folder, 'feeds'));
      this.#time = this.#names.time;
    }
    const feeds: Feed[] = [];
    for (const options of this.#options) feeds.push(await this.#makeFeed(options));
    return feeds;
  }

  /** Nothing has been opened. */
  #giveUp(error: Error): undefined {
    const { log, engine } = this.#crawler;
    log.error(error.message, { error });
    this.#crawler.fail(error);
    engine?.closeSpider('feed_error', 'fast');
  }

  /** Waits until every item so far is in its files. False if one of them has failed. */
  async flush(): Promise<boolean> {
    for (const feed of this.#feeds) await feed.flush();
    return !this.#hasFailed;
  }

  /** The job could not be written: part of what is in the feeds comes again. */
  keepParts(): void {
    this.#keepsParts = true;
  }

  /** Stores all feeds. Those of a job that is not finished stay parts, and the next run goes on with them. */
  async close(): Promise<void> {
    const { signals, log, stats, settings, engine, run } = this.#crawler;
    const feeds = this.#feeds;
    this.#feeds = [];
    const isUnfinished =
      Boolean(settings.get('JOBDIR')) &&
      (Number(stats.get('account/left') ?? 0) > 0 ||
        engine?.isStartCut === true ||
        this.#hasFailed ||
        this.#keepsParts);
    const isVoid = engine !== undefined && run?.beginsAnew?.(engine.reason) === true;
    const staysPart = isUnfinished || isVoid;
    await Promise.all(feeds.map((feed) => (staysPart ? feed.pause() : feed.close())));
    for (const [{ uri }, count] of this.#itemErrors) {
      if (count > 1) log.error(`${count} items in all could not be written to the feed ${uri}`);
    }
    await signals.sendAwaited('feed_exporter_closed', {});
  }

  get #jobFolder(): string | undefined {
    const { settings, root } = this.#crawler;
    const jobdir = settings.get('JOBDIR');
    return jobdir ? resolve(root, jobdir) : undefined;
  }

  /** Goes on where the run of the job before has left it. */
  async #makeFeed(options: FeedOptions): Promise<Feed> {
    const batches = this.#names?.batches(options.uri) ?? [];
    const parts: number[] = [];
    for (const batch of batches) {
      const storage = this.#storage(options, this.#expand(options, batch), true, false);
      if (await storage.hasPart?.()) parts.push(batch.id);
    }
    const latest = batches.at(-1)?.id ?? 0;
    const isOpen = parts.at(-1) === latest;
    const unfinished = isOpen ? parts.slice(0, -1) : parts;
    return new Feed(options, this.#events, isOpen ? latest - 1 : latest, unfinished);
  }

  /** The file of a batch is there, and is what a next run goes on with. */
  async #opened({ uri }: FeedOptions, { batch }: FeedSlot): Promise<void> {
    if (hasBatchParameter(uri)) await this.#names?.add(uri, batch);
  }

  #storage(
    options: FeedOptions,
    uri: string,
    isLaterRun: boolean,
    mayRewrite: boolean,
  ): FeedStorage {
    const { settings, root, run } = this.#crawler;
    const tempdir = settings.get('FEED_TEMPDIR') as string | null | undefined;
    const jobFolder = this.#jobFolder;
    return createStorage(uri, options, {
      root,
      resume: jobFolder !== undefined,
      // What is taken up again has one part over all runs.
      ...(run && jobFolder === undefined && { attempt: run.attempt }),
      ...(jobFolder !== undefined && { jobFolder }),
      s3: () => s3Settings(settings),
      isLaterRun,
      mayRewrite,
      ...(tempdir && { tempdir }),
    });
  }

  #slot(options: FeedOptions, batchId: number, onError: (error: Error) => void): FeedSlot {
    const { run, job } = this.#crawler;
    const { format, storeEmpty, postprocessing, exporterOptions } = options;
    const exporter = new options.exporterClass(exporterOptions);
    const saved = this.#names?.batches(options.uri).find(({ id }) => id === batchId);
    // Two batches never have the same time.
    if (!saved) this.#lastMicros = Math.max(Date.now() * 1000, this.#lastMicros + 1);
    const batch = saved ?? { id: batchId, micros: this.#lastMicros };
    const uri = this.#expand(options, batch);
    const isLaterRun = hasBatchParameter(options.uri)
      ? saved !== undefined
      : Number(job?.get('runs') ?? 0) > 1;
    const mayRewrite = exporter.mayRewrite === true || postprocessing.length > 0;
    const storage = this.#storage(options, uri, isLaterRun, mayRewrite);
    const other = this.#locations.get(storage.location);
    if (other) {
      const names =
        other === options
          ? `Two batches of the feed ${options.uri} go`
          : `The feeds ${other.uri} and ${options.uri} both go`;
      throw new UsageError(`${names} to ${storage.location}. Give each its own name.`);
    }
    this.#locations.set(storage.location, options);
    const encoding = exporterOptions.encoding ?? 'utf-8';
    return new FeedSlot({
      uri,
      format,
      batch,
      storeEmpty,
      encoding,
      postprocessing,
      exporter,
      storage,
      onError,
      ...(run && { mayStore: () => run.mayStore() }),
    });
  }

  #itemError(options: FeedOptions, error: Error): void {
    const count = (this.#itemErrors.get(options) ?? 0) + 1;
    this.#itemErrors.set(options, count);
    this.#crawler.stats.inc('feedexport/item_error_count');
    // The rest are most likely the same mistake; their number is told at the end.
    this.#crawler.log[count === 1 ? 'error' : 'debug'](
      `An item could not be written to the feed ${options.uri}: ${error.message}`,
      { error },
    );
  }

  #failed(
    { uri }: FeedOptions,
    slot: FeedSlot | undefined,
    doing: string,
    cause: Error,
    isFirst: boolean,
  ): void {
    const { stats, log } = this.#crawler;
    const error = new LycosaError(
      'ERR_FEED',
      `The feed ${slot?.storage.location ?? uri} could not be ${doing}: ${cause.message}`,
      { cause },
    );
    log.error(error.message, { error });
    if (!isFirst) return;
    if (slot) stats.inc(`feedexport/failed_count/${slot.storage.name}`);
    this.#crawler.fail(error);
    this.#hasFailed = true;
    // The job can be taken up again when the disk has room; going on would only add to what is to be done again.
    if (this.#crawler.settings.get('JOBDIR'))
      this.#crawler.engine?.closeSpider('feed_error', 'fast');
  }

  async #stored({ uri }: FeedOptions, slot: FeedSlot): Promise<void> {
    const { storage, itemCount, format, batch } = slot;
    this.#crawler.stats.inc(`feedexport/success_count/${storage.name}`);
    this.#crawler.log.info(`Stored ${itemCount} items (${format}) in ${storage.location}`);
    await this.#names?.remove(uri, batch);
  }

  async #closed(slot: FeedSlot): Promise<void> {
    await this.#crawler.signals.sendAwaited('feed_slot_closed', { slot });
  }

  #leftOut({ uri }: FeedOptions, names: ReadonlySet<string>): void {
    this.#crawler.log.warn(
      `The feed ${uri} left out fields of items that its fields do not name: ${[...names].join(', ')}`,
    );
  }

  #add(item: unknown): Promise<unknown> | undefined {
    let waits: Promise<void>[] | undefined;
    for (const feed of this.#feeds) {
      const wait = feed.add(item);
      if (wait) (waits ??= []).push(wait);
    }
    return waits && Promise.all(waits);
  }

  #expand({ uri, uriParams }: FeedOptions, { id, micros }: Batch): string {
    const { spider, run } = this.#crawler;
    const own: Record<string, unknown> = {
      time: feedTime(this.#time),
      batch_time: feedBatchTime(micros),
      batch_id: id,
      name: spider.name,
      ...(run && { job: run.job, attempt: run.attempt }),
    };
    const params = uriParams ? uriParams({ ...own }, spider) : own;
    // Any attribute of the spider may be named, whatever its class.
    const attributes = spider as unknown as Readonly<Record<string, unknown>>;
    return expandFeedUri(uri, (name) => {
      if (Object.hasOwn(params, name)) return params[name];
      const attribute =
        name in attributes && !(name in Object.prototype) ? attributes[name] : undefined;
      return attribute ?? (Object.hasOwn(spider.args, name) ? spider.args[name] : undefined);
    });
  }
}
