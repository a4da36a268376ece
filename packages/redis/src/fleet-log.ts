import { createHash } from 'node:crypto';
import { createWriteStream, type WriteStream } from 'node:fs';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** Logs of a job that stay on the machine. */
const keptLogs = 5;

/** @internal The log of one run: a file on this machine, and the lines that were not sent to Redis yet. */
export class RunLog {
  readonly #keep: number;
  readonly #file: WriteStream | undefined;
  #lines: string[] = [];
  #leftOut = 0;

  private constructor(keep: number, file: WriteStream | undefined) {
    this.#keep = keep;
    this.#file = file;
    // A full disk must not end the spiders.
    file?.on('error', () => {});
  }

  /** @param keep - Lines that may wait to be sent. */
  static async open(folder: string, job: string, attempt: number, keep: number): Promise<RunLog> {
    const own = join(folder, fileNameOf(job));
    try {
      await mkdir(own, { recursive: true });
      const number = (name: string): number => Number.parseInt(name, 10);
      const old = (await readdir(own)).toSorted((a, b) => number(b) - number(a));
      for (const name of old.slice(keptLogs - 1)) await rm(join(own, name), { force: true });
      return new RunLog(keep, createWriteStream(join(own, `${attempt}.log`), { flags: 'a' }));
    } catch {
      return new RunLog(keep, undefined);
    }
  }

  /** @param record - One line, or several: the stats are read down the page. */
  write(record: string): void {
    this.#file?.write(record);
    if (this.#keep === 0) return;
    this.#lines.push(...record.trimEnd().split('\n'));
    const tooMany = Math.max(0, this.#lines.length - this.#keep);
    this.#lines.splice(0, tooMany);
    this.#leftOut += tooMany;
  }

  /** What came since the last time. */
  take(): string[] {
    const lines = this.#lines;
    if (this.#leftOut > 0) lines.unshift(`(${this.#leftOut} lines are only in the file)`);
    this.#lines = [];
    this.#leftOut = 0;
    return lines;
  }

  close(): Promise<void> {
    return new Promise((done) => {
      if (this.#file === undefined || this.#file.destroyed) done();
      else this.#file.end(done).once('error', () => done());
    });
  }
}

/** @internal A job's name as that of a file. */
export function fileNameOf(job: string): string {
  const name = encodeURIComponent(job).replaceAll('.', '%2E');
  if (name.length <= 150) return name;
  return `${name.slice(0, 120)}-${createHash('sha256').update(job).digest('hex').slice(0, 16)}`;
}
