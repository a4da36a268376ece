import { constants, createReadStream, createWriteStream } from 'node:fs';
import {
  copyFile,
  type FileHandle,
  mkdir,
  open,
  readdir,
  realpath,
  rename,
  rm,
  stat,
  unlink,
} from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

import { UsageError } from '../../errors.ts';
import { type Postprocessing, readPlain } from '../compression.ts';
import type { FeedEncoding, FeedPass, KeptRecords } from '../exporters/exporter.ts';
import { parquetLines } from '../exporters/parquet-file.ts';
import { scanRecords } from '../records.ts';
import type { FeedStorage } from './storage.ts';

export interface FileFeedStorageOptions {
  /** Keeps what the file has. */
  readonly append?: boolean;
  /** Goes on with the part that an earlier run of this job left. */
  readonly resume?: boolean;
  /** The file, where there is no part of it, was finished by an earlier run of this job and is added to. */
  readonly isLaterRun?: boolean;
  /** Part of the name of the part, so that two runs of one job never write to the same. */
  readonly attempt?: number;
  readonly format: string;
  readonly delimiter?: string;
  readonly encoding?: FeedEncoding;
  /** How the file is compressed, or will be; the part is plain. */
  readonly postprocessing?: readonly Postprocessing[];
}

/** Formats that can be written on after their end. */
const APPENDABLE = new Set(['jsonlines', 'jsonl', 'jl', 'csv']);

/** Parts that this process writes to: two crawls in one file would destroy each other's records. */
const openParts = new Set<string>();

/**
 * A local file. It is written as `<path>.part`, and gets its name when it is complete; what fails or is killed leaves
 * the part, of which every write was whole records.
 */
export class FileFeedStorage implements FeedStorage {
  readonly name = 'FileFeedStorage';
  readonly location: string;
  readonly #options: FileFeedStorageOptions;
  #path: string;
  #handle: FileHandle | undefined;
  #bytes = 0;
  #isMine = false;
  /** Records that no other file has. */
  #hasLeftover = false;

  constructor(path: string, options: FileFeedStorageOptions) {
    this.location = path;
    this.#path = path;
    this.#options = options;
  }

  /** The file while it is written. */
  get part(): string {
    const { attempt } = this.#options;
    return `${this.#path}${attempt === undefined ? '' : `.attempt-${attempt}`}.part`;
  }

  async hasPart(): Promise<boolean> {
    return (await stat(this.part).catch(ifMissing)) !== undefined;
  }

