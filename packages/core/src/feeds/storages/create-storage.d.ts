import type { FeedOptions } from '../feed-options.ts';
import type { FeedStorage } from './storage.ts';
export interface StorageContext {
  /** Folder that relative paths are seen from. */
  readonly root: string;
  /** The crawl goes on with an earlier one. */
  readonly resume: boolean;
  /** Folder for feeds that are kept until they are complete. */
  readonly tempdir?: string | undefined;
  /** The feed may need a pass over all of it at the end. */
  readonly mayRewrite: boolean;
}
/**
 * The storage of a URI whose parameters are filled in: `-`, a path, `file://…`, or a scheme of `FEED_STORAGES`.
 *
 * @throws UsageError if no storage has that scheme.
 */
export declare function createStorage(
  uri: string,
  options: FeedOptions,
  context: StorageContext,
): FeedStorage;
//# sourceMappingURL=create-storage.d.ts.map
