import { toError } from '../errors.ts';
import type { FeedOptions } from './feed-options.ts';
import type { FeedSlot } from './feed-slot.ts';

/** What a feed tells of itself. */
export interface FeedEvents {
  /** Makes the file of a batch. */
  slot(options: FeedOptions, batchId: number, onError: (error: Error) => void): FeedSlot;
  opened(options: FeedOptions, slot: FeedSlot): Promise<void>;
  itemError(options: FeedOptions, error: Error): void;
  /** The feed is given up. `isFirst` is false for what goes wrong with it after that. */
  failed(
    options: FeedOptions,
    slot: FeedSlot | undefined,
    doing: string,
    error: Error,
    isFirst: boolean,
  ): void;
  stored(options: FeedOptions, slot: FeedSlot): Promise<void>;
  closed(slot: FeedSlot): void | Promise<void>;
  leftOut(options: FeedOptions, names: ReadonlySet<string>): void;
}

/** One entry of `FEEDS`: chooses its items and starts its files. Nothing that goes wrong in it reaches another feed. */
export class Feed {
  readonly options: FeedOptions;
  readonly #events: FeedEvents;
  readonly #leftOut = new Set<string>();
  readonly #closing = new Set<Promise<void>>();
  #slot: FeedSlot | undefined;
  #opening: Promise<void> | undefined;
  readonly #unfinished: readonly number[];
  #batchId: number;
  #isFailed = false;

  /**
   * @param lastBatch - The batch before the first of this crawl: 0, but in a job.
   * @param unfinished - Earlier ones that a run of the job could not store.
   */
  constructor(
    options: FeedOptions,
    events: FeedEvents,
    lastBatch: number,
    unfinished: readonly number[],
  ) {
    this.options = options;
    this.#events = events;
    this.#batchId = lastBatch;
    this.#unfinished = unfinished;
  }

  get isFailed(): boolean {
    return this.#isFailed;
  }

  /** Opens the first file. Never rejects: see `isFailed`. */
  async open(): Promise<void> {
    for (const id of this.#unfinished) {
      const slot = await this.#openBatch(id);
      if (slot) await this.#finish(slot);
    }
    if (!this.#isFailed) await this.#open();
  }

  /** Takes an item, if it is for this feed. Never throws; returns a promise only where the item has to wait. */
  add(item: unknown): Promise<void> | undefined {
    try {
      return this.#isFailed || !this.#wants(item) ? undefined : this.#take(item);
    } catch (thrown) {
      this.#events.itemError(this.options, toError(thrown));
      return undefined;
    }
  }

  /** Stores what is open and waits for all of it. */
  async close(): Promise<void> {
    await this.#opening;
    if (this.#slot) await this.#finish(this.#slot);
    await Promise.all(this.#closing);
    if (this.#leftOut.size > 0) this.#events.leftOut(this.options, this.#leftOut);
  }

  /** Waits until what it took is in its file. */
  async flush(): Promise<void> {
    await this.#opening;
    await this.#slot?.flush();
  }

  /** Leaves the part for the next run of the job. */
  async pause(): Promise<void> {
    await this.#opening;
    await this.#slot?.pause();
    this.#slot = undefined;
    await Promise.all(this.#closing);
  }

  /** Gives up a feed that got no item. */
  async cancel(): Promise<void> {
    await this.#slot?.cancel();
    this.#slot = undefined;
  }

  #wants(item: unknown): boolean {
    const { itemClasses, itemFilter } = this.options;
    if (itemClasses.length > 0 && !itemClasses.some((one) => item instanceof one)) return false;
    return itemFilter === undefined || itemFilter(item);
  }

  #take(item: unknown): Promise<void> | undefined {
    // A new batch opens at its first item, so that none is empty.
    if (this.#slot === undefined) this.#opening ??= this.#open();
    if (this.#opening) return this.#opening.then(() => this.add(item));
    const slot = this.#slot!;
    const { batchItemCount } = this.options;
    // One that is continued may be full already.
    if (batchItemCount > 0 && slot.recordCount >= batchItemCount)
      return this.#store(slot).then(() => this.add(item));
    const written = slot.add(item);
    if (batchItemCount === 0 || slot.recordCount < batchItemCount) return written;
    return this.#store(slot);
  }

  /** Stores a full batch. */
  // oxlint-disable-next-line typescript/promise-function-async -- the slot is left at once, and the promise is kept
  #store(slot: FeedSlot): Promise<void> {
    this.#slot = undefined;
    const closing = this.#finish(slot);
    this.#closing.add(closing);
    return closing.finally(() => this.#closing.delete(closing));
  }

  async #open(): Promise<void> {
    this.#slot = await this.#openBatch(++this.#batchId);
    this.#opening = undefined;
  }

  async #openBatch(id: number): Promise<FeedSlot | undefined> {
    let slot: FeedSlot | undefined;
    try {
      slot = this.#events.slot(this.options, id, (error) => this.#fail(slot, 'written', error));
      await slot.open();
      await this.#events.opened(this.options, slot);
      return slot;
    } catch (thrown) {
      await slot?.cancel().catch(() => {});
      this.#fail(slot, 'opened', toError(thrown));
      return undefined;
    }
  }

  async #finish(slot: FeedSlot): Promise<void> {
    try {
      if ((await slot.close()) === 'stored') await this.#events.stored(this.options, slot);
    } catch (thrown) {
      this.#fail(slot, 'stored', toError(thrown));
    }
    for (const name of slot.leftOut) this.#leftOut.add(name);
    await this.#events.closed(slot);
  }

  #fail(slot: FeedSlot | undefined, doing: string, error: Error): void {
    const isFirst = !this.#isFailed;
    this.#isFailed = true;
    this.#events.failed(this.options, slot, doing, error, isFirst);
  }
}
