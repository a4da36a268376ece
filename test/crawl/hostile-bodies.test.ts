import * as zlib from 'node:zlib';
import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';

import { type Reply, type Site, startSite } from '@lycosa/site';
import {
  Request,
  type Response,
  type SettingsInput,
  SitemapSpider,
  Spider,
  type SpiderClass,
  type SpiderOutput,
} from 'lycosa';
import { describe, expect, test } from 'vitest';

import { flood, startRaw } from './raw-server.ts';
import { crawl, pageSpider } from './scrape.ts';

const limit = 1_000_000;
const once = { RETRY_ENABLED: false, DOWNLOAD_MAXSIZE: limit, DOWNLOAD_TIMEOUT: 20 };
const zeros = Buffer.alloc(100_000_000);
const zstd = (zlib as { zstdCompressSync?: (bytes: Buffer) => Buffer }).zstdCompressSync;
const big = gzipSync(zeros);
const brotli = brotliCompressSync(zeros, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } });

const bombs: readonly (readonly [encoding: string, body: Buffer])[] = [
  ['gzip', big],
  ['x-gzip', big],
  ['deflate', deflateSync(zeros)],
  ['deflate', deflateRawSync(zeros)],
  ['br', brotli],
  ['gzip, gzip', gzipSync(big)],
  ['deflate, br', brotliCompressSync(deflateSync(zeros))],
  ...(zstd ? [['zstd', zstd(zeros)] as const] : []),
];

function encoded(encoding: string, body: Buffer, more: Reply = {}): Reply {
  return { ...more, headers: { 'content-encoding': encoding, ...more.headers }, body };
}

describe('a bomb', () => {
  test.each(bombs)('of %s is stopped at DOWNLOAD_MAXSIZE', async (encoding, body) => {
    await using site = await startSite({ '/': encoded(encoding, body) });
    const before = process.memoryUsage().arrayBuffers;
    const { items, result } = await crawl(pageSpider([`${site.url}/`]), once);
    expect(items).toEqual([
      {
        error: 'DownloadCancelledError',
        message: expect.stringContaining(
          `more than ${limit} bytes once decoded (DOWNLOAD_MAXSIZE)`,
        ),
      },
    ]);
    expect(result.stats['security/blocked/DOWNLOAD_MAXSIZE']).toBe(1);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(zeros.length / 2);
  });

  test('that comes byte by byte is stopped too', async () => {
    await using server = await startRaw((socket) => {
      socket.setNoDelay(true);
      socket.write(
        'HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nTransfer-Encoding: chunked\r\n\r\n',
        'latin1',
      );
      for (const byte of brotli) {
        socket.write('1\r\n', 'latin1');
        socket.write(Buffer.from([byte]));
        socket.write('\r\n', 'latin1');
      }
      socket.write('0\r\n\r\n');
    });
    const { items } = await crawl(pageSpider([server.url]), once);
    expect(items).toMatchObject([{ error: 'DownloadCancelledError' }]);
  });

  test('in an error page is stopped and not tried again, in a page that sends on it is never opened', async () => {
    await using site = await startSite({
      '/gone': encoded('gzip', big, { status: 404 }),
      '/busy': encoded('gzip', big, { status: 503 }),
      '/moved': encoded('gzip', big, { status: 302, headers: { location: '/end' } }),
      '/end': 'end',
    });
    const urls = ['/gone', '/busy', '/moved'].map((path) => site.url + path);
    const { items, result } = await crawl(pageSpider(urls), { ...once, RETRY_ENABLED: true });
    expect(items).toHaveLength(3);
    expect(items.filter((item) => 'error' in (item as object))).toMatchObject(
      Array(2).fill({ error: 'DownloadCancelledError' }),
    );
    expect(items).toContainEqual({ url: `${site.url}/end`, status: 200, text: 'end' });
    expect(result.stats).toMatchObject({ 'security/blocked/DOWNLOAD_MAXSIZE': 2 });
    expect(result.stats['retry/count']).toBeUndefined();
  });

  test('in robots.txt forbids nothing for ever: the page has its verdict', async () => {
    await using site = await startSite({
      '/robots.txt': encoded('gzip', big, {
        headers: { 'content-type': 'text/plain' },
      }),
      '/': 'page',
    });
    const { items } = await crawl(pageSpider([`${site.url}/`]), { ...once, ROBOTSTXT_OBEY: true });
    expect(items).toHaveLength(1);
    expect(site.hits('/robots.txt')).toBe(1);
  });

  test('in a sitemap is stopped, as a body and as a file in it', async () => {
    await using site = await startSite({
      '/a.xml': encoded('gzip', big, { headers: { 'content-type': 'text/xml' } }),
      '/b.xml.gz': { headers: { 'content-type': 'application/gzip' }, body: big },
      '/end': 'end',
    });
    class Maps extends SitemapSpider {
      static override readonly name = 'maps';
      override readonly sitemapUrls = [`${site.url}/a.xml`, `${site.url}/b.xml.gz`];
      override parse(): void {}
    }
    const { result } = await crawl(Maps, { ...once, SITEMAP_MAX_SIZE: limit });
    expect(result.stats).toMatchObject({ 'security/blocked/DOWNLOAD_MAXSIZE': 1 });
    expect(result.reason).toBe('finished');
  });

  test('of more layers than DOWNLOAD_MAX_ENCODINGS is not even opened', async () => {
    await using site = await startSite({
      '/': encoded(Array(4000).fill('gzip').join(','), Buffer.from('x')),
    });
    const { items } = await crawl(pageSpider([`${site.url}/`]), once);
    expect(items).toEqual([
      {
        error: 'DownloadCancelledError',
        message: expect.stringContaining('is encoded 4000 times, more than 3'),
      },
    ]);
  });
});

