import zlib from 'node:zlib';

import type { MaybePromise } from '../middleware.ts';

/** True where this Node can decode zstd. */
export const hasZstd: boolean = typeof zlib.createZstdDecompress === 'function';

/** A content coding that can be undone. */
export type Coding = 'gzip' | 'deflate' | 'br' | 'zstd';

export interface Decoded {
  readonly body: Buffer;
  /** The compressed data ended early or was damaged: the body is what came before. */
  readonly isTruncated: boolean;
}

/** The decoded body would be larger than the limit. */
export class TooLargeError extends Error {}

/** Bodies of more decoded bytes are decoded one at a time: many bombs at once take no more memory than one. */
const largeOutput = 4 * 1024 * 1024;
/** Settled when no large body is being decoded. */
let largeTurn: Promise<void> = Promise.resolve();

/** Up to this many bytes are decoded at once; more would hold up the loop. */
const syncInput = 64 * 1024;
/** What such a body may become before it is done in the background instead. */
const syncOutput = 1024 * 1024;

/** The coding of a name in `Content-Encoding`, or undefined. */
function codingOf(name: string | undefined): Coding | undefined {
  if (name === 'gzip' || name === 'x-gzip') return 'gzip';
  if (name === 'deflate' || name === 'x-deflate') return 'deflate';
  if (name === 'br') return 'br';
  return name === 'zstd' && hasZstd ? 'zstd' : undefined;
}

/** The encodings that `Content-Encoding` lists, the innermost first. */
export function encodingsOf(values: readonly string[]): string[] {
  return values
    .flatMap((value) => value.toLowerCase().split(','))
    .map((name) => name.trim())
    .filter((name) => name !== '' && name !== 'identity');
}

/** Takes from the end of `names` what can be undone. What we do not know, and what lies below it, stays. */
export function takeKnown(names: string[]): Coding[] {
  const codings: Coding[] = [];
  for (let coding = codingOf(names.at(-1)); coding !== undefined; coding = codingOf(names.at(-1))) {
    codings.push(coding);
    names.pop();
  }
  return codings;
}

/**
 * Undoes `codings`, the outermost first. A body that is not encoded, whatever its header says, stays as it is.
 *
 * @param limit - Bytes that any layer may have; 0 means any number.
 * @param mayTruncate - Whether a body that is larger is cut.
 * @returns A promise only for bodies that take long.
 * @throws TooLargeError beyond the limit.
 */
export function decode(
  body: Buffer,
  codings: readonly Coding[],
  limit: number,
  mayTruncate = false,
): MaybePromise<Decoded> {
  let current = body;
  for (let i = 0; i < codings.length; i++) {
    const done = decodeNow(current, codings[i]!, limit, mayTruncate);
    if (done === undefined) return decodeRest(current, codings.slice(i), limit, mayTruncate);
    current = done;
  }
  return { body: current, isTruncated: false };
}

async function decodeRest(
  body: Buffer,
  codings: readonly Coding[],
  limit: number,
  mayTruncate: boolean,
): Promise<Decoded> {
  let current = body;
  let isTruncated = false;
  for (const coding of codings) {
    const done = await decodeLater(current, coding, limit, mayTruncate);
    current = done.body;
    isTruncated ||= done.isTruncated;
  }
  return { body: current, isTruncated };
}

/** Undefined where it takes long or goes wrong. */
function decodeNow(
  body: Buffer,
  coding: Coding,
  limit: number,
  mayTruncate: boolean,
): Buffer | undefined {
  const format = formatOf(body, coding);
  if (format === undefined) return body;
  if (body.length > syncInput) return undefined;
  const maxOutputLength = limit ? Math.min(limit, syncOutput) : syncOutput;
  try {
    return formats[format].now(body, { maxOutputLength, chunkSize: 64 * 1024 });
  } catch (error) {
    if (isTooLarge(error) && limit && limit <= syncOutput && !mayTruncate)
      throw new TooLargeError();
    return undefined;
  }
}

