import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once as onceOf } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';

import { startSite } from '@lycosa/site';
import {
  type Crawler,
  type Failure,
  Request,
  type RequestMeta,
  type Response,
  Spider,
  type SpiderClass,
  type SpiderOutput,
  StopDownload,
} from 'lycosa';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { startRaw } from './raw-server.ts';
import { crawl } from './scrape.ts';

const once = { RETRY_ENABLED: false, DOWNLOAD_TIMEOUT: 20 };
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lycosa-to-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Downloads `url` to a file of the folder. */
function to(url: string, name = 'sub/file.bin', meta: RequestMeta = {}): SpiderClass {
  return class To extends Spider {
    static override readonly name = 'to';
    override start(): SpiderOutput {
      const downloadTo = join(folder, name);
      return [new Request(url, { meta: { downloadTo, ...meta }, errback: this.onError })];
    }
    override parse(response: Response): SpiderOutput {
      const { status, path, body, flags } = response;
      return { status, path, inMemory: body.length, flags: [...flags], isText: response.isText };
    }
    onError({ error, response }: Failure): SpiderOutput {
      return { error: error.name, message: error.message, path: response?.path };
    }
  };
}

const files = (): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => entry.name);
const read = (name = 'sub/file.bin'): Buffer => readFileSync(join(folder, name));

test('a body goes to its file while it comes, and the response says where', async () => {
  const chunk = Buffer.alloc(1_048_576, 'x');
  const count = 20;
  await using site = await startSite({
    '/': async (_, __, res) => {
      res.writeHead(200, { 'content-type': 'text/html', 'content-length': chunk.length * count });
      for (let i = 0; i < count; i++)
        if (!res.write(chunk)) await new Promise((resolve) => res.once('drain', resolve));
      res.end();
    },
  });
  const { items, result } = await crawl(to(`${site.url}/`), { ...once, DOWNLOAD_MAXSIZE: 0 });
  expect(items).toEqual([
    { status: 200, path: join(folder, 'sub/file.bin'), inMemory: 0, flags: [], isText: false },
  ]);
  expect(read().length).toBe(chunk.length * count);
  expect(files()).toEqual(['file.bin']);
  expect(result.stats['downloader/response_bytes']).toBeGreaterThan(chunk.length * count);
});

