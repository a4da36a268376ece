import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, statSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { type Reply, startSite } from '@lycosa/site';
import {
  Request,
  type Response,
  type SettingsInput,
  Spider,
  type SpiderClass,
  type SpiderOutput,
} from 'lycosa';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { crawl, pageSpider } from './scrape.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lycosa-cache-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const settings = (more: SettingsInput = {}): SettingsInput => ({
  HTTPCACHE_ENABLED: true,
  HTTPCACHE_DIR: folder,
  RETRY_ENABLED: false,
  ...more,
});
const rfc = (more: SettingsInput = {}): SettingsInput =>
  settings({ HTTPCACHE_POLICY: 'rfc', ...more });

/** Tells status, text and flags of the page it asks for with `headers`. */
function asking(url: string, headers: Record<string, string> = {}, dontCache = false): SpiderClass {
  return class Asking extends Spider {
    static override readonly name = 'page';
    override start(): SpiderOutput {
      return [new Request(url, { headers, meta: { dontCache }, errback: this.onError })];
    }
    override parse(response: Response): SpiderOutput {
      return { status: response.status, text: response.text, flags: [...response.flags] };
    }
    onError({ error }: { error: Error }): SpiderOutput {
      return { error: error.name };
    }
  };
}

const filesIn = (path: string): string[] =>
  readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

test('a second crawl asks the server for nothing, and its responses are no downloads', async () => {
  await using site = await startSite({ '/': '<p>one', '/b': { status: 404, body: 'two' } });
  const urls = [`${site.url}/`, `${site.url}/b`];
  const options = settings({ HTTPERROR_ALLOW_ALL: true });
  const first = await crawl(pageSpider(urls), options);
  const before = site.requests.length;
  const second = await crawl(pageSpider(urls), options);
  expect(second.items.length).toBe(2);
  expect(second.items).toEqual(expect.arrayContaining(first.items));
  expect(site.requests.length).toBe(before);
  expect(first.result.stats).toMatchObject({
    'httpcache/miss': 2,
    'httpcache/firsthand': 2,
    'httpcache/store': 2,
  });
  expect(second.result.stats).toMatchObject({ 'httpcache/hit': 2 });
  expect(second.result.stats['httpcache/miss']).toBeUndefined();
  for (const file of filesIn(folder)) expect(statSync(file).mode & 0o077).toBe(0);
});

test('a cached response has its flag, and passes decompression as it did at first', async () => {
  const { gzipSync } = await import('node:zlib');
  await using site = await startSite({
    '/': { headers: { 'content-encoding': 'gzip' }, body: gzipSync('<p>packed') },
  });
  for (const HTTPCACHE_GZIP of [true, false]) {
    const { items } = await crawl(asking(site.url), settings({ HTTPCACHE_GZIP }));
    expect(items).toMatchObject([
      { text: '<p>packed', flags: HTTPCACHE_GZIP ? ['decoded'] : ['cached', 'decoded'] },
    ]);
  }
  expect(site.hits('/')).toBe(1);
});

test('an answer to one user is given to no other', async () => {
  await using site = await startSite({
    '/': ({ headers }) => ({
      headers: { 'cache-control': 'max-age=60' },
      body: `for ${headers.authorization ?? headers.cookie ?? 'nobody'}`,
    }),
  });
  const users: Record<string, string>[] = [
    {},
    { authorization: 'Basic YQ==' },
    { authorization: 'Basic Yg==' },
    { cookie: 'a=1' },
  ];
  for (const options of [settings(), rfc({ HTTPCACHE_DIR: join(folder, 'rfc') })]) {
    for (const round of [0, 1]) {
      for (const user of users) {
        const { items } = await crawl(asking(site.url, user), options);
        const text = `for ${Object.values(user)[0] ?? 'nobody'}`;
        expect(items).toMatchObject([{ text, flags: round === 0 ? [] : ['cached'] }]);
      }
    }
  }
  expect(site.hits('/')).toBe(2 * users.length);
});

test('meta.dontCache, ignored statuses and age keep an answer out', async () => {
  await using site = await startSite({ '/': '<p>x', '/gone': { status: 410 } });
  await crawl(asking(site.url, {}, true), settings());
  await crawl(asking(site.url), settings());
  await crawl(asking(site.url, {}, true), settings());
  expect(site.hits('/')).toBe(3);
  await crawl(asking(site.url), settings({ HTTPCACHE_EXPIRATION_SECS: 0.001 }));
  expect(site.hits('/')).toBe(4);
  const ignoring = settings({ HTTPCACHE_IGNORE_HTTP_CODES: [410] });
  const { result } = await crawl(asking(`${site.url}/gone`), ignoring);
  expect(result.stats['httpcache/uncacheable']).toBe(1);
});

