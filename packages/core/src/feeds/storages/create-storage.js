import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

import { UsageError } from '../../errors.js';
import { FileFeedStorage } from './file.js';
import { SpooledFeedStorage } from './spooled.js';
import { StdoutFeedStorage } from './stdout.js';
/**
 * The storage of a URI whose parameters are filled in: `-`, a path, `file://…`, or a scheme of `FEED_STORAGES`.
 *
 * @throws UsageError if no storage has that scheme.
 */
export function createStorage(uri, options, context) {
  const storage = storageOf(uri, options, context);
  return context.mayRewrite && !storage.rewrite
    ? new SpooledFeedStorage(storage, context.tempdir)
    : storage;
}
function storageOf(uri, options, { root, resume }) {
  const { overwrite, format, postprocessing, exporterOptions, storages } = options;
  const scheme = /^([a-z][a-z\d+.-]+):/i.exec(uri)?.[1]?.toLowerCase();
  const Custom =
    scheme === undefined || !Object.hasOwn(storages, scheme) ? undefined : storages[scheme];
  if (Custom) return new Custom(uri, { overwrite, format, postprocessing });
  if (uri === '-' || uri === 'stdout:') return new StdoutFeedStorage();
  if (scheme !== undefined && scheme !== 'file' && uri.startsWith('//', scheme.length + 1)) {
    throw new UsageError(
      `No storage takes ${scheme}: feeds such as ${uri}. Use a path or -, or set FEED_STORAGES.`,
    );
  }
  const path = uri.startsWith('file:') ? fileURLToPath(uri) : resolve(root, uri);
  return new FileFeedStorage(path, {
    append: !overwrite,
    resume,
    format,
    postprocessing,
    delimiter: exporterOptions.delimiter,
    encoding: exporterOptions.encoding,
  });
}
//# sourceMappingURL=create-storage.js.map
