import { resolve } from 'node:path';

import type { Crawler } from '../crawler/crawler.ts';
import { LycosaError, NotConfigured, UsageError } from '../errors.ts';
import { feedOptions, type FeedOptions } from './feed-options.ts';
import { FeedSlot } from './feed-slot.ts';
import { Feed, type FeedEvents } from './feed.ts';
import { createStorage } from './storages/create-storage.ts';
import { s3Settings } from './storages/s3-client.ts';
import { expandFeedUri, feedBatchTime, feedTime } from './uri.ts';

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
  readonly #time = new Date();
  /** Where each feed of this crawl goes. */
  readonly #locations = new Map<string, FeedOptions>();
  readonly #itemErrors = new Map<FeedOptions, number>();
  readonly #events: FeedEvents = {
    slot: (...args) => this.#slot(...args),
    itemError: (...args) => this.#itemError(...args),
    failed: (...args) => this.#failed(...args),
    stored: (...args) => this.#stored(...args),
    closed: (...args) => this.#closed(...args),
    leftOut: (...args) => this.#leftOut(...args),
  };
  #feeds: readonly Feed[] = [];
  #hasFailed = false;
  #keepsParts = false;
  /** Microseconds since the epoch. */
  #lastBatch = 0;

  constructor(crawler: FeedCrawler, options: readonly FeedOptions[]) {
    this.#crawler = crawler;
    this.#options = options;
    crawler.signals.connect('spider_opened', () => this.open());
    crawler.signals.connect('item_scraped', ({ item }) => this.#add(item));
    crawler.signals.connect('spider_closed', () => this.close(), { phase: 'before' });
  }

  /** Opens all feeds. If one cannot be opened, the crawl ends before its first request and no file is changed. */
  async open(): Promise<void> {
    const feeds = this.#options.map((options) => new Feed(options, this.#events));
    // One after the other, so that of two feeds in one file it is always the second that is refused.
    for (const feed of feeds) await feed.open();
    if (!feeds.some((feed) => feed.isFailed)) {
      this.#feeds = feeds;
      return;
    }
    for (const feed of feeds) await feed.cancel();
    this.#crawler.engine?.closeSpider('feed_error', 'fast');
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

  #slot(options: FeedOptions, batchId: number, onError: (error: Error) => void): FeedSlot {
    const { settings, root, run, job } = this.#crawler;
    const { format, storeEmpty, postprocessing, exporterOptions } = options;
    const exporter = new options.exporterClass(exporterOptions);
    const tempdir = settings.get('FEED_TEMPDIR') as string | null | undefined;
    const jobdir = settings.get('JOBDIR');
    const uri = this.#expand(options, batchId);
    const storage = createStorage(uri, options, {
      root,
      resume: Boolean(jobdir),
      // What is taken up again has one part over all runs.
      ...(run && !jobdir && { attempt: run.attempt }),
      ...(jobdir && { jobFolder: resolve(root, jobdir) }),
      s3: () => s3Settings(settings),
      isLaterRun: Number(job?.get('runs') ?? 0) > 1,
      mayRewrite: exporter.mayRewrite === true || postprocessing.length > 0,
      ...(tempdir && { tempdir }),
    });
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
      batchId,
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

  #failed({ uri }: FeedOptions, slot: FeedSlot | undefined, doing: string, cause: Error): void {
    const { stats, log } = this.#crawler;
    const error = new LycosaError(
      'ERR_FEED',
      `The feed ${slot?.storage.location ?? uri} could not be ${doing}: ${cause.message}`,
      { cause },
    );
    if (slot) stats.inc(`feedexport/failed_count/${slot.storage.name}`);
    log.error(error.message, { error });
    this.#crawler.fail(error);
    this.#hasFailed = true;
    // The job can be taken up again when the disk has room; going on would only add to what is to be done again.
    if (this.#crawler.settings.get('JOBDIR'))
      this.#crawler.engine?.closeSpider('feed_error', 'fast');
  }

  #stored({ storage, itemCount, format }: FeedSlot): void {
    this.#crawler.stats.inc(`feedexport/success_count/${storage.name}`);
    this.#crawler.log.info(`Stored ${itemCount} items (${format}) in ${storage.location}`);
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

  #expand({ uri, uriParams }: FeedOptions, batchId: number): string {
    const { spider, run } = this.#crawler;
    // Two batches never have the same time.
    this.#lastBatch = Math.max(Date.now() * 1000, this.#lastBatch + 1);
    const own: Record<string, unknown> = {
      time: feedTime(this.#time),
      batch_time: feedBatchTime(this.#lastBatch),
      batch_id: batchId,
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
