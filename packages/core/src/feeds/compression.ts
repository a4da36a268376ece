import { createReadStream } from 'node:fs';
import { type Duplex, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip, createZstdCompress, createZstdDecompress } from 'node:zlib';

import type { FeedPass } from './exporters/exporter.ts';

/** What a feed may be run through once it is complete. */
export type Postprocessing = 'gzip' | 'zstd';

/** Names of compressions by the end of a file name. */
export const compressionSuffixes: Readonly<Record<string, Postprocessing>> = {
  gz: 'gzip',
  zst: 'zstd',
};

/** A pass that compresses. */
export function compressPass(kind: Postprocessing): FeedPass {
  return (source) => through(source, kind === 'gzip' ? createGzip() : createZstdCompress());
}

/** The plain bytes of a file that was written with `postprocessing`. */
export function readPlain(
  path: string,
  postprocessing: readonly Postprocessing[],
): AsyncIterable<Uint8Array> {
  let bytes: AsyncIterable<Uint8Array> = createReadStream(path, { highWaterMark: 1 << 18 });
  for (const kind of postprocessing.toReversed()) {
    bytes = through(bytes, kind === 'gzip' ? createGunzip() : createZstdDecompress());
  }
  return bytes;
}

function through(source: AsyncIterable<Uint8Array>, coder: Duplex): AsyncIterable<Uint8Array> {
  // A failure destroys the coder with its error, so that whoever reads it sees it.
  pipeline(Readable.from(source), coder).catch(() => {});
  return coder;
}
