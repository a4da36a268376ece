import { startSite } from '@lycosa/site';
import {
  FormRequest,
  HtmlResponse,
  Request,
  type RequestOptions,
  type Response,
  Spider,
  type SpiderClass,
  type SpiderOutput,
} from 'lycosa';
import { describe, expect, test } from 'vitest';

import { startRaw } from './raw-server.ts';
import { crawl } from './scrape.ts';

const secrets = {
  authorization: 'Bearer s3cr3t',
  cookie: 'hand=s3cr3t',
  'x-api-key': 's3cr3t',
  'x-session-token': 's3cr3t',
  'proxy-authorization': 'Basic s3cr3t',
};

function asking(requests: readonly (readonly [string, RequestOptions])[]): SpiderClass {
  return class Asking extends Spider {
    static override readonly name = 'asking';
    override start(): SpiderOutput {
      return requests.map(
        ([url, options]) => new Request(url, { errback: this.onError, ...options }),
      );
    }
    override parse(response: Response): SpiderOutput {
      return { url: response.url, status: response.status };
    }
    onError({ error }: { error: Error }): SpiderOutput {
      return { error: error.name, message: error.message };
    }
  };
}

/** The host of another site is called localhost here; a redirect may lead there. */
const anywhere = { ADDRESS_POLICY: 'any' } as const;

describe('what is secret stays with its origin', () => {
  test.each([301, 302, 303, 307, 308, 'meta refresh'] as const)('over a %s', async (kind) => {
    await using other = await startSite({ '*': 'other' });
    const target = `http://localhost:${new URL(other.url).port}`;
    const to = (location: string) =>
      kind === 'meta refresh'
        ? { body: `<meta http-equiv="refresh" content="0;url=${location}">` }
        : { status: kind, headers: { location } };
    await using site = await startSite({
      '/': to(`${target}/taken`),
      '/login': to(`${target.replace('//', '//user:pass@')}/login`),
      '/same': to('/end'),
      '/end': 'end',
    });
    const headers = secrets;
    const { items } = await crawl(
      asking([
        [`${site.url}/`, { headers }],
        [`${site.url}/login`, { headers }],
        [`${site.url}/same`, { headers }],
      ]),
      anywhere,
    );
    expect(items).toHaveLength(3);
    expect(other.requests).toHaveLength(2);
    for (const request of other.requests) {
      expect(JSON.stringify(request.headers)).not.toContain('s3cr3t');
      expect(request.headers.authorization).toBeUndefined();
    }
    const end = site.requests.find(({ url }) => url === '/end');
    expect(end?.headers).toMatchObject({ authorization: 'Bearer s3cr3t', 'x-api-key': 's3cr3t' });
  });

  test('robots.txt is asked for without them, and a retry has them again', async () => {
    let count = 0;
    await using site = await startSite({
      '/robots.txt': 'User-agent: *\nDisallow:',
      '/': () => (count++ === 0 ? { status: 503 } : { body: 'ok' }),
    });
    await crawl(asking([[`${site.url}/`, { headers: secrets }]]), { ROBOTSTXT_OBEY: true });
    const [robots, ...pages] = site.requests;
    expect(JSON.stringify(robots!.headers)).not.toContain('s3cr3t');
    expect(pages).toHaveLength(2);
    for (const page of pages) {
      expect(page.headers).toMatchObject({ authorization: 'Bearer s3cr3t', cookie: 'hand=s3cr3t' });
      expect(page.headers['proxy-authorization']).toBeUndefined();
    }
  });

  test('a user and password in a URL are neither logged nor sent as Referer', async () => {
    await using site = await startSite({ '/': '<a href="/next">', '/next': 'end' });
    const url = `${site.url.replace('//', '//me:s3cr3t@')}/`;
    class Following extends Spider {
      static override readonly name = 'following';
      override readonly startUrls = [url];
      override *parse(response: Response): SpiderOutput {
        for (const link of response.css('a')) yield response.follow(link);
      }
    }
    const { log, result } = await crawl(Following);
    expect(site.requests.map((request) => request.url)).toEqual(['/', '/next']);
    expect(JSON.stringify(site.requests.map(({ headers }) => headers.referer))).not.toContain(
      's3cr3t',
    );
    expect(JSON.stringify([log, result.stats])).not.toContain('s3cr3t');
  });
});

