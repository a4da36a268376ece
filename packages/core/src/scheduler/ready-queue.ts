import type { CrawlerSlots } from '../downloader/slot-registry.ts';
import type { SlotWaiter } from '../downloader/slot.ts';
import { detach } from '../http/url.ts';
import { Heap } from './heap.ts';

/** Where the pending requests of one slot are kept, in their order. */
export interface SlotStore<T> {
  /** Priority of the best; `-Infinity` when empty. */
  readonly top: number;
  /** @param isBack - It was taken already, and is before its equals again. */
  push(entry: T, isBack?: boolean): void;
  pop(): T | undefined;
}

/** One slot in the line of slots. */
class SlotQueue<T> implements SlotWaiter {
  readonly key: string;
  readonly store: SlotStore<T>;
  readonly #owner: ReadyQueue<T>;
  /** When it was last served: ties go to who waited longest. */
  turn = 0;
  isWaiting = false;

  constructor(key: string, store: SlotStore<T>, owner: ReadyQueue<T>) {
    this.key = key;
    this.store = store;
    this.#owner = owner;
  }

  slotReady(): void {
    this.isWaiting = false;
    this.#owner.ready(this);
  }
}

/** Pending requests grouped by slot, so that the next one is found in O(log n) among the slots that may send. */
export class ReadyQueue<T> {
  readonly #bySlot = new Map<string, SlotQueue<T>>();
  readonly #heap = new Heap<SlotQueue<T>>((a, b) => b.store.top - a.store.top || a.turn - b.turn);
  readonly #makeStore: (key: string) => SlotStore<T>;
  readonly #onReady: () => void;
  #turns = 0;
  size = 0;

  /** @param onReady - Called when a slot that was waited for may send again. */
  constructor(makeStore: (key: string) => SlotStore<T>, onReady: () => void) {
    this.#makeStore = makeStore;
    this.#onReady = onReady;
  }

  get slotCount(): number {
    return this.#bySlot.size;
  }

  push(entry: T, key: string, isBack = false): void {
    let queue = this.#bySlot.get(key);
    const before = queue?.store.top;
    if (queue === undefined) {
      const own = detach(key);
      queue = new SlotQueue(own, this.#makeStore(own), this);
      queue.turn = ++this.#turns;
      this.#bySlot.set(own, queue);
    }
    queue.store.push(entry, isBack);
    this.size++;
    if (queue.isWaiting) return;
    if (before === undefined) this.#heap.push(queue);
    else if (queue.store.top !== before) this.#heap.update(queue);
  }

  /** A slot whose store holds `size` entries already. */
  adopt(key: string, store: SlotStore<T>, size: number): void {
    const queue = new SlotQueue(key, store, this);
    this.#bySlot.set(key, queue);
    this.#heap.push(queue);
    this.size += size;
  }

  /** The best entry of a slot that may send now; the slot's place is reserved for it. */
  pop(slots: CrawlerSlots): T | undefined {
    for (;;) {
      const queue = this.#heap.peek();
      if (queue === undefined) return undefined;
      if (!slots.isReady(queue.key)) {
        this.#heap.pop();
        queue.isWaiting = true;
        slots.wait(queue.key, queue);
        continue;
      }
      const entry = queue.store.pop();
      if (entry !== undefined) {
        this.size--;
        slots.reserve(queue.key);
      }
      if (queue.store.top === -Infinity) {
        this.#heap.pop();
        this.#bySlot.delete(queue.key);
      } else {
        queue.turn = ++this.#turns;
        this.#heap.update(queue);
      }
      if (entry !== undefined) return entry;
    }
  }

  /** @internal */
  ready(queue: SlotQueue<T>): void {
    if (this.#bySlot.get(queue.key) !== queue) return;
    this.#heap.push(queue);
    this.#onReady();
  }

  /** Forgets everything, and is told of no slot any more. */
  clear(slots: CrawlerSlots): void {
    for (const queue of this.#bySlot.values()) slots.forget(queue.key, queue);
    this.#bySlot.clear();
    this.#heap.clear();
    this.size = 0;
  }
}
