import { toError } from '../errors.js';
/** One entry of `FEEDS`: chooses its items and starts its files. Nothing that goes wrong in it reaches another feed. */
export class Feed {
  options;
  #events;
  #leftOut = new Set();
  #closing = new Set();
  #slot;
  #opening;
  #batchId = 0;
  #isFailed = false;
  constructor(options, events) {
    this.options = options;
    this.#events = events;
  }
  get isFailed() {
    return this.#isFailed;
  }
  /** Opens the first file. Never rejects: see `isFailed`. */
  async open() {
    await this.#open();
  }
  /** Takes an item, if it is for this feed. Never throws; returns a promise only where the item has to wait. */
  add(item) {
    try {
      return this.#isFailed || !this.#wants(item) ? undefined : this.#take(item);
    } catch (thrown) {
      this.#events.itemError(this.options, toError(thrown));
      return undefined;
    }
  }
  /** Stores what is open and waits for all of it. */
  async close() {
    await this.#opening;
    if (this.#slot) await this.#finish(this.#slot);
    await Promise.all(this.#closing);
    if (this.#leftOut.size > 0) this.#events.leftOut(this.options, this.#leftOut);
  }
  /** Waits until what it took is in its file. */
  async flush() {
    await this.#opening;
    await this.#slot?.flush();
  }
  /** Leaves the part for the next run of the job. */
  async pause() {
    await this.#opening;
    await this.#slot?.pause();
    this.#slot = undefined;
    await Promise.all(this.#closing);
  }
  /** Gives up a feed that got no item. */
  async cancel() {
    await this.#slot?.cancel();
    this.#slot = undefined;
  }
  #wants(item) {
    const { itemClasses, itemFilter } = this.options;
    if (itemClasses.length > 0 && !itemClasses.some((one) => item instanceof one)) return false;
    return itemFilter === undefined || itemFilter(item);
  }
  #take(item) {
    // A new batch opens at its first item, so that none is empty.
    if (this.#slot === undefined) this.#opening ??= this.#open();
    if (this.#opening) return this.#opening.then(() => this.add(item));
    const slot = this.#slot;
    const written = slot.add(item);
    if (slot.itemCount !== this.options.batchItemCount) return written;
    this.#slot = undefined;
    const closing = this.#finish(slot);
    this.#closing.add(closing);
    return closing.finally(() => this.#closing.delete(closing));
  }
  async #open() {
    let slot;
    try {
      slot = this.#events.slot(this.options, ++this.#batchId, (error) =>
        this.#fail(slot, 'written', error),
      );
      await slot.open();
      this.#slot = slot;
    } catch (thrown) {
      await slot?.cancel().catch(() => {});
      this.#fail(slot, 'opened', toError(thrown));
    } finally {
      this.#opening = undefined;
    }
  }
  async #finish(slot) {
    try {
      if ((await slot.close()) === 'stored') this.#events.stored(slot);
    } catch (thrown) {
      this.#fail(slot, 'stored', toError(thrown));
    }
    for (const name of slot.leftOut) this.#leftOut.add(name);
    await this.#events.closed(slot);
  }
  #fail(slot, doing, error) {
    if (this.#isFailed) return;
    this.#isFailed = true;
    this.#events.failed(this.options, slot, doing, error);
  }
}
//# sourceMappingURL=feed.js.map
