import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { UsageError } from '../errors.ts';

/** One file of a feed of many. */
export interface Batch {
  /** From 1. */
  readonly id: number;
  /** When it began, in microseconds since the epoch. */
  readonly micros: number;
}

interface Names {
  /** When the job began, in milliseconds since the epoch. */
  readonly time: number;
  /** By the URI of `FEEDS`, those that may not be stored yet; the latest is always there, and the last. */
  readonly batches: Record<string, readonly Batch[]>;
}

/**
 * What the names of a job's feeds are made of: `JOBDIR/feeds/names.json`. With it each run goes on with the files of the
 * one before. It is written when a batch has its part, not when the job is committed, for only so it is right after `kill -9`.
 */
export class JobNames {
  readonly #path: string;
  #names: Names;
  #writing: Promise<void> = Promise.resolve();

  private constructor(path: string, names: Names) {
    this.#path = path;
    this.#names = names;
  }

  /**
   * @param folder - `JOBDIR/feeds`.
   * @throws UsageError if the file cannot be read.
   */
  static async open(folder: string): Promise<JobNames> {
    const path = join(folder, 'names.json');
    const names = await read(path);
    if (names) return new JobNames(path, names);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const own = new JobNames(path, { time: Date.now(), batches: {} });
    await own.#write();
    return own;
  }

  get time(): Date {
    return new Date(this.#names.time);
  }

  /** What the run before has left: the latest batch, and earlier ones that were not stored by then. */
  batches(uri: string): readonly Batch[] {
    return Object.hasOwn(this.#names.batches, uri) ? this.#names.batches[uri]! : [];
  }

  /** A batch has begun. */
  async add(uri: string, batch: Batch): Promise<void> {
    const all = this.batches(uri);
    if (!all.some(({ id }) => id === batch.id)) await this.#set(uri, [...all, batch]);
  }

  /** A batch is stored. Of the latest it shows, for it has no part any more. */
  async remove(uri: string, batch: Batch): Promise<void> {
    const all = this.batches(uri);
    if (all.at(-1)?.id === batch.id) return;
    await this.#set(
      uri,
      all.filter(({ id }) => id !== batch.id),
    );
  }

  async #set(uri: string, batches: readonly Batch[]): Promise<void> {
    this.#names = { ...this.#names, batches: { ...this.#names.batches, [uri]: batches } };
    // One after the other: two feeds may begin a batch at once.
    await (this.#writing = this.#writing.then(() => this.#write()));
  }

  async #write(): Promise<void> {
    await writeFile(`${this.#path}.new`, JSON.stringify(this.#names), { flush: true });
    await rename(`${this.#path}.new`, this.#path);
  }
}

async function read(path: string): Promise<Names | undefined> {
  try {
    const { time, batches } = JSON.parse(await readFile(path, 'utf8')) as Partial<Names>;
    if (typeof time === 'number' && batches) return { time, batches };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
  }
  throw new UsageError(
    `${path} cannot be read, and it says how the feeds of the job are called. Start the job anew with: lycosa job clear`,
  );
}
