import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';

import type { Crawler } from '../../crawler/crawler.ts';
import type { HttpCacheEntry, HttpCacheStorage } from './storage.ts';

const gzipLater = promisify(gzip);
const gunzipLater = promisify(gunzip);

/** One file a response: a line of JSON, then the body. Every spider has its own folder. */
export class FilesystemCacheStorage implements HttpCacheStorage {
  static fromCrawler({ settings, root, spider }: Crawler): FilesystemCacheStorage {
    // A name may hold what a path must not: `..`, `/`.
    const name = encodeURIComponent(spider.name).replaceAll('.', '%2E');
    const folder = resolve(root, settings.get('HTTPCACHE_DIR'), name);
    return new FilesystemCacheStorage(folder, settings.get('HTTPCACHE_GZIP'));
  }

  readonly #folder: string;
  readonly #isCompressed: boolean;
  /** Of temporary files: two of one key may be written at once. */
  #writes = 0;

  constructor(folder: string, isCompressed = false) {
    this.#folder = folder;
    this.#isCompressed = isCompressed;
  }

  /** @throws Error for a file that is damaged. */
  async retrieve(key: string): Promise<HttpCacheEntry | undefined> {
    let file: Buffer;
    try {
      file = await readFile(this.#path(key));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
    // By its first bytes: HTTPCACHE_GZIP may have been another when it was written.
    if (file[0] === 0x1f && file[1] === 0x8b) file = await gunzipLater(file);
    const end = file.indexOf(10);
    const { bytes, ...head } = JSON.parse(file.toString('utf8', 0, Math.max(0, end))) as Head;
    const body = file.subarray(end + 1);
    if (body.length !== bytes) throw new Error(`it has ${body.length} of ${bytes} bytes`);
    return { ...head, body };
  }

  async store(key: string, entry: HttpCacheEntry): Promise<void> {
    const { body, ...rest } = entry;
    const head: Head = { ...rest, bytes: body.length };
    const plain = Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), body]);
    const path = this.#path(key);
    const temporary = `${path}.${process.pid}-${this.#writes++}.tmp`;
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    try {
      // Pages of a session are nobody else's.
      await writeFile(temporary, this.#isCompressed ? await gzipLater(plain) : plain, {
        mode: 0o600,
      });
      await rename(temporary, path);
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
  }

  async remove(key: string): Promise<void> {
    await rm(this.#path(key), { force: true });
  }

  #path(key: string): string {
    return join(this.#folder, key.slice(0, 2), key);
  }
}

type Head = Omit<HttpCacheEntry, 'body'> & { readonly bytes: number };