describe('answers and requests', () => {
  /** Answers with the path, and does one more thing that it should not. */
  const misdeeds: readonly string[] = [
    '',
    'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil',
    'HTTP/1.1 100 Continue\r\n\r\n',
    'evil',
    '\r\n\r\n',
    'HTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil',
  ];
  const heads = [
    (text: string) => `Content-Length: ${text.length}\r\n\r\n${text}`,
    (text: string) =>
      `Transfer-Encoding: chunked\r\n\r\n${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`,
    // A length that is not true beside chunks that are.
    (text: string) =>
      `Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`,
    (text: string) =>
      `Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`,
    (text: string) => `X-A: a\r\n b\r\nContent-Length: ${text.length}\r\n\r\n${text}`,
  ];

  test('belong together in hundreds of exchanges with a server that sends more than it is asked', async () => {
    await using server = await startRaw((socket, request, count) => {
      const path = request.split(' ')[1]!;
      const head = heads[count % heads.length]!;
      const misdeed = misdeeds[count % misdeeds.length]!;
      const early = count % 7 === 0 ? 'HTTP/1.1 103 Early\r\n\r\n' : '';
      socket.write(`${early}HTTP/1.1 200 OK\r\n${head(path)}`);
      if (misdeed === '') return;
      if (count % 2 === 0) socket.write(misdeed);
      else setTimeout(() => socket.destroyed || socket.write(misdeed), count % 5);
    });
    const urls = Array.from({ length: 300 }, (_, i) => `${server.url}${i}`);
    const { items } = await crawl(pageSpider(urls), {
      RETRY_TIMES: 20,
      CONCURRENT_REQUESTS: 16,
      CONCURRENT_REQUESTS_PER_DOMAIN: 16,
    });
    const wrong = (items as { url?: string; text?: string }[]).filter(
      ({ url, text }) => url !== undefined && text !== new URL(url).pathname,
    );
    expect(wrong).toEqual([]);
    expect(items).toHaveLength(urls.length);
  });

  test('a server that answers before the request has ended gets no second body', async () => {
    await using server = await startRaw((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nearly');
    });
    class Poster extends Spider {
      static override readonly name = 'poster';
      override start(): SpiderOutput {
        return [1, 2, 3].map(
          (i) =>
            new Request(`${server.url}${i}`, {
              method: 'POST',
              body: Buffer.alloc(1_000_000, String(i)),
              errback: this.onError,
            }),
        );
      }
      override parse(response: Response): SpiderOutput {
        return { text: response.text };
      }
      onError({ error }: { error: Error }): SpiderOutput {
        return { error: error.name };
      }
    }
    const { items } = await crawl(Poster, { ...once, CONCURRENT_REQUESTS: 1 });
    expect(items).toHaveLength(3);
    for (const item of items)
      expect(['early', undefined]).toContain((item as { text?: string }).text);
    expect(server.requests.map((request) => request.split(' ')[1])).toEqual(['/1', '/2', '/3']);
  });
});

/** A site on which every page leads to more. */
async function crawlTrap(
  page: (url: string) => Reply | string,
  settings: SettingsInput,
  start = '/',
): Promise<{ site: Site; stats: Record<string, unknown> }> {
  await using site = await startSite({ '*': ({ url }) => page(url) });
  const urls = [site.url + start];
  const Trapped: SpiderClass = class Trapped extends Spider {
    static override readonly name = 'trapped';
    override readonly startUrls = urls;
    override *parse(response: Response): SpiderOutput {
      for (const link of response.css('a')) yield response.follow(link);
    }
  };
  const { result } = await crawl(Trapped, settings);
  return { site, stats: result.stats };
}

