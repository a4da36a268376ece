import type { CrawlerSlots } from '../downloader/slot-registry.ts';
/** Where the pending requests of one slot are kept, in their order. */
export interface SlotStore<T> {
  /** Priority of the best; `-Infinity` when empty. */
  readonly top: number;
  push(entry: T): void;
  pop(): T | undefined;
}
/** Pending requests grouped by slot, so that the next one is found in O(log n) among the slots that may send. */
export declare class ReadyQueue<T> {
  #private;
  size: number;
  /** @param onReady - Called when a slot that was waited for may send again. */
  constructor(makeStore: (key: string) => SlotStore<T>, onReady: () => void);
  push(entry: T, key: string): void;
  /** A slot whose store holds `size` entries already. */
  adopt(key: string, store: SlotStore<T>, size: number): void;
  /** The best entry of a slot that may send now; the slot's place is reserved for it. */
  pop(slots: CrawlerSlots): T | undefined;
  /** Forgets everything, and is told of no slot any more. */
  clear(slots: CrawlerSlots): void;
}
//# sourceMappingURL=ready-queue.d.ts.map