  async open(): Promise<KeptRecords | undefined> {
    const old = await stat(this.#path).catch(ifMissing);
    if (old?.isDirectory()) throw new UsageError(`It is a folder. Name a file in it.`);
    if (old && !old.isFile())
      throw new UsageError(`It is no regular file. Use - for standard output.`);
    // The file a link points to is replaced, not the link.
    if (old) this.#path = await realpath(this.#path);
    await makeFolder(dirname(this.#path));
    if (openParts.has(this.part)) {
      throw new UsageError(
        `Another crawl of this process writes to it. Give each its own file, as in %(name)s.jsonl.`,
      );
    }
    openParts.add(this.part);
    this.#isMine = true;
    try {
      return await this.#open(old !== undefined && old.size > 0);
    } catch (error) {
      await this.#close();
      throw error;
    }
  }

  async write(chunk: Uint8Array): Promise<void> {
    const handle = this.#handle!;
    try {
      for (let done = 0; done < chunk.length;) {
        const { bytesWritten } = await handle.write(
          chunk,
          done,
          chunk.length - done,
          this.#bytes + done,
        );
        done += bytesWritten;
      }
    } catch (error) {
      // A full disk may have taken half of a record.
      await handle.truncate(this.#bytes).catch(() => {});
      throw error;
    }
    this.#bytes += chunk.length;
  }

  async rewrite(passes: readonly FeedPass[]): Promise<void> {
    let bytes: AsyncIterable<Uint8Array> = createReadStream(this.part, { highWaterMark: 1 << 18 });
    for (const pass of passes) bytes = pass(bytes);
    const second = `${this.part}2`;
    try {
      await pipeline(Readable.from(bytes), createWriteStream(second, { flush: true }));
      await rename(second, this.part);
    } catch (error) {
      await rm(second, { force: true });
      throw error;
    }
    await this.#handle?.close();
    this.#handle = await open(this.part, 'r+');
  }

  async store(): Promise<void> {
    await this.#handle!.datasync();
    const mine = await this.#handle!.stat();
    const there = await stat(this.part);
    if (mine.ino !== there.ino)
      throw new Error(
        `${this.part} was replaced while it was written: another crawl uses the same file.`,
      );
    await rename(this.part, this.#path);
    await this.#close();
    if (this.#options.attempt !== undefined) await this.#removeEarlier(this.#options.attempt);
  }

  async abandon(isEmpty: boolean): Promise<void> {
    const hadOpened = this.#handle !== undefined;
    await this.#close();
    if (isEmpty && hadOpened && !this.#hasLeftover) await unlink(this.part).catch(ifMissing);
  }

  /** Parts of runs that were killed. */
  async #removeEarlier(attempt: number): Promise<void> {
    const begin = `${basename(this.#path)}.attempt-`;
    for (const name of await readdir(dirname(this.#path))) {
      const number = /^\d+(?=\.part$)/.exec(name.startsWith(begin) ? name.slice(begin.length) : '');
      if (number && Number(number[0]) < attempt)
        await unlink(join(dirname(this.#path), name)).catch(ifMissing);
    }
  }

  async #open(hasOld: boolean): Promise<KeptRecords | undefined> {
    const { append = false, resume = false, format, postprocessing = [] } = this.#options;
    const isAppendable = APPENDABLE.has(format);
    const leftover = await stat(this.part).catch(ifMissing);
    if (leftover && leftover.size > 0 && (append || resume)) {
      if (append && hasOld && !(await this.#continues(postprocessing))) {
        throw new UsageError(
          `${this.part} has records of a crawl that did not end and that replaced the file. Keep them with: lycosa feed repair ${this.part}. Or delete it.`,
        );
      }
      this.#hasLeftover = true;
      return this.#keep(false);
    }
    // With a part, even an empty one, the file is older than this job and is what -O replaces.
    const isOurs = this.#options.isLaterRun === true && leftover === undefined;
    if ((append || isOurs) && hasOld) {
      if (!isAppendable && !isOurs) {
        throw new UsageError(
          `It exists, and nothing can be appended to a file of format ${format}. Replace it with -O (overwrite: true), or use jsonl.`,
        );
      }
      if (format === 'parquet')
        await pipeline(Readable.from(parquetLines(this.#path)), createWriteStream(this.part));
      else if (postprocessing.length > 0)
        await pipeline(
          Readable.from(readPlain(this.#path, postprocessing)),
          createWriteStream(this.part),
        );
      else await copyFile(this.#path, this.part, constants.COPYFILE_FICLONE);
      // The end of a JSON or XML file is cut off like that of a part, and written again at the end.
      return this.#keep(isAppendable);
    }
    this.#handle = await open(this.part, 'w');
    return undefined;
  }

  /** Opens the part at the end of its last whole record. `isWhole`: it is a finished file, of which nothing is cut off. */
  async #keep(isWhole: boolean): Promise<KeptRecords | undefined> {
    const kept = await scanRecords(this.part, this.#options.format, {
      isWhole,
      delimiter: this.#options.delimiter,
      encoding: this.#options.encoding,
    });
    this.#handle = await open(this.part, 'r+');
    await this.#handle.truncate(kept.end);
    this.#bytes = kept.end;
    if (kept.needsLineEnd) await this.write(Buffer.from('\n'));
    return kept.end > 0 ? kept : undefined;
  }

  /** Whether the part begins with all of the file, as one does that was opened to append. */
  async #continues(postprocessing: readonly Postprocessing[]): Promise<boolean> {
    const part = await open(this.part);
    try {
      let at = 0;
      for await (const chunk of readPlain(this.#path, postprocessing)) {
        const { buffer, bytesRead } = await part.read(
          Buffer.alloc(chunk.length),
          0,
          chunk.length,
          at,
        );
        if (bytesRead < chunk.length || Buffer.compare(buffer, chunk) !== 0) return false;
        at += chunk.length;
      }
      return true;
    } finally {
      await part.close();
    }
  }

  async #close(): Promise<void> {
    if (this.#isMine) openParts.delete(this.part);
    this.#isMine = false;
    const handle = this.#handle;
    this.#handle = undefined;
    await handle?.close();
  }
}

function ifMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}

/** Makes a folder and those above it. Node's own `recursive` never ends where the system takes no folders (`/proc`). */
async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return;
    if (code !== 'ENOENT' || dirname(path) === path) throw error;
    await makeFolder(dirname(path));
    await mkdir(path).catch(ifExists);
  }
}

function ifExists(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}