test('a disk that takes its time makes the server wait, which is no idle server', async () => {
  const size = 60_000_000;
  const pipe = join(folder, `pipe.${process.pid}.part`);
  if (spawnSync('mkfifo', [pipe]).status !== 0) return;
  let ahead = 0;
  await using server = await startRaw((socket) => {
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${size}\r\n\r\n`);
    socket.write(Buffer.alloc(size));
    setTimeout(() => (ahead = socket.bytesWritten - socket.writableLength), 500);
  });
  // Nobody reads what is written before that.
  const reader = spawn('sh', ['-c', `sleep 0.8; wc -c < '${pipe}'`], { stdio: 'pipe' });
  // Now: what nobody listens to is gone when the reader ends.
  const counted = onceOf(reader.stdout, 'data');
  const { items } = await crawl(to(server.url, 'pipe'), { ...once, DOWNLOAD_IDLE_TIMEOUT: 0.3 });
  expect(items).toMatchObject([{ path: join(folder, 'pipe') }]);
  const [count] = (await counted) as [Buffer];
  expect(Number(count)).toBe(size);
  expect(ahead).toBeLessThan(size / 2);
});

test('a compressed body is decoded on the way, a lying or unknown label is not taken at its word', async () => {
  const text = 'a line of text\n'.repeat(20_000);
  await using site = await startSite({
    '/gzip': { headers: { 'content-encoding': 'gzip' }, body: gzipSync(text) },
    '/stacked': {
      headers: { 'content-encoding': 'gzip, br' },
      body: brotliCompressSync(gzipSync(text)),
    },
    '/lie': { headers: { 'content-encoding': 'gzip' }, body: text },
    '/odd': { headers: { 'content-encoding': 'odd' }, body: text },
    '/empty': { headers: { 'content-encoding': 'gzip' }, body: '' },
  });
  for (const path of ['/gzip', '/stacked', '/lie', '/odd', '/empty']) {
    const { items } = await crawl(to(site.url + path, path.slice(1)), once);
    expect(items).toMatchObject([{ status: 200, path: join(folder, path.slice(1)) }]);
    expect(read(path.slice(1)).toString()).toBe(path === '/empty' ? '' : text);
  }
});

test('a bomb is stopped at DOWNLOAD_MAXSIZE of decoded bytes, and leaves no file', async () => {
  const bomb = gzipSync(Buffer.alloc(50_000_000));
  await using site = await startSite({
    '/': { headers: { 'content-encoding': 'gzip' }, body: bomb },
    '/plain': { body: Buffer.alloc(2_000_000) },
  });
  for (const path of ['/', '/plain']) {
    const { items, result } = await crawl(to(site.url + path), {
      ...once,
      DOWNLOAD_MAXSIZE: 1_000_000,
    });
    expect(items).toMatchObject([
      { error: 'DownloadCancelledError', message: expect.stringContaining('DOWNLOAD_MAXSIZE') },
    ]);
    expect(result.stats['security/blocked/DOWNLOAD_MAXSIZE']).toBe(1);
    expect(files()).toEqual([]);
  }
});

test('a short body leaves no file, and one where data loss is allowed', async () => {
  await using server = await startRaw((socket) =>
    socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly these'),
  );
  const { items } = await crawl(to(server.url), once);
  expect(items).toMatchObject([{ error: 'ResponseDataLossError' }]);
  expect(files()).toEqual([]);
  const kept = await crawl(to(server.url), { ...once, DOWNLOAD_FAIL_ON_DATALOSS: false });
  expect(kept.items).toMatchObject([{ flags: ['dataloss'], path: join(folder, 'sub/file.bin') }]);
  expect(read().toString()).toBe('only these');
});

test('a damaged compressed body is data loss, and leaves no file', async () => {
  const body = gzipSync(createHash('sha256').update('x').digest('hex').repeat(1000));
  const damaged = Buffer.from(body);
  damaged.fill(0, 40, 60);
  await using site = await startSite({
    '/cut': { headers: { 'content-encoding': 'gzip' }, body: body.subarray(0, body.length - 20) },
    '/damaged': { headers: { 'content-encoding': 'gzip' }, body: damaged },
  });
  for (const path of ['/cut', '/damaged']) {
    const { items } = await crawl(to(site.url + path), once);
    expect(items).toMatchObject([{ error: 'ResponseDataLossError' }]);
    expect(files()).toEqual([]);
  }
});

test('redirects and retries come before the file; an error page is no file', async () => {
  let count = 0;
  await using site = await startSite({
    '/': { status: 302, headers: { location: '/next' }, body: 'moved' },
    '/next': () => (++count < 3 ? { status: 503, body: 'busy' } : { body: 'whole' }),
    '/gone': { status: 404, body: 'not here' },
  });
  const { items } = await crawl(to(`${site.url}/`), { RETRY_TIMES: 5 });
  expect(items).toMatchObject([{ status: 200, path: join(folder, 'sub/file.bin') }]);
  expect(read().toString()).toBe('whole');
  const { items: gone } = await crawl(to(`${site.url}/gone`, 'gone'), {
    ...once,
    HTTPERROR_ALLOW_ALL: true,
  });
  expect(gone).toMatchObject([{ status: 404, inMemory: 8 }]);
  expect(files()).toEqual(['file.bin']);
});

test('a failed attempt leaves the file of an earlier run as it is', async () => {
  let isDown = false;
  await using server = await startRaw((socket) =>
    socket.end(`HTTP/1.1 200 OK\r\nContent-Length: ${isDown ? 99 : 3}\r\n\r\none`),
  );
  await crawl(to(server.url), once);
  isDown = true;
  const { items } = await crawl(to(server.url), once);
  expect(items).toMatchObject([{ error: 'ResponseDataLossError' }]);
  expect(read().toString()).toBe('one');
});

test('a disk that cannot be written is said, and not tried again', async () => {
  await using site = await startSite({ '/': 'body', '/b': 'body' });
  mkdirSync(join(folder, 'taken'));
  const { items, result } = await crawl(to(`${site.url}/`, 'taken'), { RETRY_TIMES: 2 });
  expect(items).toMatchObject([
    {
      error: 'DownloadCancelledError',
      message: expect.stringMatching(/cannot be written to .*taken: EISDIR/),
    },
  ]);
  expect(result.stats['retry/count']).toBeUndefined();
  expect(files()).toEqual([]);
  await crawl(to(`${site.url}/`, 'file'), once);
  const below = await crawl(to(`${site.url}/b`, 'file/below'), once);
  expect(below.items).toMatchObject([{ error: 'DownloadCancelledError' }]);
  expect(files()).toEqual(['file']);
});

test('a download that is stopped leaves no file', async () => {
  await using site = await startSite({ '/': { body: Buffer.alloc(500_000, 'x') } });
  class Stop {
    static fromCrawler({ signals }: Crawler): Stop {
      signals.connect('bytes_received', () => {
        throw new StopDownload(false);
      });
      return new Stop();
    }
  }
  const { items } = await crawl(to(`${site.url}/`), { ...once, EXTENSIONS: [[Stop, 0]] });
  expect(items).toMatchObject([{ flags: ['download_stopped'] }]);
  expect(files()).toEqual([]);
});

test('a crawl that is stopped at once leaves no file', async () => {
  await using server = await startRaw((socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\nstart');
  });
  class Cut {
    static fromCrawler(crawler: Crawler): Cut {
      crawler.signals.connect('bytes_received', () => crawler.stop('fast'));
      return new Cut();
    }
  }
  await crawl(to(server.url), { ...once, EXTENSIONS: [[Cut, 0]] });
  expect(existsSync(join(folder, 'sub/file.bin'))).toBe(false);
  expect(files()).toEqual([]);
});

test('the HTTP cache stands aside', async () => {
  await using site = await startSite({ '/': 'body' });
  const settings = { ...once, HTTPCACHE_ENABLED: true, HTTPCACHE_DIR: join(folder, 'cache') };
  for (const name of ['one', 'two']) {
    const { items } = await crawl(to(`${site.url}/`, name), settings);
    expect(items).toMatchObject([{ path: join(folder, name), flags: [] }]);
  }
  expect(site.hits('/')).toBe(2);
  expect(files().toSorted()).toEqual(['one', 'two']);
});
