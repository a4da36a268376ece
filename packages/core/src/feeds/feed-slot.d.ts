import { type Postprocessing } from './compression.ts';
import type { FeedEncoding, FeedExporter } from './exporters/exporter.ts';
import type { FeedStorage } from './storages/storage.ts';
export interface FeedSlotInit {
  readonly uri: string;
  readonly format: string;
  readonly batchId: number;
  readonly storeEmpty: boolean;
  readonly encoding: FeedEncoding;
  readonly postprocessing: readonly Postprocessing[];
  readonly exporter: FeedExporter;
  readonly storage: FeedStorage;
  /** Called when writing fails; nothing is written after that. */
  readonly onError: (error: Error) => void;
}
/** One file of a feed, from its opening to its name: gathers records and writes them in large chunks, behind the crawl's back. */
export declare class FeedSlot {
  #private;
  readonly uri: string;
  readonly format: string;
  /** From 1. */
  readonly batchId: number;
  readonly storage: FeedStorage;
  /** Items written. */
  itemCount: number;
  constructor(init: FeedSlotInit);
  /** Fields that `fields` leaves out, seen so far. */
  get leftOut(): ReadonlySet<string>;
  /** Why it does not write any more. */
  get error(): Error | undefined;
  open(): Promise<void>;
  /**
   * Takes an item.
   *
   * @returns A promise only where the disk cannot keep up.
   * @throws Error if the item cannot be serialised.
   */
  add(item: unknown): Promise<void> | undefined;
  /**
   * Writes the rest and gives the file its name.
   *
   * @returns What became of it. An earlier failure has been reported already.
   * @throws Error if this fails now.
   */
  close(): Promise<'stored' | 'empty' | 'failed'>;
  /** Waits until everything taken so far is in the file. */
  flush(): Promise<void>;
  /** Writes the rest and leaves the part for the next run of the job. */
  pause(): Promise<void>;
  /** Gives up a feed that has been opened but not used. */
  cancel(): Promise<void>;
}
//# sourceMappingURL=feed-slot.d.ts.map
