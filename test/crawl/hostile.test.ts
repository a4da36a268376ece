import { Request, type Response, Spider, type SpiderOutput } from 'lycosa';
import { describe, expect, test } from 'vitest';

import { fuzz } from '../bench/fuzz.ts';
import { hung } from './hostile-servers.ts';
import { startRaw } from './raw-server.ts';
import { crawl, pageSpider } from './scrape.ts';

const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const once = { RETRY_ENABLED: false, CONCURRENT_REQUESTS: 1 };

/** What a page of these bytes is taken for; the connection is closed after them unless `keep`. */
async function fetchRaw(bytes: string, keep = false, settings = {}): Promise<unknown> {
  await using server = await startRaw((socket) => {
    if (keep) socket.write(bytes, 'latin1');
    else socket.end(bytes, 'latin1');
  });
  const { items } = await crawl(
    pageSpider([server.url], (response) => [
      {
        status: response.status,
        text: response.text,
        a: response.headers.get('x-a'),
        flags: [...response.flags],
      },
    ]),
    { ...once, DOWNLOAD_TIMEOUT: 5, ...settings },
  );
  return items[0];
}

/** Waits half a second for any page but /next, which may take its time on a busy machine. */
class Impatient {
  processRequest(request: Request): undefined {
    if (!request.url.endsWith('/next')) request.meta.downloadTimeout = 0.5;
  }
}

describe('a hung or hostile server', () => {
  test.concurrent.each(hung)(
    '%s: an error in time, the socket closed, the next page served',
    async (_, act) => {
      await using bad = await startRaw((socket, request) => {
        if (request.startsWith('GET /next')) socket.end(ok);
        else act(socket);
      });
      const { items } = await crawl(pageSpider([bad.url, `${bad.url}next`]), {
        ...once,
        DOWNLOADER_MIDDLEWARES: [[Impatient, 300]],
        DOWNLOAD_MAXSIZE: 1_000_000,
      });
      expect(items).toHaveLength(2);
      expect(items[0]).toHaveProperty(
        'error',
        expect.stringMatching(/^(Download|ResponseDataLoss)/),
      );
      expect(items[1]).toMatchObject({ status: 200, text: 'ok' });
      await bad.whenQuiet();
    },
  );
});

const noHeaderNoBody = 'bytes that are neither header nor body';
const tooLongHeaders = 'the headers are longer than DOWNLOAD_MAX_HEADERS_SIZE';

test.each([
  ['endless reason', tooLongHeaders],
  ['endless headers', tooLongHeaders],
  ['endless chunk extension', noHeaderNoBody],
  ['endless chunk size', noHeaderNoBody],
  ['endless trailers', noHeaderNoBody],
])('%s: broken off long before the time-out', async (name, why) => {
  const act = hung.find(([one]) => one === name)![1];
  await using server = await startRaw((socket) => act(socket));
  const { items, result } = await crawl(pageSpider([server.url]), {
    ...once,
    DOWNLOAD_TIMEOUT: 600,
  });
  expect(items).toEqual([
    {
      error: 'DownloadFailedError',
      message: expect.stringContaining(why),
    },
  ]);
  expect(result.stats['security/blocked/DOWNLOAD_MAX_HEADERS_SIZE']).toBe(1);
  await server.whenQuiet();
});

test('what a connection before it has read is not taken for a part of a flood', async () => {
  let answers = 0;
  await using server = await startRaw((socket) => {
    if (answers++ === 0) socket.end(`HTTP/1.1 200 OK\r\n\r\n${'a'.repeat(3_000_000)}`);
    else socket.end(`HTTP/1.1 200 ${'a'.repeat(1_000_000)}\r\nContent-Length: 0\r\n\r\n`);
  });
  const { items } = await crawl(pageSpider([server.url, `${server.url}2`]), {
    ...once,
    CONCURRENT_REQUESTS: 1,
  });
  expect(items).toMatchObject([
    { status: 200 },
    { error: 'DownloadFailedError', message: expect.stringContaining(tooLongHeaders) },
  ]);
});

test('headers of any number of bytes below the limit are taken, whatever body comes with them', async () => {
  const long = 'a'.repeat(60_000);
  const body = 'b'.repeat(500_000);
  await using server = await startRaw((socket) =>
    socket.end(`HTTP/1.1 200 OK\r\nX-A: ${long}\r\nContent-Length: 500000\r\n\r\n${body}`),
  );
  const { items } = await crawl(pageSpider([server.url]), once);
  expect(items).toMatchObject([{ status: 200 }]);
});

test('one byte in each chunk is no flood', async () => {
  const length = 200_000;
  await using server = await startRaw((socket) => {
    socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
    socket.write('1\r\na\r\n'.repeat(length));
    setTimeout(() => socket.end('0\r\n\r\n'), 600);
  });
  const { items } = await crawl(
    pageSpider([server.url], ({ body }) => ({ bytes: body.length })),
    once,
  );
  expect(items).toEqual([{ bytes: length }]);
});

