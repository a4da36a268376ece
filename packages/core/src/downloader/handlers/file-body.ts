import { createWriteStream, mkdirSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { PassThrough, Transform, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

import { DownloadCancelledError, DownloadError, ResponseDataLossError } from '../../errors.ts';
import type { Request } from '../../http/request.ts';
import {
  type Coding,
  decoderFor,
  encodingsOf,
  takeKnown,
  TooLargeError,
} from '../middlewares/content-coding.ts';

/** Bytes that tell whether a body is encoded as its header says. */
const enough = 4;

/** What can be told to send no more for a while. */
export interface Source {
  pause?(): void;
  resume?(): void;
}

/** Writes a body beside its place and moves it there once it is whole. */
export class FileBody {
  readonly path: string;
  readonly #part: string;
  readonly #codings: readonly Coding[];
  readonly #limit: number;
  readonly #source: Source;
  readonly #onError: (error: Error) => void;
  /** The first bytes, until there are enough. */
  #head: Buffer = Buffer.alloc(0);
  #input: Writable | undefined;
  #written: Promise<void> | undefined;
  #bytes = 0;
  #isPaused = false;

  /**
   * @param codings - What is undone on the way, the outermost first.
   * @param limit - Decoded bytes; 0 is no limit.
   * @param onError - Called if it cannot be written or decoded, perhaps after `finish` too.
   * @throws Error where its folder cannot be made.
   */
  constructor(
    path: string,
    codings: readonly Coding[],
    limit: number,
    source: Source,
    onError: (error: Error) => void,
  ) {
    this.path = path;
    this.#part = `${path}.${process.pid}.part`;
    this.#codings = codings;
    this.#limit = limit;
    this.#source = source;
    this.#onError = onError;
    mkdirSync(dirname(path), { recursive: true });
  }

  /** Bytes in the file. */
  get bytes(): number {
    return this.#bytes;
  }

  /** True while the disk is what is waited for. */
  get isPaused(): boolean {
    return this.#isPaused;
  }

  write(chunk: Buffer): void {
    if (this.#input === undefined) {
      this.#head = Buffer.concat([this.#head, chunk]);
      if (this.#head.length < enough) return;
      this.#open().catch(this.#onError);
    } else this.#push(chunk);
  }

  /** Waits until all of it is on disk under its name. @throws Error if it cannot be written or decoded. */
  async finish(): Promise<void> {
    const written = this.#open();
    this.#input!.end();
    await written;
    await rename(this.#part, this.path);
  }

  /** Leaves nothing behind. */
  async discard(): Promise<void> {
    if (this.#input === undefined) return;
    this.#input.destroy();
    await this.#written?.catch(() => {});
    await rm(this.#part, { force: true });
  }

  #open(): Promise<void> {
    if (this.#written !== undefined) return this.#written;
    const input = new PassThrough();
    const decoders = this.#codings.flatMap((coding, i) => {
      const decoder = decoderFor(coding, i === 0 ? this.#head : undefined);
      return decoder === undefined ? [] : [decoder];
    });
    const file = createWriteStream(this.#part);
    this.#written = pipeline([input, ...decoders, this.#counter(), file]);
    this.#input = input;
    input.on('drain', () => {
      this.#isPaused = false;
      this.#source.resume?.();
    });
    if (this.#head.length > 0) this.#push(this.#head);
    this.#head = Buffer.alloc(0);
    return this.#written;
  }

  #push(chunk: Buffer): void {
    if (this.#input!.destroyed || this.#input!.write(chunk)) return;
    this.#isPaused = true;
    this.#source.pause?.();
  }

  #counter(): Transform {
    return new Transform({
      transform: (chunk: Buffer, _, done) => {
        this.#bytes += chunk.length;
        if (this.#limit && this.#bytes > this.#limit) done(new TooLargeError());
        else done(null, chunk);
      },
    });
  }
}

/**
 * What the body of `headers` is decoded by on its way to a file; the headers tell only the rest from then on.
 *
 * @param maxEncodings - Undefined decodes nothing.
 * @throws DownloadCancelledError for more encodings than that.
 */
export function takeCodings(
  request: Request,
  headers: Record<string, string | string[] | undefined>,
  maxEncodings: number | undefined,
): Coding[] {
  const names = encodingsOf([headers['content-encoding'] ?? []].flat());
  if (names.length === 0 || maxEncodings === undefined) return [];
  if (names.length > maxEncodings)
    throw new DownloadCancelledError(
      `The body of ${request.toString()} is encoded ${names.length} times, more than ${maxEncodings} (DOWNLOAD_MAX_ENCODINGS).`,
    );
  const codings = takeKnown(names);
  headers['content-encoding'] = names.length > 0 ? names.join(', ') : undefined;
  return codings;
}

/** Why a body could not be written. */
export function toFileError(error: Error, path: string, request: Request): Error {
  if (error instanceof DownloadError) return error;
  const what = request.toString();
  const options = { cause: error };
  // Another attempt would meet the same disk.
  if ('syscall' in error)
    return new DownloadCancelledError(
      `${what} cannot be written to ${path}: ${error.message}`,
      options,
    );
  return new ResponseDataLossError(
    `${what}: the body is damaged, it cannot be decompressed (${error.message}).`,
    undefined,
    options,
  );
}
