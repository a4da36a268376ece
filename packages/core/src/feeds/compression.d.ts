import type { FeedPass } from './exporters/exporter.ts';
/** What a feed may be run through once it is complete. */
export type Postprocessing = 'gzip' | 'zstd';
/** Names of compressions by the end of a file name. */
export declare const compressionSuffixes: Readonly<Record<string, Postprocessing>>;
/** A pass that compresses. */
export declare function compressPass(kind: Postprocessing): FeedPass;
/** The plain bytes of a file that was written with `postprocessing`. */
export declare function readPlain(
  path: string,
  postprocessing: readonly Postprocessing[],
): AsyncIterable<Uint8Array>;
//# sourceMappingURL=compression.d.ts.map