function decodeLater(
  body: Buffer,
  coding: Coding,
  limit: number,
  mayTruncate: boolean,
): Promise<Decoded> {
  const format = formatOf(body, coding);
  if (format === undefined) return Promise.resolve({ body, isTruncated: false });
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    let endTurn: (() => void) | undefined;
    const stream = formats[format].stream({ chunkSize: 64 * 1024 });
    const takeTurn = (): void => {
      const before = largeTurn;
      largeTurn = new Promise((end) => (endTurn = end));
      stream.pause();
      void before.then(() => stream.resume());
    };
    stream.on('close', () => endTurn?.());
    stream.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > largeOutput && endTurn === undefined) takeTurn();
      if (!limit || bytes <= limit) return;
      if (mayTruncate)
        resolve({ body: Buffer.concat(chunks).subarray(0, limit), isTruncated: true });
      chunks.length = 0;
      stream.destroy(new TooLargeError());
    });
    stream.on('end', () => resolve({ body: Buffer.concat(chunks, bytes), isTruncated: false }));
    stream.on('error', (error) => {
      if (error instanceof TooLargeError) reject(error);
      // Without a word of output it was never encoded.
      else if (bytes === 0)
        resolve({
          body: looksEncoded(body, coding) ? Buffer.alloc(0) : body,
          isTruncated: looksEncoded(body, coding),
        });
      else resolve({ body: Buffer.concat(chunks, bytes), isTruncated: true });
    });
    // The last bytes that did come are wanted even if the end is missing.
    stream.write(body);
    stream.flush(() => stream.end());
  });
}

/**
 * A stream that undoes `coding`.
 *
 * @param start - First bytes of the body: undefined comes back if they are not encoded, whatever the header says.
 */
export function decoderFor(coding: Coding, start?: Buffer): NodeJS.ReadWriteStream | undefined {
  const usual = coding === 'deflate' ? 'zlib' : coding;
  const format = start === undefined ? usual : formatOf(start, coding);
  return format && formats[format].stream({ chunkSize: 64 * 1024 });
}

interface Options {
  readonly maxOutputLength?: number;
  readonly chunkSize: number;
}

type Stream = NodeJS.ReadWriteStream & {
  destroy(error: Error): unknown;
  flush(done: () => void): void;
};

interface Format {
  now(body: Buffer, options: Options): Buffer;
  stream(options: Options): Stream;
}

const formats: Readonly<Record<'gzip' | 'zlib' | 'raw' | 'br' | 'zstd', Format>> = {
  gzip: { now: (body, options) => zlib.gunzipSync(body, options), stream: zlib.createGunzip },
  zlib: { now: (body, options) => zlib.inflateSync(body, options), stream: zlib.createInflate },
  raw: {
    now: (body, options) => zlib.inflateRawSync(body, options),
    stream: zlib.createInflateRaw,
  },
  br: {
    now: (body, options) => zlib.brotliDecompressSync(body, options),
    stream: zlib.createBrotliDecompress,
  },
  zstd: {
    now: (body, options) => zlib.zstdDecompressSync(body, options),
    stream: (options) => zlib.createZstdDecompress(options),
  },
};

/** What the body really is, by its first bytes; undefined where it is plain. */
function formatOf(body: Buffer, coding: Coding): keyof typeof formats | undefined {
  if (body.length === 0) return undefined;
  if (coding === 'deflate') {
    // The standard says zlib, some servers send what is inside it (RFC 9110 §8.4.1.2).
    return isZlib(body) ? 'zlib' : 'raw';
  }
  if (coding === 'br') return 'br';
  return looksEncoded(body, coding) ? coding : undefined;
}

function looksEncoded(body: Buffer, coding: Coding): boolean {
  if (coding === 'gzip') return body[0] === 0x1f && body[1] === 0x8b;
  if (coding === 'zstd') return body.length >= 4 && body.readUInt32LE(0) === 0xfd2fb528;
  return coding === 'deflate' && isZlib(body);
}

function isZlib(body: Buffer): boolean {
  return body.length > 1 && (body[0]! & 0x0f) === 8 && ((body[0]! << 8) | body[1]!) % 31 === 0;
}

function isTooLarge(error: unknown): boolean {
  return (error as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE';
}