test('with HTTPCACHE_IGNORE_MISSING a crawl needs no network', async () => {
  await using site = await startSite({ '/': '<p>x' });
  const { result } = await crawl(asking(site.url), settings({ HTTPCACHE_IGNORE_MISSING: true }));
  expect(site.requests).toEqual([]);
  expect(result.stats).toMatchObject({ 'httpcache/ignore': 1, 'httpcache/miss': 1 });
});

test('a damaged file is fetched again and replaced', async () => {
  await using site = await startSite({ '/': '<p>whole' });
  await crawl(asking(site.url), settings());
  const [file] = filesIn(folder);
  for (const size of [statSync(file!).size - 3, 5, 0]) {
    truncateSync(file!, size);
    const { items, result } = await crawl(asking(site.url), settings());
    expect(items).toMatchObject([{ text: '<p>whole', flags: [] }]);
    expect(result.stats['httpcache/retrieve_error']).toBe(1);
  }
  expect(filesIn(folder)).toEqual([file]);
});

test('a body that is not whole is not stored', async () => {
  await using site = await startSite({
    '/': (_, req, res) => {
      res.writeHead(200, { 'content-length': 100, 'content-type': 'text/html' });
      res.write('half');
      setTimeout(() => req.socket.destroy(), 20);
    },
  });
  const options = settings({ DOWNLOAD_FAIL_ON_DATALOSS: false });
  const { result } = await crawl(asking(site.url), options);
  expect(result.stats['httpcache/uncacheable']).toBe(1);
});

test('a stale response is confirmed by 304, with its new headers', async () => {
  await using site = await startSite({
    '/': ({ headers }): Reply =>
      headers['if-none-match'] === '"1"'
        ? { status: 304, headers: { 'cache-control': 'max-age=60' } }
        : { headers: { etag: '"1"', 'cache-control': 'max-age=0' }, body: 'page' },
  });
  await crawl(asking(site.url), rfc());
  const second = await crawl(asking(site.url), rfc());
  expect(second.items).toMatchObject([{ status: 200, text: 'page', flags: ['cached'] }]);
  expect(second.result.stats['httpcache/revalidate']).toBe(1);
  const third = await crawl(asking(site.url), rfc());
  expect(third.result.stats['httpcache/hit']).toBe(1);
  expect(site.hits('/')).toBe(2);
});

test('a stale response is replaced when the page has changed', async () => {
  let version = 0;
  await using site = await startSite({
    '/': () => ({
      headers: { etag: `"${++version}"`, 'cache-control': 'max-age=0' },
      body: `v${version}`,
    }),
  });
  await crawl(asking(site.url), rfc());
  const { items, result } = await crawl(asking(site.url), rfc());
  expect(items).toMatchObject([{ text: 'v2', flags: [] }]);
  expect(result.stats['httpcache/invalidate']).toBe(1);
});

test('a stale response stands in for a server that fails, unless it must not', async () => {
  let isDown = false;
  const route = (control: string) => (): Reply =>
    isDown ? { status: 503 } : { headers: { etag: '"1"', 'cache-control': control }, body: 'old' };
  const site = await startSite({
    '/a': route('max-age=0'),
    '/b': route('max-age=0, must-revalidate'),
  });
  for (const path of ['/a', '/b']) await crawl(asking(site.url + path), rfc());
  isDown = true;
  expect((await crawl(asking(`${site.url}/a`), rfc())).items).toMatchObject([{ text: 'old' }]);
  expect((await crawl(asking(`${site.url}/b`), rfc())).items).toEqual([{ error: 'HttpError' }]);
  await site[Symbol.asyncDispose]();
  const { items, result } = await crawl(asking(`${site.url}/a`), rfc());
  expect(items).toMatchObject([{ text: 'old', flags: ['cached'] }]);
  expect(result.stats['httpcache/errorrecovery']).toBe(1);
});

test('Vary chooses by the headers it names', async () => {
  await using site = await startSite({
    '/': ({ headers }) => ({
      headers: { 'cache-control': 'max-age=60', vary: 'X-Tongue' },
      body: String(headers['x-tongue']),
    }),
  });
  const ask = async (tongue: string): Promise<unknown> =>
    (await crawl(asking(site.url, { 'x-tongue': tongue }), rfc())).items[0];
  expect(await ask('de')).toMatchObject({ text: 'de', flags: [] });
  expect(await ask('de')).toMatchObject({ text: 'de', flags: ['cached'] });
  expect(await ask('fr')).toMatchObject({ text: 'fr', flags: [] });
});

