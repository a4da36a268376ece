import { type AddressInfo, createServer } from 'node:net';

import { type Reply, startSite } from '@lycosa/site';
import { Request, type SettingsInput, Spider, type SpiderClass, type SpiderOutput } from 'lycosa';
import { type PrepareRequestFunctionResult, Server, type ServerOptions } from 'proxy-chain';
import { describe, expect, test } from 'vitest';

import { startRaw } from './raw-server.ts';
import { crawl } from './scrape.ts';
import { certificate, hasOpenssl, startTls } from './tls-server.ts';

const once: SettingsInput = { RETRY_ENABLED: false, CONCURRENT_REQUESTS: 1 };

interface Proxy extends AsyncDisposable {
  readonly port: number;
  /** Who asked for what: `user:password host:port`. */
  readonly seen: readonly string[];
  /** Values of Proxy-Authorization. */
  readonly logins: readonly string[];
}

/** A real proxy that lets in whoever has `login`. */
async function startProxy(
  login?: string,
  more: Partial<ServerOptions> = {},
  act: () => PrepareRequestFunctionResult | undefined = () => undefined,
): Promise<Proxy> {
  const seen: string[] = [];
  const logins: string[] = [];
  const server = new Server({
    ...more,
    host: '127.0.0.1',
    port: 0,
    prepareRequestFunction: ({ request, username, password, hostname, port }) => {
      logins.push(request.headers['proxy-authorization'] ?? '');
      const isIn = login === undefined || `${username}:${password}` === login;
      if (isIn) seen.push(`${username}:${password} ${hostname}:${port}`);
      return { requestAuthentication: !isIn, ...act() };
    },
  } as ServerOptions);
  server.on('tlsError', () => {});
  await server.listen();
  return {
    port: server.port,
    seen,
    logins,
    async [Symbol.asyncDispose]() {
      await server.close(true);
    },
  };
}

/** Fetches each URL by its proxy. */
function by(pages: readonly (readonly [url: string, proxy: string])[]): SpiderClass {
  return class ByProxy extends Spider {
    static override readonly name = 'by-proxy';
    override start(): SpiderOutput {
      return pages.map(
        ([url, proxy]) =>
          new Request(url, { meta: { proxy }, errback: this.onError, dontFilter: true }),
      );
    }
    override parse(response: { status: number; text: string }): SpiderOutput {
      return { status: response.status, text: response.text };
    }
    onError({ error }: { error: Error & { code?: string } }): SpiderOutput {
      return { error: error.code, message: error.message };
    }
  };
}

test('http and https sites come by a proxy with a password; without it there is an error that names the proxy', async () => {
  await using site = await startSite({ '/': 'plain' });
  await using proxy = await startProxy('user:p@ss');
  const at = `127.0.0.1:${proxy.port}`;
  const { items } = await crawl(by([[`${site.url}/`, `http://user:p%40ss@${at}`]]), once);
  expect(items).toEqual([{ status: 200, text: 'plain' }]);
  const { items: refused } = await crawl(
    by([['https://127.0.0.1:1/', `http://user:wrong@${at}`]]),
    once,
  );
  expect(refused).toEqual([
    { error: 'ERR_PROXY', message: expect.stringMatching(`the proxy http://${at} .*status 407`) },
  ]);
  expect((refused[0] as { message: string }).message).not.toContain('wrong');
});

describe('a proxy that cannot be used', () => {
  test('is what the error names, is tried again, and does not slow the site down', async () => {
    const closed = createServer();
    await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
    const { port } = closed.address() as AddressInfo;
    await new Promise((resolve) => closed.close(resolve));
    await using site = await startSite({ '/': 'never' });
    const proxy = `http://user:secret@127.0.0.1:${port}`;
    const { items, result, log } = await crawl(
      by([
        [`${site.url}/`, proxy],
        [site.url.replace('http:', 'https:'), proxy],
        [`${site.url}/`, proxy.replace('http:', 'socks5:')],
      ]),
      { BACKOFF_ENABLED: true, RETRY_TIMES: 1 },
    );
    expect(items).toHaveLength(3);
    for (const item of items)
      expect(item).toMatchObject({
        error: 'ERR_PROXY',
        message: expect.stringMatching(`proxy (http|socks5)://127.0.0.1:${port} refused the conn`),
      });
    expect(result.stats).toMatchObject({
      'retry/count': 3,
      'retry/reason_count/DownloadProxyError': 3,
    });
    expect(result.stats['backoff/event_count']).toBeUndefined();
    expect(JSON.stringify(log)).not.toContain('secret');
    expect(site.requests).toEqual([]);
  });

  test.each(['http', 'socks5'])('%s: a silent one ends in time, and is named', async (scheme) => {
    await using silent = await startRaw(() => {});
    const { items, result } = await crawl(
      by([['https://site.example/', `${scheme}://127.0.0.1:${silent.port}`]]),
      { ...once, BACKOFF_ENABLED: true, DOWNLOAD_TIMEOUT: 0.3 },
    );
    expect(items).toEqual([
      {
        error: 'ERR_PROXY',
        message: expect.stringContaining(
          `waiting for the proxy ${scheme}://127.0.0.1:${silent.port}`,
        ),
      },
    ]);
    expect(result.stats['backoff/event_count']).toBeUndefined();
    await silent.whenQuiet();
  });

  test('one that hangs up, or whose name has no address, is named', async () => {
    await using rude = await startRaw((socket) => socket.destroy());
    const { items } = await crawl(
      by([
        ['https://site.example/', `http://127.0.0.1:${rude.port}`],
        ['http://site.example/', 'http://proxy.invalid:3128'],
      ]),
      { ...once, DOWNLOAD_TIMEOUT: 5 },
    );
    const messages = items.map((item) => (item as { message: string }).message).toSorted();
    expect(messages[0]).toMatch(/the proxy http:\/\/proxy\.invalid:3128 has no address/);
    expect(messages[1]).toContain(`the proxy http://127.0.0.1:${rude.port} failed`);
  });
});

