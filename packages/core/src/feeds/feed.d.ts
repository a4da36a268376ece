import type { FeedOptions } from './feed-options.ts';
import type { FeedSlot } from './feed-slot.ts';
/** What a feed tells of itself. */
export interface FeedEvents {
  /** Makes the file of a batch. */
  slot(options: FeedOptions, batchId: number, onError: (error: Error) => void): FeedSlot;
  itemError(options: FeedOptions, error: Error): void;
  /** The feed is given up: once a feed. */
  failed(options: FeedOptions, slot: FeedSlot | undefined, doing: string, error: Error): void;
  stored(slot: FeedSlot): void;
  closed(slot: FeedSlot): void | Promise<void>;
  leftOut(options: FeedOptions, names: ReadonlySet<string>): void;
}
/** One entry of `FEEDS`: chooses its items and starts its files. Nothing that goes wrong in it reaches another feed. */
export declare class Feed {
  #private;
  readonly options: FeedOptions;
  constructor(options: FeedOptions, events: FeedEvents);
  get isFailed(): boolean;
  /** Opens the first file. Never rejects: see `isFailed`. */
  open(): Promise<void>;
  /** Takes an item, if it is for this feed. Never throws; returns a promise only where the item has to wait. */
  add(item: unknown): Promise<void> | undefined;
  /** Stores what is open and waits for all of it. */
  close(): Promise<void>;
  /** Waits until what it took is in its file. */
  flush(): Promise<void>;
  /** Leaves the part for the next run of the job. */
  pause(): Promise<void>;
  /** Gives up a feed that got no item. */
  cancel(): Promise<void>;
}
//# sourceMappingURL=feed.d.ts.map
