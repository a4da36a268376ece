import { Request, type Response } from 'lycosa';
import { expect, test } from 'vitest';

import { RobotsTxt } from '../../packages/core/src/downloader/robots-parser.ts';
import { type Answer, startRaw } from './raw-server.ts';
import { crawl, pageSpider } from './scrape.ts';

// What is sent here is what servers in the field send: every byte counts, so it goes through a real socket.

const pathOf = (request: string): string => /^GET (\S+)/.exec(request)?.[1] ?? '';
const cookieOf = (request: string): string | undefined => /^cookie: (.*)$/im.exec(request)?.[1];

/** Answers by path and closes; the value is what follows the status line. */
function byPath(answers: (path: string, cookie: string) => string | Buffer): Answer {
  return (socket, request) => {
    socket.write('HTTP/1.1 ');
    socket.end(answers(pathOf(request), cookieOf(request) ?? ''));
  };
}

const ok = '200 OK\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\nok';
const to = (where: string, more = ''): string =>
  `302 Found\r\nLocation: ${where}\r\n${more}Content-Length: 0\r\n\r\n`;
const settings = { COOKIES_ENABLED: true, CONCURRENT_REQUESTS: 1, RETRY_ENABLED: false };

test('cookie lines of every kind: the good ones go back where they belong, longer paths first', async () => {
  const lines = [
    'a=1; Expires=Wed, 21 Oct 2037 07:28:00 GMT; Path=/',
    'c=1,2; Path=/x',
    'Secure',
    'd=1; Domain=other.com',
    'e=1; Domain=com',
    'g=1; Max-Age=0',
    'm=1; Version=1; Discard; Path=/',
    'b=x=y==; Path=/',
  ];
  const set = lines.map((line) => `Set-Cookie: ${line}\r\n`).join('');
  await using server = await startRaw(
    byPath((path) => (path === '/x/y' ? ok.replace('\r\n', `\r\n${set}`) : ok)),
  );
  const later = ['x/z', 'xx'].map((path) => server.url + path);
  await crawl(
    pageSpider([`${server.url}x/y`], (response) =>
      response.url.endsWith('/y') ? later.map((url) => new Request(url)) : [{ url: response.url }],
    ),
    settings,
  );
  const sent = new Map(server.requests.map((one) => [pathOf(one), cookieOf(one)]));
  expect(sent.get('/x/z')).toBe('c=1,2; a=1; m=1; b=x=y==');
  expect(sent.get('/xx')).toBe('a=1; m=1; b=x=y==');
});

/** Everything goes by one server, which plays every site. */
class ByOne {
  static proxy = '';
  processRequest(request: Request): undefined {
    request.meta.proxy = ByOne.proxy;
  }
}

test('a cookie of a domain goes to the sites below it, and to no other', async () => {
  await using server = await startRaw(
    byPath((url) =>
      url.endsWith('/x/y')
        ? ok.replace('\r\n', '\r\nSet-Cookie: b=x=y==; Domain=.example.com\r\n')
        : ok,
    ),
  );
  ByOne.proxy = server.url;
  const later = [
    'www.shop.example.com',
    'api.example.com',
    'example.com',
    'other.com',
    'xexample.com',
  ];
  const spider = pageSpider(['http://www.shop.example.com/x/y'], (response) =>
    response.url.endsWith('/y') ? later.map((host) => new Request(`http://${host}/x/q`)) : [],
  );
  await crawl(spider, { ...settings, DOWNLOADER_MIDDLEWARES: [[ByOne, 740]] });
  const sent = Object.fromEntries(server.requests.map((one) => [pathOf(one), cookieOf(one)]));
  expect(sent).toEqual({
    'http://www.shop.example.com/x/y': undefined,
    'http://www.shop.example.com/x/q': 'b=x=y==',
    'http://api.example.com/x/q': 'b=x=y==',
    'http://example.com/x/q': 'b=x=y==',
    'http://other.com/x/q': undefined,
    'http://xexample.com/x/q': undefined,
  });
});

test('a Location of three slashes names a host', async () => {
  await using server = await startRaw(
    byPath((url) => (url.endsWith('/a/b') ? to('///cdn.h.test/x') : ok)),
  );
  ByOne.proxy = server.url;
  await crawl(pageSpider(['http://www.h.test/a/b']), {
    ...settings,
    DOWNLOADER_MIDDLEWARES: [[ByOne, 740]],
  });
  expect(server.requests.map(pathOf)).toEqual(['http://www.h.test/a/b', 'http://cdn.h.test/x']);
});

test.each([
  [Buffer.from('/caf\xe9', 'latin1'), '/caf%E9'],
  [Buffer.from('/café menu'), '/caf%C3%A9%20menu'],
  [Buffer.from(' /y '), '/y'],
  [Buffer.from('?p=2'), '/a/b?p=2'],
])('the bytes of Location %# are asked for as they are', async (location, path) => {
  const start = Buffer.from('302 Found\r\nContent-Length: 0\r\nLocation: ');
  const end = Buffer.from('\r\n\r\n');
  await using server = await startRaw(
    byPath((asked) => (asked === '/a/b' ? Buffer.concat([start, location, end]) : ok)),
  );
  const { items } = await crawl(pageSpider([`${server.url}a/b`]), settings);
  expect(server.requests.map(pathOf)).toEqual(['/a/b', path]);
  expect(items).toMatchObject([{ status: 200, text: 'ok' }]);
});

test('a redirect without a place to go to is the page itself', async () => {
  await using server = await startRaw(byPath(() => to('')));
  const { items } = await crawl(pageSpider([server.url]), {
    ...settings,
    HTTPERROR_ALLOW_ALL: true,
  });
  expect(items).toMatchObject([{ status: 302 }]);
  expect(server.requests).toHaveLength(1);
});