test('a part of a page, and "not modified", are never taken for the page', async () => {
  await using site = await startSite({
    '/': ({ headers }): Reply => {
      if (headers['if-none-match'] !== undefined) return { status: 304 };
      if (headers.range !== undefined) return { status: 206, body: 'wh' };
      return { headers: { etag: '"1"', 'cache-control': 'max-age=60' }, body: 'whole' };
    },
    // Nobody asked for a part.
    '/part': { status: 206, headers: { 'cache-control': 'max-age=60' }, body: 'part' },
  });
  for (const [i, base] of [settings(), rfc()].entries()) {
    const options = { ...base, HTTPCACHE_DIR: join(folder, String(i)), HTTPERROR_ALLOW_ALL: true };
    const ask = async (headers = {}, path = '/'): Promise<unknown> =>
      (await crawl(asking(site.url + path, headers), options)).items[0];
    expect(await ask({ 'if-none-match': '"0"' })).toMatchObject({ status: 304, flags: [] });
    expect(await ask({ range: 'bytes=0-1' })).toMatchObject({ status: 206, flags: [] });
    expect(await ask()).toMatchObject({ status: 200, text: 'whole', flags: [] });
    expect(await ask({ range: 'bytes=0-1' })).toMatchObject({ status: 206, flags: [] });
    expect(await ask()).toMatchObject({ status: 200, text: 'whole', flags: ['cached'] });
    expect(await ask({}, '/part')).toMatchObject({ status: 206, flags: [] });
    expect(await ask({}, '/part')).toMatchObject({ status: 206, flags: [] });
  }
});

test('a request with validators of its own is answered about its own page', async () => {
  const modified = 'Wed, 21 Oct 2020 07:28:00 GMT';
  let maxAge = 60;
  await using site = await startSite({
    '/': ({ headers }): Reply =>
      headers['if-none-match'] === undefined
        ? {
            headers: {
              etag: 'W/"1"',
              'last-modified': modified,
              'cache-control': `max-age=${maxAge}`,
            },
            body: 'page',
          }
        : { status: 304, headers: { etag: '"theirs"' } },
  });
  const options = rfc({ HTTPERROR_ALLOW_ALL: true });
  const ask = async (headers: Record<string, string>): Promise<unknown> =>
    (await crawl(asking(site.url, headers), options)).items[0];
  await ask({});
  // What is fresh answers by itself.
  const cached = { flags: ['cached'] };
  expect(await ask({ 'if-none-match': '"0", "1"' })).toMatchObject({ status: 304, ...cached });
  expect(await ask({ 'if-none-match': '"0"' })).toMatchObject({ text: 'page', ...cached });
  expect(await ask({ 'if-modified-since': modified })).toMatchObject({ status: 304, ...cached });
  const before = 'Tue, 20 Oct 2020 07:28:00 GMT';
  expect(await ask({ 'if-modified-since': before })).toMatchObject({ text: 'page', ...cached });
  expect(site.hits('/')).toBe(1);
  // What is stale does not: the 304 is about the page of the spider, not about the stored one.
  maxAge = 0;
  rmSync(folder, { recursive: true });
  await ask({});
  expect(await ask({ 'if-none-match': '"theirs"' })).toMatchObject({ status: 304, flags: [] });
  expect(site.hits('/')).toBe(3);
});

test('a crawl that is killed while it writes leaves whole entries only', async () => {
  const pages = 150;
  const body = (page: string): string => page.repeat(30_000);
  await using site = await startSite({ '*': ({ url }) => ({ body: body(url) }) });
  const script = join(import.meta.dirname, 'http-cache-crawl.ts');
  const args = ['--conditions=lycosa-source', script, site.url, folder, String(pages)];
  const child = spawn(process.execPath, args, { stdio: 'inherit' });
  const ended = once(child, 'exit');
  // Half-written ones among them.
  while (filesIn(folder).length < 40 && child.exitCode === null)
    await new Promise((resolve) => setTimeout(resolve, 3));
  child.kill('SIGKILL');
  await ended;
  const urls = Array.from({ length: pages }, (_, i) => `${site.url}/${i}`);
  const { items, result } = await crawl(pageSpider(urls), settings());
  expect(result.stats['httpcache/retrieve_error']).toBeUndefined();
  expect(result.stats['httpcache/hit']).toBeGreaterThan(0);
  expect(result.stats['httpcache/miss']).toBeGreaterThan(0);
  expect(items).toHaveLength(pages);
  for (const item of items as { url: string; text: string }[])
    expect(item.text === body(new URL(item.url).pathname)).toBe(true);
});
