import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { startSite } from '@lycosa/site';
import { Request, Spider, type SpiderClass, type SpiderOutput } from 'lycosa';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { type RawServer, startRaw } from './raw-server.ts';
import { crawl } from './scrape.ts';
import { startSocks } from './socks-server.ts';

const once = { RETRY_ENABLED: false, CONCURRENT_REQUESTS: 1 };

/** Fetches each URL with its meta. */
function metaSpider(
  pages: readonly (readonly [string, Record<string, string | null>])[],
): SpiderClass {
  return class MetaSpider extends Spider {
    static override readonly name = 'meta';
    override start(): SpiderOutput {
      return pages.map(
        ([url, meta]) => new Request(url, { meta, errback: this.onError, dontFilter: true }),
      );
    }
    override parse(response: { status: number; text: string }): SpiderOutput {
      return { status: response.status, text: response.text };
    }
    onError({ error }: { error: Error }): SpiderOutput {
      return { error: error.name, message: error.message };
    }
  };
}

/** A proxy that answers by itself and remembers what it was asked. */
const startFake = (text: string): Promise<RawServer> =>
  startRaw((socket) =>
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${text.length}\r\n\r\n${text}`),
  );

const authOf = (request: string): string | undefined =>
  /^proxy-authorization: (.*)$/im.exec(request)?.[1];
const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`;

test('each proxy gets the whole URL and its own credentials, and no origin sees any', async () => {
  await using one = await startFake('one');
  await using two = await startFake('two');
  await using origin = await startFake('origin');
  const at = (proxy: RawServer, login = ''): { proxy: string } => ({
    proxy: `http://${login}127.0.0.1:${proxy.port}`,
  });
  const { items } = await crawl(
    metaSpider([
      ['http://site.example/a?b', at(one, 'u:p%40@')],
      ['http://site.example/b', at(two)],
      ['http://other.example/c', at(two, 'v:q@')],
      [origin.url, { proxy: null }],
    ]),
    once,
  );
  const texts = items.map((item) => (item as { text: string }).text);
  expect(texts.toSorted()).toEqual(['one', 'origin', 'two', 'two']);
  expect(one.requests[0]).toMatch(
    /^GET http:\/\/site\.example\/a\?b HTTP\/1\.1\r\nhost: site\.example/i,
  );
  expect(one.requests.map(authOf)).toEqual([basic('u:p@')]);
  const second = new Map(two.requests.map((request) => [request.split(' ')[1], authOf(request)]));
  expect(second.get('http://site.example/b')).toBeUndefined();
  expect(second.get('http://other.example/c')).toBe(basic('v:q'));
  expect(origin.requests.map(authOf)).toEqual([undefined]);
});

test('credentials of a proxy do not follow a redirect to a request without it', async () => {
  await using origin = await startFake('origin');
  await using proxy = await startRaw((socket) =>
    socket.write(`HTTP/1.1 302 Found\r\nLocation: ${origin.url}\r\nContent-Length: 0\r\n\r\n`),
  );
  class Direct {
    processRequest(request: Request): undefined {
      if (request.meta.redirectTimes) request.meta.proxy = null;
    }
  }
  const { items } = await crawl(
    metaSpider([['http://site.example/', { proxy: `http://u:p@127.0.0.1:${proxy.port}` }]]),
    { ...once, DOWNLOADER_MIDDLEWARES: [[Direct, 100]], ADDRESS_POLICY: 'any' },
  );
  expect(items).toEqual([{ status: 200, text: 'origin' }]);
  expect(proxy.requests.map(authOf)).toEqual([basic('u:p')]);
  expect(origin.requests.map(authOf)).toEqual([undefined]);
});

test('what is no proxy is an error that names it without its password', async () => {
  const { items } = await crawl(
    metaSpider([['http://site.example/', { proxy: 'ftp://u:secret@proxy.example' }]]),
    once,
  );
  expect(items).toEqual([
    { error: 'UnsupportedUrlSchemeError', message: expect.not.stringContaining('secret') },
  ]);
});

test('an address of the inside is out of reach by a proxy too', async () => {
  await using proxy = await startFake('inside');
  const { items, result } = await crawl(
    metaSpider([['http://169.254.169.254/', { proxy: `http://127.0.0.1:${proxy.port}` }]]),
    once,
  );
  expect(items).toMatchObject([{ error: 'DownloadCancelledError' }]);
  expect(result.stats['security/blocked/ADDRESS_POLICY']).toBe(1);
  expect(proxy.requests).toEqual([]);
});

describe('SOCKS5', () => {
  test('the proxy resolves the name and carries the request', async () => {
    await using origin = await startFake('origin');
    await using socks = await startSocks();
    const proxy = `socks5://127.0.0.1:${socks.port}`;
    const { items } = await crawl(
      metaSpider([
        [`http://one.invalid:${origin.port}/`, { proxy }],
        [`http://two.invalid:${origin.port}/`, { proxy }],
      ]),
      once,
    );
    expect(items).toEqual(Array(2).fill({ status: 200, text: 'origin' }));
    // No connection serves two origins.
    expect(socks.seen.toSorted()).toEqual([
      `one.invalid:${origin.port}`,
      `two.invalid:${origin.port}`,
    ]);
  });

  test('user and password are for it alone', async () => {
    await using origin = await startFake('origin');
    await using socks = await startSocks('u:p');
    const url = `http://one.invalid:${origin.port}/`;
    const { items } = await crawl(
      metaSpider([
        [url, { proxy: `socks5://u:p@127.0.0.1:${socks.port}` }],
        [url, { proxy: `socks5://u:wrong@127.0.0.1:${socks.port}` }],
        [url, { proxy: `socks5://127.0.0.1:${socks.port}` }],
      ]),
      once,
    );
    expect(items.filter((item) => 'text' in (item as object))).toHaveLength(1);
    expect(items.filter((item) => 'error' in (item as object))).toHaveLength(2);
    expect(origin.requests.map(authOf)).toEqual([undefined]);
  });

  test('a port where nobody listens is a refused connection of the site', async () => {
    await using socks = await startSocks();
    const { items } = await crawl(
      metaSpider([['http://one.invalid:1/', { proxy: `socks5://127.0.0.1:${socks.port}` }]]),
      once,
    );
    expect(items).toEqual([
      {
        error: 'DownloadConnectionRefusedError',
        message: expect.stringContaining(
          'http://one.invalid:1 refused the connection (proxy socks5:',
        ),
      },
    ]);
  });
});

const hasTinyproxy = spawnSync('tinyproxy', ['-v']).status === 0;

describe.skipIf(!hasTinyproxy)('tinyproxy (skipped where it is not installed)', () => {
  let folder: string;
  let port: number;
  let tiny: ChildProcess;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'lycosa-proxy-'));
    const probe = createServer();
    await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
    port = (probe.address() as AddressInfo).port;
    await new Promise((resolve) => probe.close(resolve));
    const config = join(folder, 'tinyproxy.conf');
    writeFileSync(
      config,
      `Port ${port}\nListen 127.0.0.1\nTimeout 10\nMaxClients 20\nBasicAuth user secret\nLogFile "${folder}/log"\nPidFile "${folder}/pid"\n`,
    );
    tiny = spawn('tinyproxy', ['-d', '-c', config], { stdio: 'ignore' });
    for (let isUp = false; !isUp; await sleep(20)) {
      isUp = await new Promise<boolean>((resolve) => {
        const socket = connect(port, '127.0.0.1', () => resolve(true));
        socket.on('error', () => resolve(false));
        socket.on('connect', () => socket.destroy());
      });
    }
  });
  afterAll(() => {
    tiny.kill();
    rmSync(folder, { recursive: true, force: true });
  });

  test('pages come through it with the right password', async () => {
    await using site = await startSite({ '/': '<p>one</p>', '/b': '<p>two</p>' });
    const proxy = `http://user:secret@127.0.0.1:${port}`;
    const { items } = await crawl(
      metaSpider([
        [`${site.url}/`, { proxy }],
        [`${site.url}/b`, { proxy }],
      ]),
      once,
    );
    expect(items).toHaveLength(2);
    expect(items).toContainEqual({ status: 200, text: '<p>two</p>' });
  });

  test('without a password it answers 407, which is a status like others', async () => {
    await using site = await startSite({ '/': '<p>one</p>' });
    const { items } = await crawl(
      metaSpider([[`${site.url}/`, { proxy: `http://127.0.0.1:${port}` }]]),
      { ...once, HTTPERROR_ALLOW_ALL: true },
    );
    expect(items).toMatchObject([{ status: 407 }]);
    expect(site.hits('/')).toBe(0);
  });

  test('https goes through a tunnel, and a refused tunnel is a failure of the proxy', async () => {
    const { items } = await crawl(
      metaSpider([['https://127.0.0.1:1/', { proxy: `http://127.0.0.1:${port}` }]]),
      once,
    );
    expect(items).toEqual([
      { error: 'DownloadProxyError', message: expect.stringContaining('407') },
    ]);
  });
});
