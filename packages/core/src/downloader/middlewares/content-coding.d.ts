import type { MaybePromise } from '../middleware.ts';
/** True where this Node can decode zstd. */
export declare const hasZstd: boolean;
/** A content coding that can be undone. */
export type Coding = 'gzip' | 'deflate' | 'br' | 'zstd';
export interface Decoded {
  readonly body: Buffer;
  /** The compressed data ended early or was damaged: the body is what came before. */
  readonly isTruncated: boolean;
}
/** The decoded body would be larger than the limit. */
export declare class TooLargeError extends Error {}
/** The coding of a name in `Content-Encoding`, or undefined. */
export declare function codingOf(name: string): Coding | undefined;
/**
 * Undoes `codings`, the outermost first. A body that is not encoded, whatever its header says, stays as it is.
 *
 * @param limit - Bytes that any layer may have; 0 means any number.
 * @returns A promise only for bodies that take long.
 * @throws TooLargeError beyond the limit.
 */
export declare function decode(
  body: Buffer,
  codings: readonly Coding[],
  limit: number,
): MaybePromise<Decoded>;
//# sourceMappingURL=content-coding.d.ts.map
