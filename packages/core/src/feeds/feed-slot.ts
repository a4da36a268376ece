import { toError } from '../errors.ts';
import { compressPass, type Postprocessing } from './compression.ts';
import type { FeedEncoding, FeedExporter, FeedPass } from './exporters/exporter.ts';
import type { Batch } from './job-names.ts';
import { PendingText } from './pending-text.ts';
import type { FeedStorage } from './storages/storage.ts';

/** Characters that make a write worth while. */
const CHUNK = 1 << 16;
/** Characters that may wait before items do. */
const LIMIT = 1 << 20;
/** The longest that a record waits to be written. */
const FLUSH_MS = 1000;

export interface FeedSlotInit {
  readonly uri: string;
  readonly format: string;
  readonly batch: Batch;
  readonly storeEmpty: boolean;
  readonly encoding: FeedEncoding;
  readonly postprocessing: readonly Postprocessing[];
  readonly exporter: FeedExporter;
  readonly storage: FeedStorage;
  /** Called when writing fails; nothing is written after that. */
  readonly onError: (error: Error) => void;
  /** False where a later run of the same job has begun: the feed is its to store. */
  readonly mayStore?: () => Promise<boolean>;
}

/** One file of a feed, from its opening to its name: gathers records and writes them in large chunks, behind the crawl's back. */
export class FeedSlot {
  readonly uri: string;
  readonly format: string;
  readonly batch: Batch;
  readonly storage: FeedStorage;
  /** Items written. */
  itemCount = 0;
  readonly #init: FeedSlotInit;
  readonly #exporter: FeedExporter;
  readonly #text = new PendingText();
  #writing: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #error: Error | undefined;
  /** Records that it had before this crawl. */
  #kept = 0;

  constructor(init: FeedSlotInit) {
    this.#init = init;
    this.#exporter = init.exporter;
    this.uri = init.uri;
    this.format = init.format;
    this.batch = init.batch;
    this.storage = init.storage;
  }

  /** From 1. */
  get batchId(): number {
    return this.batch.id;
  }

  /** Items that are in the file, of earlier crawls too. */
  get recordCount(): number {
    return this.#kept + this.itemCount;
  }

  /** Fields that `fields` leaves out, seen so far. */
  get leftOut(): ReadonlySet<string> {
    return this.#exporter.leftOut ?? new Set();
  }

  /** Why it does not write any more. */
  get error(): Error | undefined {
    return this.#error;
  }

  async open(): Promise<void> {
    await this.#exporter.load?.();
    const kept = await this.storage.open();
    if (kept) {
      if (!this.#exporter.resume)
        throw new Error(
          `A file of format ${this.format} cannot be continued. Replace it with -O (overwrite: true).`,
        );
      this.#kept = kept.records;
      this.#text.push(this.#exporter.resume(kept));
    } else {
      this.#text.push(this.#exporter.start());
    }
  }

  /**
   * Takes an item.
   *
   * @returns A promise only where the disk cannot keep up.
   * @throws Error if the item cannot be serialised.
   */
  add(item: unknown): Promise<void> | undefined {
    if (this.#error) return undefined;
    this.#text.push(this.#exporter.item(item));
    this.itemCount++;
    if (this.#text.length < CHUNK) {
      this.#writeSoon();
      return undefined;
    }
    this.#write(CHUNK);
    return this.#text.length > LIMIT ? this.#writing : undefined;
  }

  /**
   * Writes the rest and gives the file its name.
   *
   * @returns What became of it. An earlier failure has been reported already.
   * @throws Error if this fails now.
   */
  async close(): Promise<'stored' | 'empty' | 'failed'> {
    try {
      return await this.#close();
    } catch (thrown) {
      this.#error ??= toError(thrown);
      await this.storage.abandon(false).catch(() => {});
      throw thrown;
    }
  }

  /** Waits until everything taken so far is in the file. */
  async flush(): Promise<void> {
    while (!this.#error && (this.#writing || this.#text.length > 0)) {
      this.#write(1);
      await this.#writing;
    }
  }

  /** Writes the rest and leaves the part for the next run of the job. */
  async pause(): Promise<void> {
    await this.flush();
    clearTimeout(this.#timer);
    // An empty part stays too: it says that the next run has nothing of this job to add to.
    await this.storage.abandon(false);
  }

  /** Gives up a feed that has been opened but not used. */
  async cancel(): Promise<void> {
    this.#text.clear();
    clearTimeout(this.#timer);
    await this.storage.abandon(this.#kept === 0);
  }

  async #close(): Promise<'stored' | 'empty' | 'failed'> {
    if (!this.#error && this.itemCount === 0 && this.#kept === 0 && !this.#init.storeEmpty) {
      await this.cancel();
      return 'empty';
    }
    if (!this.#error) this.#text.push(this.#exporter.finish());
    await this.#writing;
    this.#write(1);
    await this.#writing;
    if (this.#error) {
      await this.storage.abandon(false);
      return 'failed';
    }
    const passes: FeedPass[] = this.#init.postprocessing.map(compressPass);
    const rewrite = this.#exporter.rewrite?.();
    if (rewrite) passes.unshift(rewrite);
    if (passes.length > 0) await this.storage.rewrite!(passes);
    if (this.#init.mayStore && !(await this.#init.mayStore()))
      throw new Error('a later run of the same job has begun, and the feed is its to store');
    await this.storage.store();
    return 'stored';
  }

  /** Starts to write, unless it does already, and goes on while there are `least` characters. */
  #write(least: number): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#text.length === 0) return;
    this.#writing ??= this.#writeAll(least).finally(() => {
      this.#writing = undefined;
      if (this.#text.length > 0) this.#writeSoon();
    });
  }

  #writeSoon(): void {
    this.#timer ??= setTimeout(() => this.#write(1), FLUSH_MS).unref();
  }

  async #writeAll(least: number): Promise<void> {
    try {
      while (this.#text.length >= least && !this.#error) {
        await this.storage.write(this.#text.take(this.#init.encoding));
      }
    } catch (thrown) {
      this.#error = toError(thrown);
      this.#text.clear();
      this.#init.onError(this.#error);
    }
  }
}