describe('a trap', () => {
  const link = (href: string): string => `<a href="${href}">next</a>`;

  test('a calendar without end is left at DEPTH_LIMIT', async () => {
    const { site } = await crawlTrap((url) => link(`/day/${Number(url.split('/')[2] ?? 0) + 1}`), {
      DEPTH_LIMIT: 20,
    });
    expect(site.requests).toHaveLength(21);
  });

  test('a path that grows by itself is left at URLLENGTH_LIMIT', async () => {
    const { site, stats } = await crawlTrap((url) => link(`${url}${'more/'.repeat(20)}`), {});
    expect(site.requests).toHaveLength(21);
    for (const { url } of site.requests) expect(url.length).toBeLessThanOrEqual(2083);
    expect(stats['urllength/request_ignored_count']).toBe(1);
  });

  test('redirects without end are left at REDIRECT_MAX_TIMES', async () => {
    let count = 0;
    const { site, stats } = await crawlTrap(
      () => ({ status: 302, headers: { location: `/hop/${++count}` } }),
      {},
    );
    expect(site.requests).toHaveLength(21);
    expect(stats['request_dropped_count/redirect']).toBe(1);
  });

  test('redirects and refreshes in turn are one row', async () => {
    let count = 0;
    const { site } = await crawlTrap(
      () =>
        ++count % 2 === 0
          ? { status: 307, headers: { location: `/hop/${count}` } }
          : `<meta http-equiv="refresh" content="0; url=/hop/${count}">`,
      {},
    );
    expect(site.requests).toHaveLength(21);
  });

  test('a page of a hundred thousand links leads to LINKS_PER_PAGE_LIMIT, and says so once', async () => {
    const page = Array.from({ length: 100_000 }, (_, i) => link(`/${i}`)).join('');
    const { site, stats } = await crawlTrap((url) => (url === '/' ? page : 'end'), {
      LINKS_PER_PAGE_LIMIT: 50,
      LOG_LEVEL: 'INFO',
    });
    expect(site.requests).toHaveLength(51);
    expect(stats).toMatchObject({
      'security/blocked/LINKS_PER_PAGE_LIMIT': 99_950,
      'request_dropped_count/links-per-page': 99_950,
    });
  });

  test('a robots.txt of ten megabytes is read as far as ROBOTSTXT_MAX_SIZE', async () => {
    const rules = 'User-agent: *\nDisallow: /no\n#'.padEnd(10_000_000, '\0');
    await using site = await startSite({
      '/robots.txt': { headers: { 'content-type': 'text/plain' }, body: `${rules}\nDisallow: /` },
      '*': 'page',
    });
    const { items, result } = await crawl(pageSpider([`${site.url}/yes`, `${site.url}/no`]), {
      ROBOTSTXT_OBEY: true,
    });
    expect(items).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ text: 'page' }),
        expect.objectContaining({ error: 'IgnoreRequest' }),
      ]),
    );
    expect(result.stats['security/blocked/ROBOTSTXT_MAX_SIZE']).toBe(1);
  });

  test.each([
    ['without end', 'flood', 'User-agent: *\nDisallow: /no\n#'],
    ['that expands to ten megabytes', 'gzip', 'User-agent: *\nDisallow: /no\nDisallow: /no/2\n#'],
  ])('a robots.txt %s is read as far as ROBOTSTXT_MAX_SIZE', async (_, how, rules) => {
    const long = Buffer.from(`${rules.padEnd(10_000_000, 'a')}\nDisallow: /`);
    await using server = await startRaw((socket, request) => {
      if (!request.startsWith('GET /robots.txt')) {
        socket.end('HTTP/1.1 200 OK\r\n\r\npage');
        return;
      }
      socket.write('HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n');
      socket.write(how === 'gzip' ? 'Content-Encoding: gzip\r\n\r\n' : `\r\n${rules}`);
      if (how === 'gzip') socket.end(gzipSync(long));
      else flood(socket, 'a'.repeat(1000));
    });
    const { items, result } = await crawl(pageSpider([`${server.url}yes`, `${server.url}no`]), {
      ...once,
      ROBOTSTXT_OBEY: true,
      ROBOTSTXT_RETRY_TIMES: 0,
    });
    expect(items).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ text: 'page' }),
        expect.objectContaining({ error: 'IgnoreRequest' }),
      ]),
    );
    expect(result.stats['security/blocked/ROBOTSTXT_MAX_SIZE']).toBe(1);
  });

  test('a sitemap that names itself, by many names, is left', async () => {
    let count = 0;
    await using site = await startSite({
      '*': () => ({
        headers: { 'content-type': 'application/xml' },
        body: `<sitemapindex><sitemap><loc>${site.url}/s${++count}.xml</loc></sitemap><sitemap><loc>${site.url}/s0.xml</loc></sitemap></sitemapindex>`,
      }),
    });
    class Maps extends SitemapSpider {
      static override readonly name = 'maps';
      override readonly sitemapUrls = [`${site.url}/s0.xml`];
      override parse(): void {}
    }
    await crawl(Maps);
    expect(site.requests.length).toBeLessThan(10);
  });
});
