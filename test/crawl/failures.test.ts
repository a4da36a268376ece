import { createServer, type AddressInfo } from 'node:net';

import { Request, Spider, type SpiderOutput } from 'lycosa';
import { expect, test } from 'vitest';

import { startRaw } from './raw-server.ts';
import { crawl, pageSpider } from './scrape.ts';
import { certificate, hasOpenssl, startTls } from './tls-server.ts';

// Whoever reads one line of a log must know where it went wrong, at what, and how long it took.

/** The errors of downloads, by host and port. */
async function errors(
  urls: readonly string[],
  settings = {},
  proxy?: string,
): Promise<{ code: string; message: string }[]> {
  class Failing extends Spider {
    static override readonly name = 'failing';
    override start(): SpiderOutput {
      return urls.map(
        (url) =>
          new Request(url, { errback: this.onError, meta: proxy === undefined ? {} : { proxy } }),
      );
    }
    override parse(): SpiderOutput {
      return { code: 'none' };
    }
    onError({ error }: { error: Error & { code?: string } }): SpiderOutput {
      return { code: error.code, message: error.message };
    }
  }
  const { items } = await crawl(Failing, {
    RETRY_ENABLED: false,
    DOWNLOAD_TIMEOUT: 10,
    DOWNLOAD_MAX_HEADERS_SIZE: 2000,
    ...settings,
  });
  return items as { code: string; message: string }[];
}

/** A port where nobody listens. */
async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

test('a name without an address', async () => {
  expect(await errors(['http://nobody.invalid/'])).toEqual([
    {
      code: 'ERR_CANNOT_RESOLVE_HOST',
      message: expect.stringMatching(/host nobody\.invalid has no address .* after \d+ ms/),
    },
  ]);
});

test('a port that refuses', async () => {
  const at = `127.0.0.1:${await closedPort()}`;
  expect(await errors([`http://${at}/`])).toEqual([
    {
      code: 'ERR_CONNECTION_REFUSED',
      message: expect.stringContaining(`<GET http://${at}/>: http://${at} refused the connection`),
    },
  ]);
});

test.each([
  ['closed before the headers', '', /after \d+ ms \(waiting for the response headers\)/],
  ['no HTTP', 'SSH-2.0\r\n\r\n', /after \d+ ms \(waiting for the response headers\)/],
  [
    'headers beyond DOWNLOAD_MAX_HEADERS_SIZE',
    `HTTP/1.1 200 OK\r\nX-A: ${'a'.repeat(5000)}\r\n\r\n`,
    /longer than DOWNLOAD_MAX_HEADERS_SIZE after \d+ ms \(waiting for the response headers\)/,
  ],
  [
    'a body cut short',
    'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc',
    /the body ended early, with 3 bytes after \d+ ms/,
  ],
])('an answer that is %s', async (_, bytes, message) => {
  await using server = await startRaw((socket) => socket.end(bytes));
  const [error] = await errors([server.url]);
  expect(error!.message).toContain(`<GET ${server.url}>`);
  expect(error!.message).toMatch(message);
});

test.skipIf(!hasOpenssl)('a certificate that does not hold', async () => {
  await using server = await startTls(certificate('DNS:other.example'));
  const [error] = await errors([server.url]);
  expect(error!.message).toMatch(
    /self-signed certificate.* after \d+ ms \(TLS handshake\)\. tls\.ca in DOWNLOAD_SLOTS/,
  );
});

test('a server that lets a TLS handshake hang', async () => {
  await using server = await startRaw(() => {});
  const [error] = await errors([server.url.replace('http:', 'https:')], { DOWNLOAD_TIMEOUT: 0.3 });
  expect(error).toEqual({
    code: 'ERR_DOWNLOAD_TIMEOUT',
    message: expect.stringContaining('took longer than 0.3 s (TLS handshake)'),
  });
});

test('a proxy that hangs up, and one that refuses', async () => {
  await using rude = await startRaw((socket) => socket.destroy());
  const [hung] = await errors(['https://site.example/'], {}, `http://127.0.0.1:${rude.port}`);
  expect(hung!.message).toMatch(/^<GET https:\/\/site.example\/>: the proxy http:\/\/127.0.0.1:/);
  expect(hung!.message).toMatch(/failed: .* after \d+ ms \(waiting for the proxy/);
  const port = await closedPort();
  const [refused] = await errors(
    ['https://site.example/'],
    {},
    `http://u:s3cret@127.0.0.1:${port}`,
  );
  expect(refused!.message).toContain(`the proxy http://127.0.0.1:${port} refused the connection`);
  expect(refused!.message).toMatch(/after \d+ ms \(connecting to the proxy/);
  expect(refused!.message).not.toContain('s3cret');
});

test('a request is sent from the address it is told to, else from that of the setting', async () => {
  const from: unknown[] = [];
  await using server = await startRaw((socket) => {
    from.push(socket.remoteAddress);
    socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
  });
  class Bound extends Spider {
    static override readonly name = 'bound';
    override *start(): SpiderOutput {
      yield new Request(server.url);
      yield new Request(`${server.url}own`, { meta: { bindaddress: '127.0.0.8' } });
      yield new Request(`${server.url}wrong`, {
        meta: { bindaddress: 'eth0' },
        errback: this.onError,
      });
    }
    override parse(): void {}
    onError({ error }: { error: Error }): SpiderOutput {
      return { message: error.message };
    }
  }
  const { items } = await crawl(Bound, {
    CONCURRENT_REQUESTS: 1,
    DOWNLOAD_BIND_ADDRESS: '127.0.0.9',
  });
  expect(new Set(from)).toEqual(new Set(['127.0.0.8', '127.0.0.9']));
  expect(items).toEqual([{ message: expect.stringContaining('got "eth0"') }]);
});

test('of many duplicates the first is logged, with DUPEFILTER_DEBUG all are', async () => {
  await using server = await startRaw((socket) =>
    socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'),
  );
  class Twins extends Spider {
    static override readonly name = 'twins';
    override readonly startUrls = [server.url];
    override *parse(): SpiderOutput {
      for (let i = 0; i < 3; i++) yield new Request(server.url);
    }
  }
  const dropped = async (DUPEFILTER_DEBUG: boolean): Promise<number> => {
    const { log } = await crawl(Twins, { DUPEFILTER_DEBUG });
    return log.filter(({ msg }) => /^Dropped .*: duplicate/.test(msg)).length;
  };
  expect(await dropped(false)).toBe(1);
  expect(await dropped(true)).toBe(3);
});

test('a page of no announced length is flagged partial', async () => {
  await using server = await startRaw((socket, request) =>
    socket.end(
      request.startsWith('GET /whole')
        ? 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'
        : 'HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nok',
    ),
  );
  const { items } = await crawl(
    pageSpider([server.url, `${server.url}whole`], ({ flags }) => ({ flags: [...flags] })),
    { CONCURRENT_REQUESTS: 1 },
  );
  expect(items).toEqual(expect.arrayContaining([{ flags: ['partial'] }, { flags: [] }]));
});