test('three proxies in turn over retries and redirects each see their own credentials, the site none', async () => {
  const tries = new Map<string, number>();
  await using site = await startSite({
    '*': ({ url: path }): Reply => {
      const count = (tries.get(path) ?? 0) + 1;
      tries.set(path, count);
      if (path.startsWith('/retry')) return count < 3 ? { status: 503 } : { body: path };
      if (path.startsWith('/redirect'))
        return { status: 302, headers: { location: path.replace('redirect', 'page') } };
      return { body: path };
    },
  });
  const logins = ['a:1', 'b:2', 'c:3'];
  const proxies = await Promise.all(logins.map((login) => startProxy(login)));
  let turn = 0;
  class Rotate {
    processRequest(request: Request): undefined {
      const i = turn++ % 3;
      request.meta.proxy = `http://${logins[i]}@127.0.0.1:${proxies[i]!.port}`;
    }
  }
  class Pages extends Spider {
    static override readonly name = 'pages';
    override start(): SpiderOutput {
      const paths = [1, 2, 3, 4].flatMap((i) => [`/retry${i}`, `/redirect${i}`, `/page-${i}`]);
      return paths.map((path) => new Request(site.url + path, { errback: this.onError }));
    }
    override parse(response: { text: string }): SpiderOutput {
      return { text: response.text };
    }
    onError({ error }: { error: Error }): SpiderOutput {
      return { error: error.message };
    }
  }
  const { items } = await crawl(Pages, {
    DOWNLOADER_MIDDLEWARES: [[Rotate, 740]],
    RETRY_TIMES: 3,
  });
  expect(items.map((item) => (item as { text: string }).text).toSorted()).toEqual(
    [1, 2, 3, 4].flatMap((i) => [`/retry${i}`, `/page${i}`, `/page-${i}`]).toSorted(),
  );
  for (const [i, proxy] of proxies.entries()) {
    expect(proxy.seen.length).toBeGreaterThan(4);
    expect(new Set(proxy.logins)).toEqual(
      new Set([`Basic ${Buffer.from(logins[i]!).toString('base64')}`]),
    );
    await proxy[Symbol.asyncDispose]();
  }
  for (const { headers } of site.requests) expect(headers['proxy-authorization']).toBeUndefined();
});

test('from http to https another proxy of the environment takes over, with its own credentials', async () => {
  await using plain = await startProxy('plain:1');
  await using secure = await startProxy('secure:2');
  await using site = await startSite({
    '/': { status: 302, headers: { location: 'https://127.0.0.1:1/' } },
  });
  const before = { ...process.env };
  process.env['http_proxy'] = `http://plain:1@127.0.0.1:${plain.port}`;
  process.env['https_proxy'] = `http://secure:2@127.0.0.1:${secure.port}`;
  process.env['no_proxy'] = '';
  try {
    class Start extends Spider {
      static override readonly name = 'start';
      override start(): SpiderOutput {
        return [new Request(`${site.url}/`, { errback: this.onError })];
      }
      onError({ error }: { error: Error }): SpiderOutput {
        return { error: error.name };
      }
    }
    const { items } = await crawl(Start, once);
    // Nothing listens on port 1, which the proxy says.
    expect(items).toEqual([{ error: 'DownloadProxyError' }]);
  } finally {
    process.env = before;
  }
  expect(plain.seen).toEqual([`plain:1 127.0.0.1:${new URL(site.url).port}`]);
  expect(secure.seen).toEqual(['secure:2 127.0.0.1:1']);
});

describe.skipIf(!hasOpenssl)('proxies and TLS (skipped without openssl)', () => {
  const ca = hasOpenssl ? certificate('DNS:ca.example', { isCa: true }) : undefined!;
  const own = hasOpenssl ? certificate('IP:127.0.0.1', { ca }) : undefined!;
  const trusting = {
    ...once,
    DOWNLOAD_SLOTS: { '127.0.0.1': { tls: { ca: hasOpenssl ? ca.cert : '' } } },
  };

  test('http and https sites come by a proxy that speaks TLS itself', async () => {
    await using proxy = await startProxy('u:p', { serverType: 'https', httpsOptions: own });
    await using site = await startSite({ '/': 'plain' });
    await using secure = await startTls(own);
    const url = `https://u:p@127.0.0.1:${proxy.port}`;
    const { items } = await crawl(
      by([
        [`${site.url}/`, url],
        [secure.url, url],
      ]),
      trusting,
    );
    expect(items).toHaveLength(2);
    expect(items).toContainEqual({ status: 200, text: 'plain' });
    expect(items).toContainEqual({ status: 200, text: 'ok' });
    expect(secure.requests.join()).not.toContain('proxy-authorization');
  });

  test('the certificate of such a proxy is verified, and a bad one is its failure', async () => {
    await using proxy = await startProxy('u:p', {
      serverType: 'https',
      httpsOptions: certificate('DNS:other.example', { ca }),
    });
    await using site = await startSite({ '/': 'plain' });
    const { items } = await crawl(
      by([[`${site.url}/`, `https://u:p@127.0.0.1:${proxy.port}`]]),
      trusting,
    );
    expect(items).toEqual([
      {
        error: 'ERR_PROXY',
        message: expect.stringMatching(/the proxy https:.*(altnames|ALTNAME)/),
      },
    ]);
    expect(proxy.logins).toEqual([]);
  });
});
