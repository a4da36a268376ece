import { LinkExtractor, Request, type Response } from 'lycosa';
import { expect, test } from 'vitest';

import { type RawServer, startRaw } from './raw-server.ts';
import { crawl, pageSpider } from './scrape.ts';

// Pages as the field has them, through a real socket: charset, links, meta refresh.

const settings = { RETRY_ENABLED: false, CONCURRENT_REQUESTS: 1 };

/** Serves pages by path, the type of each before its body; closes after each. */
function startPages(
  pages: Readonly<Record<string, readonly [type: string, body: Buffer | string]>>,
): Promise<RawServer> {
  return startRaw((socket, request) => {
    const path = /^GET (?:http:\/\/[^/]+)?(\S+)/.exec(request)![1]!;
    const [type, body] = pages[path] ?? ['text/plain', 'end'];
    const bytes = Buffer.from(body as string);
    socket.write(
      `HTTP/1.1 200 OK\r\nContent-Type: ${type}\r\nContent-Length: ${bytes.length}\r\nConnection: close\r\n\r\n`,
    );
    socket.end(bytes);
  });
}

const page = (text: string, hex: string): Buffer =>
  Buffer.concat([Buffer.from(text), Buffer.from(hex, 'hex')]);

test('the text of a page is right whatever is said, or not, of its charset', async () => {
  const rows: readonly [type: string, body: Buffer, text: string][] = [
    [
      'text/html',
      page('<meta httpequiv="ContentType" content="text/html; charset=gbk"><title>', 'cdf8d5be'),
      '网站',
    ],
    ['text/html; charset=iso-8859-1', page('', '936869942080'), '\u201chi\u201d \u20ac'],
    ['text/html; charset=gb2312', page('', 'e946'), '镕'],
    ['text/html; charset=iso-8859-1', page('', 'efbbbfc3a9'), 'é'],
    [
      'text/html',
      page('<meta content="text/html; charset=shift_jis" http-equiv=Content-Type>', '836583588367'),
      'テスト',
    ],
    ['text/html; charset="utf8"', page('', 'c3a9'), 'é'],
    ['text/html; charset=none', page('<meta charset=euc-kr>', 'c7d1'), '한'],
    ['text/html', page('', 'c3a9'), 'é'],
  ];
  await using server = await startPages(
    Object.fromEntries(rows.map(([type, body], i) => [`/${i}`, [type, body]])),
  );
  const { items } = await crawl(
    pageSpider(
      rows.map((_, i) => `${server.url}${i}`),
      ({ url, text }) => ({ row: Number(url.split('/').at(-1)), text: text.replace(/<.*>/, '') }),
    ),
    settings,
  );
  const texts = (items as { row: number; text: string }[]).toSorted((a, b) => a.row - b.row);
  expect(texts.map(({ text }) => text)).toEqual(rows.map(([, , text]) => text));
});

/** Every site of the name is this server. */
function by(server: RawServer) {
  return class By {
    processRequest(request: Request): undefined {
      request.meta.proxy = server.url;
    }
  };
}

test('the links of a messy page are asked for, each once, and what is no link is counted', async () => {
  const body = `<base href="../img/"><base href="/second/">
<a href="
   one.html  ">1</a> <a href="?q=1&amp;r=2">2</a> <a href="http://">3</a> <a href="http://[::1">4</a>
<a href="JaVaScRiPt:x()">5</a> <a href="mailto:a@b.c">6</a> <a href="data:text/html,x">7</a> <a href="tel:+1">8</a>
<a href="//cdn.h.test/x#f">9</a> <a>10</a> <a href="http://h.test:99999/">11</a> <a href="http:\\\\h.test\\four">12</a>
<a href="one.html#sec">13</a> <a href="/caf&eacute;?k=&eacute;">14</a>`;
  await using server = await startPages({ '/a/b/page.html': ['text/html; charset=utf-8', body] });
  const extractor = new LinkExtractor();
  const spider = pageSpider(['http://h.test/a/b/page.html'], (response) =>
    response.url.endsWith('page.html')
      ? extractor.extractLinks(response).map(({ url }) => new Request(url))
      : [],
  );
  await crawl(spider, { ...settings, DOWNLOADER_MIDDLEWARES: [[by(server), 740]] });
  const asked = server.requests.map((request) => /^GET (\S+)/.exec(request)![1]);
  expect(asked).toHaveLength(6);
  expect(new Set(asked.slice(1))).toEqual(
    new Set([
      'http://h.test/a/img/one.html',
      'http://h.test/a/img/?q=1&r=2',
      'http://cdn.h.test/x',
      'http://h.test/four',
      'http://h.test/caf%C3%A9?k=%C3%A9',
    ]),
  );
  expect(extractor.skipped).toBe(3);
});

test.each([
  ['<meta content="0;url=x.html" http-equiv="refresh">', 'http://h.test/d/x.html'],
  ['<meta http-equiv=Refresh content="0; URL=&#10; /n.html">', 'http://h.test/n.html'],
  [`<meta http-equiv="refresh" content="1; url='/q.html'">`, 'http://h.test/q.html'],
  [
    '<base href="http://o.test/k/"><meta http-equiv="refresh" content="0;url=x.html">',
    'http://o.test/k/x.html',
  ],
  ['<meta http-equiv="refresh" content="30">', undefined],
  ['<!-- <meta http-equiv="refresh" content="0;url=x"> -->', undefined],
  ['<noscript><meta content="0;url=x.html" http-equiv="refresh"></noscript>', undefined],
])('the refresh of %s', async (html, target) => {
  await using server = await startPages({ '/d/p.html': ['text/html', html] });
  const { items } = await crawl(
    pageSpider(['http://h.test/d/p.html'], ({ url }: Response) => ({ url })),
    { ...settings, DOWNLOADER_MIDDLEWARES: [[by(server), 740]] },
  );
  expect(items).toEqual([{ url: target ?? 'http://h.test/d/p.html' }]);
  expect(server.requests).toHaveLength(target === undefined ? 1 : 2);
});