test('a redirect to itself ends with the cookie it sets', async () => {
  await using server = await startRaw(
    byPath((path, cookie) => (cookie === 'k=1' ? ok : to(path, 'Set-Cookie: k=1\r\n'))),
  );
  const { items } = await crawl(pageSpider([`${server.url}p`]), settings);
  expect(items).toMatchObject([{ status: 200, text: 'ok' }]);
  expect(server.requests).toHaveLength(2);
});

test('a redirect by another page to itself ends with the cookie of that page', async () => {
  await using server = await startRaw(
    byPath((path, cookie) => {
      if (path === '/b') return to('/a', 'Set-Cookie: k=1; Path=/\r\n');
      return cookie === 'k=1' ? ok : to('/b');
    }),
  );
  const { items } = await crawl(pageSpider([`${server.url}a`]), settings);
  expect(items).toMatchObject([{ status: 200, text: 'ok' }]);
  expect(server.requests.map(pathOf)).toEqual(['/a', '/b', '/a']);
});

test('a redirect to itself without end is one error', async () => {
  await using server = await startRaw(byPath((path) => to(path)));
  const { items } = await crawl(pageSpider([`${server.url}p`]), {
    ...settings,
    REDIRECT_MAX_TIMES: 3,
  });
  expect(items).toHaveLength(1);
  expect(items[0]).toHaveProperty('error');
  expect(server.requests).toHaveLength(4);
});

test('a URL goes on the wire as it was written, whatever its duplicates are known by', async () => {
  await using server = await startRaw(byPath(() => ok));
  const urls = ['s?b=2&a=1', 's?a=1&b=2#f', '%7Eu', '~u', 'a%2fb', 'a/b'].map(
    (path) => server.url + path,
  );
  const spider = pageSpider([server.url], (response) =>
    response.url === server.url ? urls.map((url) => new Request(url)) : [],
  );
  await crawl(spider, settings);
  expect(server.requests.map(pathOf).slice(1).toSorted()).toEqual([
    '/%7Eu',
    '/a%2fb',
    '/a/b',
    '/s?b=2&a=1',
  ]);
});

test('a robots.txt with a byte order mark, CRLF, an empty line within a group and every kind of rule', () => {
  const robots = new RobotsTxt(
    '\uFEFFUser-agent: *\r\nUser-agent: OtherBot\r\n\r\nDisallow: /private\r\nAllow: /private/ok\r\nDisallow: /*.pdf$\r\nDisallow: /search?\r\nDisallow:\r\n',
  );
  const allowed = [
    '/',
    '/private',
    '/privateer',
    '/private/ok/1',
    '/a.pdf',
    '/a.pdf?x=1',
    '/search',
    '/search?q=1',
  ].map((path) => robots.isAllowed(`http://h.test${path}`, 'MyCrawler/1.0'));
  expect(allowed).toEqual([true, false, false, true, false, true, true, false]);
});

test.each([
  ['deflate', 'b329b0cbc8b4d12fb00300'],
  ['deflate', '789cb329b0cbc8b4d12fb003000e6f02d5'],
  ['x-gzip', '1f8b0800000000000003b329b0cbc8b4d12fb0030065d2376d09000000'],
  ['gzip', '1f8b0800000000000003b329b0cbc8b4d12fb003'],
  ['gzip', '3c703e68693c2f703e'],
])('Content-Encoding %s of %s is the page', async (coding, hex) => {
  const body = Buffer.from(hex, 'hex');
  const head = `200 OK\r\nContent-Type: text/html\r\nContent-Encoding: ${coding}\r\nContent-Length: ${body.length}\r\n\r\n`;
  await using server = await startRaw(byPath(() => Buffer.concat([Buffer.from(head), body])));
  const { items } = await crawl(
    pageSpider([server.url], (response: Response) => [{ text: response.text }]),
    settings,
  );
  expect(items).toEqual([{ text: '<p>hi</p>' }]);
});

test('an empty body that says it is gzip is empty, a cut one is flagged, and a file that is gzip stays so', async () => {
  const gzipped = Buffer.from('1f8b0800000000000003b329b0cbc8b4d12fb0030065d2376d09000000', 'hex');
  const answers: Record<string, [head: string, body: Buffer]> = {
    '/empty': ['Content-Type: text/html\r\nContent-Encoding: gzip', Buffer.alloc(0)],
    '/cut': ['Content-Type: text/html\r\nContent-Encoding: gzip', gzipped.subarray(0, -8)],
    '/file.gz': ['Content-Type: application/gzip', gzipped],
  };
  await using server = await startRaw(
    byPath((path) => {
      const [head, body] = answers[path]!;
      return Buffer.concat([
        Buffer.from(`200 OK\r\n${head}\r\nContent-Length: ${body.length}\r\n\r\n`),
        body,
      ]);
    }),
  );
  const { items } = await crawl(
    pageSpider(
      Object.keys(answers).map((path) => server.url + path.slice(1)),
      ({ url, body, flags }) => ({
        path: new URL(url).pathname,
        hex: Buffer.from(body).toString('hex'),
        flags: [...flags],
      }),
    ),
    settings,
  );
  expect(items).toEqual(
    expect.arrayContaining([
      { path: '/empty', hex: '', flags: ['decoded'] },
      {
        path: '/cut',
        hex: Buffer.from('<p>hi</p>').toString('hex'),
        flags: ['decoded', 'truncated'],
      },
      { path: '/file.gz', hex: gzipped.toString('hex'), flags: [] },
    ]),
  );
});