describe('cookies', () => {
  test('ten thousand of one host, and giant ones, leave a jar of 180 and small headers', async () => {
    const many = Array.from({ length: 2000 }, (_, i) => i);
    await using site = await startSite({
      '*': ({ url }) => {
        const start = Number(url.slice(1)) * 2000;
        return {
          headers: {
            'set-cookie': [
              ...many.map((i) => `c${start + i}=${i}`),
              `giant${start}=${'x'.repeat(5000)}`,
            ],
          },
        };
      },
      '/last': 'end',
    });
    const urls = [0, 1, 2, 3, 4].map((i) => `${site.url}/${i}`);
    class Sticky extends Spider {
      static override readonly name = 'sticky';
      override start(): SpiderOutput {
        return urls.map((url, i) => new Request(url, { priority: -i }));
      }
      override parse(response: Response): SpiderOutput {
        if (response.url === urls.at(-1)) return new Request(`${site.url}/last`);
        return undefined;
      }
    }
    await crawl(Sticky, {
      CONCURRENT_REQUESTS: 1,
      DOWNLOAD_MAX_HEADERS_SIZE: 1_000_000,
    });
    const cookies = String(site.requests.at(-1)!.headers.cookie).split('; ');
    expect(cookies.length).toBe(180);
    expect(cookies.some((pair) => pair.startsWith('giant'))).toBe(false);
    expect(cookies.at(-1)).toBe('c9999=1999');
  });

  test('of one host and jar reach no other, whatever their Domain says', async () => {
    await using other = await startSite({ '*': 'other' });
    const port = new URL(other.url).port;
    await using site = await startSite({
      '/': {
        headers: {
          location: `http://localhost:${port}/`,
          'set-cookie': [
            'a=1; Domain=localhost',
            'b=1; Domain=.1',
            'c=1; Domain=0.0.1',
            'd=1',
            '__Host-e=1',
            '__Secure-f=1',
          ],
        },
        status: 302,
      },
      '/back': 'end',
    });
    await crawl(asking([[`${site.url}/`, {}]]), anywhere);
    expect(other.requests.map(({ headers }) => headers.cookie)).toEqual([undefined]);
    class Twice extends Spider {
      static override readonly name = 'twice';
      override start(): SpiderOutput {
        return [new Request(`${site.url}/`, { meta: { cookiejar: 1, dontRedirect: true } })];
      }
      override readonly handleHttpstatusList = [302];
      override *parse(): SpiderOutput {
        for (const cookiejar of [1, 2])
          yield new Request(`${site.url}/back`, {
            meta: { cookiejar },
            callback: this.end,
            dontFilter: true,
          });
      }
      end(): void {}
    }
    await crawl(Twice, { CONCURRENT_REQUESTS: 1 });
    const back = site.requests.filter(({ url }) => url === '/back');
    const sent = back.map(({ headers }) => headers.cookie ?? 'none');
    expect(new Set(sent)).toEqual(new Set(['d=1', 'none']));
  });

  test('COOKIES_DEBUG shows names, and values only without LOG_REDACT', async () => {
    await using site = await startSite({
      '/': { headers: { 'set-cookie': 'sid=s3cr3t; Path=/; HttpOnly' } },
    });
    const spider = asking([[`${site.url}/`, { cookies: { own: 's3cr3t', other: '2' } }]]);
    const hidden = await crawl(spider, { COOKIES_DEBUG: true });
    const shown = await crawl(spider, { COOKIES_DEBUG: true, LOG_REDACT: false });
    const lines = ({ log }: { log: readonly { msg: string }[] }): string =>
      log
        .map(({ msg }) => msg)
        .filter((msg) => msg.includes('cookie'))
        .join('\n');
    expect(lines(hidden)).toMatch(/Sending cookies to .*: own=\*\*\*; other=\*\*\*/);
    expect(lines(hidden)).toMatch(/Received cookie from .*: sid=\*\*\*; Path=\/; HttpOnly/);
    expect(JSON.stringify(hidden.log)).not.toContain('s3cr3t');
    expect(lines(shown)).toContain('own=s3cr3t');
  });
});

