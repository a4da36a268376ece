import type { Writable } from 'node:stream';

import type { FeedStorage } from './storage.ts';
/** Standard output. It stays open; a reader that has gone away ends the feed, not the crawl. */
export declare class StdoutFeedStorage implements FeedStorage {
  #private;
  readonly name = 'StdoutFeedStorage';
  readonly location = 'standard output';
  constructor(stream?: Writable);
  open(): void;
  write(chunk: Uint8Array): Promise<void>;
  store(): Promise<void>;
  abandon(): Promise<void>;
}
//# sourceMappingURL=stdout.d.ts.map