describe('odd framing', () => {
  test('a body shorter than announced is data loss, and what came is there where that is allowed', async () => {
    const short = 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly';
    expect(await fetchRaw(short)).toMatchObject({ error: 'ResponseDataLossError' });
    expect(await fetchRaw(short, false, { DOWNLOAD_FAIL_ON_DATALOSS: false })).toMatchObject({
      text: 'only',
      flags: ['dataloss'],
    });
  });

  test.each([
    ['no length, closed at the end', 'HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nok', {}],
    [
      'a folded header',
      'HTTP/1.1 200 OK\r\nX-A: one\r\n two\r\nContent-Length: 2\r\n\r\nok',
      { a: 'one two' },
    ],
    ['bare line feeds', 'HTTP/1.1 200 OK\nX-A: one\nContent-Length: 2\n\nok', { a: 'one' }],
    [
      'bare line feeds in chunks',
      'HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n1\no\n1\nk\n0\n\n',
      {},
    ],
    [
      'the same Content-Length twice',
      'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok',
      {},
    ],
    [
      'a blank before the colon',
      'HTTP/1.1 200 OK\r\nX-A : one\r\nContent-Length: 2\r\n\r\nok',
      { a: 'one' },
    ],
    ['a name that is none', 'HTTP/1.1 200 OK\r\nX A: one\r\nContent-Length: 2\r\n\r\nok', {}],
    ['a line without colon', 'HTTP/1.1 200 OK\r\nrubbish\r\nContent-Length: 2\r\n\r\nok', {}],
  ])('%s is read as a browser reads it', async (_, bytes, more) => {
    expect(await fetchRaw(bytes)).toMatchObject({ status: 200, text: 'ok', ...more });
  });

  test.each([
    [
      'two different Content-Lengths',
      'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok',
    ],
    ['no HTTP at all', 'SSH-2.0-OpenSSH_9.2\r\n\r\n'],
    [
      'headers beyond DOWNLOAD_MAX_HEADERS_SIZE',
      `HTTP/1.1 200 OK\r\nX-A: ${'a'.repeat(70_000)}\r\n\r\n`,
    ],
  ])('%s is a failed download', async (_, bytes) => {
    expect(await fetchRaw(bytes)).toHaveProperty('error', 'DownloadFailedError');
  });

  test('a page that needs the lenient reader costs one request more, the next one of its origin does not', async () => {
    await using server = await startRaw((socket) => {
      socket.end('HTTP/1.1 200 OK\nContent-Length: 2\n\nok');
    });
    const { items } = await crawl(pageSpider([server.url, `${server.url}b`]), once);
    expect(items).toHaveLength(2);
    expect(server.requests.map((request) => request.split(' ')[1])).toEqual(['/', '/', '/b']);
  });

  test('a POST is not sent a second time', async () => {
    await using server = await startRaw((socket) => {
      socket.end('HTTP/1.1 200 OK\nContent-Length: 2\n\nok');
    });
    class Poster extends Spider {
      static override readonly name = 'poster';
      override start(): SpiderOutput {
        return [new Request(server.url, { method: 'POST', errback: this.onError })];
      }
      onError({ error }: { error: Error }): SpiderOutput {
        return { error: error.name };
      }
    }
    const { items } = await crawl(Poster, once);
    expect(items).toEqual([{ error: 'DownloadFailedError' }]);
    expect(server.requests).toHaveLength(1);
  });
});

interface Page {
  readonly url?: string;
  readonly text?: string;
}

/** A page that says another path than its own. */
function isMixedUp({ url, text }: Page): boolean {
  return url !== undefined && text !== new URL(url).pathname;
}

test('bytes sent early on an idle connection do not answer the next request', async () => {
  await using server = await startRaw((socket, request) => {
    const path = request.split(' ')[1]!;
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${path.length}\r\n\r\n${path}`);
    setTimeout(() => {
      if (!socket.destroyed) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil');
    }, 20);
  });
  const urls = Array.from({ length: 10 }, (_, i) => `${server.url}${i}`);
  const { items } = await crawl(pageSpider(urls), {
    ...once,
    DOWNLOAD_DELAY: 0.05,
    RANDOMIZE_DOWNLOAD_DELAY: false,
  });
  expect(items.filter((item) => isMixedUp(item as Page))).toEqual([]);
  expect(items).toHaveLength(10);
});

test('a second answer to one request never reaches another request', async () => {
  await using server = await startRaw((socket, request) => {
    const path = request.split(' ')[1]!;
    socket.write(
      `HTTP/1.1 200 OK\r\nContent-Length: ${path.length}\r\n\r\n${path}HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil`,
    );
  });
  const urls = Array.from({ length: 30 }, (_, i) => `${server.url}${i}`);
  const { items } = await crawl(
    pageSpider(urls, (response: Response) => ({ url: response.url, text: response.text })),
    { RETRY_TIMES: 5 },
  );
  expect(items.filter((item) => isMixedUp(item as Page))).toEqual([]);
  expect(items).toHaveLength(30);
});

test('a kept connection that is closed just when it is used again costs no retry', async () => {
  await using server = await startRaw((socket, _, count) => {
    if (count === 1) socket.destroy();
    else socket.write(ok);
  });
  const { items, result } = await crawl(pageSpider([server.url, `${server.url}b`]), once);
  expect(items).toMatchObject([{ text: 'ok' }, { text: 'ok' }]);
  expect(server.requests).toHaveLength(3);
  expect(result.stats['retry/count']).toBeUndefined();
});

test('500 malformed responses leave no socket, no place in a slot, no rejection, and no strange error', async () => {
  expect(await fuzz(500, 7)).toMatchObject({
    openSockets: 0,
    heldPlaces: 0,
    rejections: 0,
    account: true,
    strange: [],
  });
});