describe('what would make a second header or request', () => {
  test.each([
    ['a header value', { headers: { 'x-a': 'a\r\nx-b: b' } }],
    ['a header value with a bare LF', { headers: { 'x-a': 'a\nx-b: b' } }],
    ['a header value with NUL', { headers: { 'x-a': 'a\0b' } }],
    ['a header value beyond Latin-1', { headers: { 'x-a': 'a\u010a' } }],
    ['a header name', { headers: { 'x-a\r\nx-b': 'b' } }],
    ['a method', { method: 'GET / HTTP/1.1\r\nx-b: b\r\n\r\nGET' }],
  ] as const)('%s is refused before anything is sent', async (_, options) => {
    await using server = await startRaw((socket) => socket.end('HTTP/1.1 204 No\r\n\r\n'));
    expect(() => new Request(server.url, options as RequestOptions)).toThrow(/header|method/i);
    expect(server.requests).toEqual([]);
  });

  test('in a URL, a cookie, a form field, or the credentials of a proxy it never reaches the wire', async () => {
    await using server = await startRaw((socket) => socket.end('HTTP/1.1 204 No\r\n\r\n'));
    const evil = 'a\r\nx-evil: 1\r\n\r\nGET /evil HTTP/1.1\r\n\u010a\u0120';
    const proxy = `http://${encodeURIComponent(`u\r\nx-evil: 1`)}:p@127.0.0.1:${server.port}`;
    const form = new FormRequest(`${server.url}form`, { formdata: { [evil]: evil } });
    const requests: (readonly [string, RequestOptions])[] = [
      [`${server.url}${evil}?${evil}#${evil}`, {}],
      [`${server.url}cookie`, { cookies: { a: evil, [evil]: 'b', ok: '1' } }],
      [`${server.url}proxied`, { meta: { proxy } }],
      [`http://site.example/${evil}`, { meta: { proxy } }],
    ];
    const spider = class extends asking([]) {
      override start(): SpiderOutput {
        return [
          form,
          ...requests.flatMap(([url, options]) => {
            try {
              return [new Request(url, { errback: 'onError', ...options })];
            } catch {
              return [];
            }
          }),
        ];
      }
    };
    await crawl(spider, { RETRY_ENABLED: false });
    expect(server.requests.length).toBeGreaterThanOrEqual(4);
    for (const request of server.requests) {
      expect(request).not.toMatch(/^x-evil/im);
      expect(request).not.toMatch(/^GET \/evil/m);
      // No character of the second line of a header.
      expect(request.split('\r\n').every((line) => !/[\n\0]/.test(line))).toBe(true);
    }
  });

  test('a Location, a refresh and a link of a page do not either', async () => {
    const evil = '/a\u000d\u000ax-evil: 1';
    await using server = await startRaw((socket, _, count) => {
      if (count === 0)
        socket.end(
          'HTTP/1.1 302 Found\r\nLocation: /next%0d%0ax-evil:%201\r\nContent-Length: 0\r\n\r\n',
        );
      else {
        const body = `<a href="${evil.replaceAll('\r', '&#13;').replaceAll('\n', '&#10;')}">x</a>`;
        socket.end(
          `HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
        );
      }
    });
    class Links extends Spider {
      static override readonly name = 'links';
      override readonly startUrls = [server.url];
      override *parse(response: Response): SpiderOutput {
        if (response instanceof HtmlResponse)
          for (const link of response.css('a')) yield response.follow(link, { callback: this.end });
      }
      end(): void {}
    }
    await crawl(Links);
    expect(server.requests.length).toBe(3);
    for (const request of server.requests) expect(request).not.toMatch(/^x-evil/im);
  });
});
