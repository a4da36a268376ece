import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

import { UsageError } from '../../errors.ts';
import type { FeedOptions } from '../feed-options.ts';
import { FileFeedStorage } from './file.ts';
import type { S3Settings } from './s3-client.ts';
import { S3FeedStorage } from './s3.ts';
import { SpooledFeedStorage } from './spooled.ts';
import { StdoutFeedStorage } from './stdout.ts';
import type { FeedStorage } from './storage.ts';

export interface StorageContext {
  /** Folder that relative paths are seen from. */
  readonly root: string;
  /** The crawl goes on with an earlier one. */
  readonly resume: boolean;
  /** An earlier run of this job may have finished the feed. */
  readonly isLaterRun: boolean;
  /** Which run of its job writes the feed, in a fleet. */
  readonly attempt?: number;
  /** Folder for feeds that are kept until they are complete. */
  readonly tempdir?: string | undefined;
  /** Folder of the job, for parts of feeds that are elsewhere once they are complete. */
  readonly jobFolder?: string;
  /** How an object store is reached. */
  readonly s3: () => S3Settings;
  /** The feed may need a pass over all of it at the end. */
  readonly mayRewrite: boolean;
}

/**
 * The storage of a URI whose parameters are filled in: `-`, a path, `file://…`, `s3://…`, or a scheme of `FEED_STORAGES`.
 *
 * @throws UsageError if no storage has that scheme.
 */
export function createStorage(
  uri: string,
  options: FeedOptions,
  context: StorageContext,
): FeedStorage {
  const storage = storageOf(uri, options, context);
  return context.mayRewrite && !storage.rewrite
    ? new SpooledFeedStorage(storage, context.tempdir)
    : storage;
}

function storageOf(
  uri: string,
  options: FeedOptions,
  { root, resume, isLaterRun, attempt, tempdir, jobFolder, s3 }: StorageContext,
): FeedStorage {
  const { overwrite, format, postprocessing, exporterOptions, storages } = options;
  const scheme = /^([a-z][a-z\d+.-]+):/i.exec(uri)?.[1]?.toLowerCase();
  const Custom =
    scheme === undefined || !Object.hasOwn(storages, scheme) ? undefined : storages[scheme];
  if (Custom) return new Custom(uri, { overwrite, format, postprocessing });
  if (uri === '-' || uri === 'stdout:') return new StdoutFeedStorage();
  const file = {
    append: !overwrite,
    resume,
    isLaterRun,
    ...(attempt !== undefined && { attempt }),
    format,
    postprocessing,
    delimiter: exporterOptions.delimiter,
    encoding: exporterOptions.encoding,
  };
  if (scheme === 's3')
    return new S3FeedStorage(uri, { ...file, s3: s3(), tempdir, ...(jobFolder && { jobFolder }) });
  if (scheme !== undefined && scheme !== 'file' && uri.startsWith('//', scheme.length + 1)) {
    throw new UsageError(
      `No storage takes ${scheme}: feeds such as ${uri}. Use a path, s3:, or -, or set FEED_STORAGES.`,
    );
  }
  return new FileFeedStorage(
    uri.startsWith('file:') ? fileURLToPath(uri) : resolve(root, uri),
    file,
  );
}
