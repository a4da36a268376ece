import { type Postprocessing } from '../compression.ts';
import type { FeedEncoding, FeedPass, KeptRecords } from '../exporters/exporter.ts';
import type { FeedStorage } from './storage.ts';
export interface FileFeedStorageOptions {
  /** Keeps what the file has. */
  readonly append?: boolean;
  /** Goes on with the part that an earlier run of this job left. */
  readonly resume?: boolean;
  readonly format: string;
  readonly delimiter?: string;
  readonly encoding?: FeedEncoding;
  /** How the file is compressed, or will be; the part is plain. */
  readonly postprocessing?: readonly Postprocessing[];
}
/**
 * A local file. It is written as `<path>.part`, and gets its name when it is complete; what fails or is killed leaves
 * the part, of which every write was whole records.
 */
export declare class FileFeedStorage implements FeedStorage {
  #private;
  readonly name = 'FileFeedStorage';
  readonly location: string;
  constructor(path: string, options: FileFeedStorageOptions);
  /** The file while it is written. */
  get part(): string;
  open(): Promise<KeptRecords | undefined>;
  write(chunk: Uint8Array): Promise<void>;
  rewrite(passes: readonly FeedPass[]): Promise<void>;
  store(): Promise<void>;
  abandon(isEmpty: boolean): Promise<void>;
}
//# sourceMappingURL=file.d.ts.map
