import type { FeedEncoding } from './exporters/exporter.ts';

/**
 * Records that wait to be written. They are kept apart: to make one string of them costs V8 several times what it
 * takes to encode them.
 */
export class PendingText {
  /** Characters. */
  length = 0;
  #records: string[] = [];

  push(record: string): void {
    if (record === '') return;
    this.#records.push(record);
    this.length += record.length;
  }

  /** All of it, which waits no longer. */
  take(encoding: FeedEncoding): Uint8Array {
    // The most that UTF-8 takes for one UTF-16 unit; what is not written to costs nothing.
    const bytes = Buffer.allocUnsafe(this.length * (encoding === 'utf-8' ? 3 : 1));
    let size = 0;
    for (const record of this.#records) size += bytes.write(record, size, encoding);
    this.clear();
    return bytes.subarray(0, size);
  }

  clear(): void {
    this.#records = [];
    this.length = 0;
  }
}
