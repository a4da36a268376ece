import type { FeedPass } from '../exporters/exporter.ts';
import type { FeedStorage } from './storage.ts';
/** Keeps a feed in a temporary file until it is complete, for a storage that cannot change what was written. */
export declare class SpooledFeedStorage implements FeedStorage {
  #private;
  readonly name: string;
  readonly location: string;
  constructor(target: FeedStorage, parent?: string);
  open(): Promise<void>;
  write(chunk: Uint8Array): Promise<void>;
  rewrite(passes: readonly FeedPass[]): Promise<void>;
  store(): Promise<void>;
  abandon(isEmpty: boolean): Promise<void>;
}
//# sourceMappingURL=spooled.d.ts.map
