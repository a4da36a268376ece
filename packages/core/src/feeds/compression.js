import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip, createZstdCompress, createZstdDecompress } from 'node:zlib';
/** Names of compressions by the end of a file name. */
export const compressionSuffixes = {
  gz: 'gzip',
  zst: 'zstd',
};
/** A pass that compresses. */
export function compressPass(kind) {
  return (source) => through(source, kind === 'gzip' ? createGzip() : createZstdCompress());
}
/** The plain bytes of a file that was written with `postprocessing`. */
export function readPlain(path, postprocessing) {
  let bytes = createReadStream(path, { highWaterMark: 1 << 18 });
  for (const kind of postprocessing.toReversed()) {
    bytes = through(bytes, kind === 'gzip' ? createGunzip() : createZstdDecompress());
  }
  return bytes;
}
function through(source, coder) {
  // A failure destroys the coder with its error, so that whoever reads it sees it.
  pipeline(Readable.from(source), coder).catch(() => {});
  return coder;
}
//# sourceMappingURL=compression.js.map
