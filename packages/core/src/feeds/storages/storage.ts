import type { FeedPass, KeptRecords } from '../exporters/exporter.ts';

/** Bytes to somewhere. One storage is one file, or what stands for one. */
export interface FeedStorage {
  /** Its name in stats: `feedexport/success_count/{name}`. */
  readonly name: string;
  /** Where the bytes go, for messages. */
  readonly location: string;
  /** Whether an earlier run has left something to go on with. Absent: it never has. */
  hasPart?(): Promise<boolean>;
  /**
   * Called once, before all else, and at the first feed before the first request.
   *
   * @returns What it holds already, if the feed is to be continued.
   * @throws Error if nothing can be written there.
   */
  open(): KeptRecords | undefined | void | Promise<KeptRecords | undefined | void>;
  /** Takes whole records. The next call comes when this one is done. */
  write(chunk: Uint8Array): void | Promise<void>;
  /** Changes all that was written. Absent: bytes are gone once written, and the feed is kept elsewhere until it is complete. */
  rewrite?(passes: readonly FeedPass[]): Promise<void>;
  /** The feed is complete: it gets its name, or is sent. */
  store(): Promise<void>;
  /** The feed does not get its name. `isEmpty`: nothing in it is worth keeping. */
  abandon(isEmpty: boolean): Promise<void>;
}

/** What a storage is told. */
export interface FeedStorageOptions {
  readonly overwrite: boolean;
  readonly format: string;
  readonly postprocessing: readonly string[];
}

/** A class of storages, as in `FEED_STORAGES`. */
export type FeedStorageClass = new (uri: string, options: FeedStorageOptions) => FeedStorage;
