import type { Writable } from 'node:stream';

import type { FeedStorage } from './storage.ts';

/** Standard output. It stays open; a reader that has gone away ends the feed, not the crawl. */
export class StdoutFeedStorage implements FeedStorage {
  readonly name = 'StdoutFeedStorage';
  readonly location = 'standard output';
  readonly #stream: Writable;
  #isGone = false;
  readonly #onError = (error: NodeJS.ErrnoException): void => {
    if (isPipeEnd(error)) this.#isGone = true;
  };

  constructor(stream: Writable = process.stdout) {
    this.#stream = stream;
  }

  open(): void {
    this.#stream.on('error', this.#onError);
  }

  async write(chunk: Uint8Array): Promise<void> {
    if (this.#isGone) return;
    await new Promise<void>((resolve, reject) => {
      this.#stream.write(chunk, (error) => {
        if (!error) return resolve();
        if (!isPipeEnd(error)) return reject(error);
        this.#isGone = true;
        resolve();
      });
    });
  }

  async store(): Promise<void> {
    // The stream reports a lost reader once more after the write.
    if (!this.#isGone) this.#stream.off('error', this.#onError);
  }

  async abandon(): Promise<void> {
    await this.store();
  }
}

function isPipeEnd(error: NodeJS.ErrnoException): boolean {
  return error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED';
}
