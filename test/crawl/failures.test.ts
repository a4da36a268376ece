import { createServer, type AddressInfo } from 'node:net';

import { Request, Spider, type SpiderOutput } from 'lycosa';
import { expect, test } from 'vitest';

import { startRaw } from './raw-server.ts';
import { crawl } from './scrape.ts';
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
      message: expect.stringMatching(
        `<GET http://${at}/>: http://${at} refused the connection after \\d+ ms`,
      ),
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
  expect(error!.message).toMatch(/self-signed certificate .* after \d+ ms \(TLS handshake\)/);
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
  expect(hung!.message).toMatch(
    `<GET https://site.example/>: the proxy http://127.0.0.1:${rude.port} failed: .* after \\d+ ms \\(waiting for the proxy`,
  );
  const port = await closedPort();
  const [refused] = await errors(
    ['https://site.example/'],
    {},
    `http://u:s3cret@127.0.0.1:${port}`,
  );
  expect(refused!.message).toMatch(
    `the proxy http://127.0.0.1:${port} refused the connection after \\d+ ms`,
  );
  expect(refused!.message).not.toContain('s3cret');
});
