import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createSecureServer } from 'node:http2';
import { createServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';

import {
  Request,
  type Response,
  type SettingsInput,
  Spider,
  type SpiderOutput,
  type TlsSettings,
} from 'lycosa';
import { afterEach, describe, expect, test } from 'vitest';

import { type RawServer, startRaw } from './raw-server.ts';
import { crawl, pageSpider } from './scrape.ts';
import { startSocks } from './socks-server.ts';
import { certificate, type Certified, hasOpenssl, startTls } from './tls-server.ts';

function trust({ cert }: Certified): void {
  setDefaultCACertificates([...getCACertificates('bundled'), cert]);
}

/** A proxy that knows CONNECT. */
const startTunnel = (): Promise<RawServer> =>
  startRaw((socket, request) => {
    socket.removeAllListeners('data');
    const port = Number(/:(\d+) HTTP/.exec(request)?.[1]);
    const to = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      socket.pipe(to).pipe(socket);
    });
    to.on('error', () => socket.destroy());
    socket.on('close', () => to.destroy());
  });

const once = { RETRY_ENABLED: false };

describe.skipIf(!hasOpenssl)('certificates (skipped without openssl)', () => {
  afterEach(() => setDefaultCACertificates(getCACertificates('bundled')));

  test.each([
    ['trusted by nobody', 'IP:127.0.0.1', false, false, /self-signed/],
    ['for another host', 'DNS:other.example', false, true, /altnames|ALTNAME/],
    ['expired', 'IP:127.0.0.1', true, true, /expired/],
  ])('a certificate that is %s is refused', async (_, name, isExpired, isTrusted, message) => {
    const options = certificate(name, { isExpired });
    if (isTrusted) trust(options);
    await using server = await startTls(options);
    const { items } = await crawl(pageSpider([server.url]), once);
    expect(items).toEqual([
      { error: 'DownloadFailedError', message: expect.stringMatching(message) },
    ]);
  });

  test('a certificate that holds is accepted', async () => {
    const good = certificate('IP:127.0.0.1');
    trust(good);
    await using server = await startTls(good);
    const { items } = await crawl(pageSpider([server.url]), once);
    expect(items).toMatchObject([{ status: 200, text: 'ok' }]);
  });

  test.each(['CONNECT', 'SOCKS5'])(
    'behind a proxy (%s) certificates are verified as well',
    async (how) => {
      const good = certificate('IP:127.0.0.1');
      const expired = certificate('IP:127.0.0.1', { isExpired: true });
      trust(good);
      await using server = await startTls(good);
      await using elsewhere = await startTls(certificate('DNS:other.example'));
      await using old = await startTls(expired);
      await using outdated = await startTls({
        ...good,
        minVersion: 'TLSv1',
        maxVersion: 'TLSv1.1',
        ciphers: 'DEFAULT:@SECLEVEL=0',
      });
      await using tunnel = await startTunnel();
      await using socks = await startSocks();
      class ByProxy {
        processRequest(request: Request): undefined {
          request.meta.proxy = how === 'CONNECT' ? tunnel.url : `socks5://127.0.0.1:${socks.port}`;
        }
      }
      const urls = [server, elsewhere, old, outdated].map(({ url }) => url);
      const { items, result } = await crawl(pageSpider(urls), {
        ...once,
        CONCURRENT_REQUESTS: 1,
        DOWNLOADER_MIDDLEWARES: [[ByProxy, 100]],
      });
      expect(items).toHaveLength(4);
      expect(items).toContainEqual(expect.objectContaining({ status: 200, text: 'ok' }));
      const failed = items.filter((item) => 'error' in (item as object));
      expect(failed).toHaveLength(3);
      expect(result.stats['security/blocked/DOWNLOAD_VERIFY_CERTIFICATES']).toBe(2);
      const asked = how === 'CONNECT' ? tunnel.requests : socks.seen;
      expect(asked).toHaveLength(4);
      expect(asked[0]).toMatch(
        how === 'CONNECT' ? /^CONNECT 127\.0\.0\.1:\d+ HTTP\/1\.1/ : /^127\.0\.0\.1:\d+$/,
      );
    },
  );

  test('verification can be switched off, which is said once', async () => {
    await using server = await startTls(certificate('DNS:other.example'));
    const { items, log } = await crawl(
      pageSpider([server.url, `${server.url}b`], (response) => [
        {
          text: response.text,
          ip: response.ipAddress,
          protocol: response.protocol,
          hasTls: (response.timings.tls ?? 0) > 0,
        },
      ]),
      { ...once, DOWNLOAD_VERIFY_CERTIFICATES: false, CONCURRENT_REQUESTS: 1 },
    );
    const page = { text: 'ok', ip: '127.0.0.1', protocol: 'HTTP/1.1' };
    expect(items).toEqual([
      { ...page, hasTls: true },
      { ...page, hasTls: false },
    ]);
    expect(log.filter(({ msg }) => msg.includes('DOWNLOAD_VERIFY_CERTIFICATES'))).toHaveLength(1);
  });

  test('an old version of TLS is refused', async () => {
    await using server = await startTls({
      ...certificate('IP:127.0.0.1'),
      minVersion: 'TLSv1',
      maxVersion: 'TLSv1.1',
      ciphers: 'DEFAULT:@SECLEVEL=0',
    });
    const { items } = await crawl(pageSpider([server.url]), {
      ...once,
      DOWNLOAD_VERIFY_CERTIFICATES: false,
    });
    expect(items).toEqual([{ error: 'DownloadFailedError', message: expect.anything() }]);
  });

  test('HTTP/2 is spoken where a slot asks for it, and nowhere else', async () => {
    const server = createSecureServer(
      { ...certificate('IP:127.0.0.1'), allowHTTP1: true },
      (_, response) => response.end('ok'),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const spider = pageSpider([url, `${url}b`], (response) => [
      { protocol: response.protocol, text: response.text },
    ]);
    const settings = { ...once, DOWNLOAD_VERIFY_CERTIFICATES: false };
    const plain = await crawl(spider, settings);
    const h2 = await crawl(spider, {
      ...settings,
      DOWNLOAD_SLOTS: { '127.0.0.1': { http2: true } },
    });
    server.close();
    expect(plain.items).toEqual(Array(2).fill({ protocol: 'HTTP/1.1', text: 'ok' }));
    expect(h2.items).toEqual(Array(2).fill({ protocol: 'HTTP/2', text: 'ok' }));
  });

  test.each([
    ['HTTP/2 asked for, and spoken', true, 1],
    ['HTTP/2 asked for, and only 1.1 to be had', false, 4],
  ])('ten requests at once: %s', async (_, isH2, connections) => {
    let most = 0;
    let now = 0;
    const answer = (_request: unknown, response: { end(text: string): void }): void => {
      most = Math.max(most, ++now);
      setTimeout(() => {
        now--;
        response.end('ok');
      }, 30);
    };
    const keys = certificate('IP:127.0.0.1');
    const server = isH2 ? createSecureServer(keys, answer) : createServer(keys, answer);
    let sockets = 0;
    server.on('secureConnection', () => sockets++);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const urls = Array.from({ length: 10 }, (_page, i) => `https://127.0.0.1:${port}/${i}`);
    const { items } = await crawl(pageSpider(urls), {
      ...once,
      DOWNLOAD_VERIFY_CERTIFICATES: false,
      CONCURRENT_REQUESTS_PER_DOMAIN: 4,
      DOWNLOAD_SLOTS: { '127.0.0.1': { http2: true, concurrency: 4 } },
    });
    server.close();
    expect(items).toHaveLength(10);
    for (const item of items) expect(item).toMatchObject({ status: 200, text: 'ok' });
    expect(sockets).toBe(connections);
    expect(most).toBe(4);
  });

  test('a response has the certificate, address and times of its connection', async () => {
    await using server = await startTls(certificate('IP:127.0.0.1'));
    const { items } = await crawl(
      pageSpider([server.url, `${server.url}b`], ({ certificate: shown, timings, ipAddress }) => [
        { subject: shown?.subject, ipAddress, timings },
      ]),
      { ...once, DOWNLOAD_VERIFY_CERTIFICATES: false, CONCURRENT_REQUESTS: 1 },
    );
    const about = { subject: 'CN=127.0.0.1', ipAddress: '127.0.0.1' };
    expect(items).toMatchObject([about, about]);
    const [first, second] = items as { timings: Record<string, number | undefined> }[];
    for (const part of ['wait', 'connect', 'tls', 'firstByte', 'body'])
      expect(first!.timings[part]).toBeGreaterThanOrEqual(0);
    // An address needs no name, an open connection nothing of it.
    expect(first!.timings['dns']).toBeUndefined();
    expect(second!.timings).toMatchObject({ wait: expect.any(Number), body: expect.any(Number) });
    expect(second!.timings['connect']).toBeUndefined();
    expect(second!.timings['tls']).toBeUndefined();
  });
});

describe.skipIf(!hasOpenssl)('TLS of a slot (skipped without openssl)', () => {
  const slot = (tls: TlsSettings): SettingsInput => ({
    ...once,
    DOWNLOAD_SLOTS: { '127.0.0.1': { tls } },
  });
  const ca = hasOpenssl ? certificate('DNS:ca.example', { isCa: true }) : undefined!;
  const site = hasOpenssl ? certificate('IP:127.0.0.1', { ca }) : undefined!;

  test('verification is off where a slot says so, and only there', async () => {
    await using server = await startTls(certificate('IP:127.0.0.1'));
    const off = slot({ verify: false });
    const { items, log } = await crawl(pageSpider([server.url]), off);
    expect(items).toMatchObject([{ text: 'ok' }]);
    expect(log.filter(({ msg }) => msg.includes('tls.verify'))).toHaveLength(1);
    const other = { ...once, DOWNLOAD_SLOTS: { 'other.example': { tls: { verify: false } } } };
    expect((await crawl(pageSpider([server.url]), other)).items).toMatchObject([
      { error: 'DownloadFailedError' },
    ]);
  });

  test('a certificate of an authority of its own holds, as text and as a file', async () => {
    await using server = await startTls(site);
    const folder = mkdtempSync(join(tmpdir(), 'lycosa-ca-'));
    const file = join(folder, 'ca.pem');
    writeFileSync(file, ca.cert);
    for (const one of [ca.cert, file, [ca.cert, file]]) {
      const { items } = await crawl(pageSpider([server.url]), slot({ ca: one }));
      expect(items).toMatchObject([{ text: 'ok' }]);
    }
    rmSync(folder, { recursive: true });
    const missing = await crawl(pageSpider([server.url]), slot({ ca: file }));
    expect(missing.items).toMatchObject([
      { error: 'SettingsError', message: expect.stringContaining(file) },
    ]);
  });

  test('a server that asks for a certificate gets the one of its slot, by a tunnel too', async () => {
    await using server = await startTls({ ...site, ca: ca.cert, requestCert: true });
    await using tunnel = await startTunnel();
    const mine = certificate('DNS:me.example', { ca });
    const own = slot({ ca: ca.cert, cert: mine.cert, key: mine.key });
    expect((await crawl(pageSpider([server.url]), own)).items).toMatchObject([{ text: 'ok' }]);
    class ByTunnel {
      processRequest(request: Request): undefined {
        request.meta.proxy = tunnel.url;
      }
    }
    const tunnelled = { ...own, DOWNLOADER_MIDDLEWARES: [[ByTunnel, 100] as const] };
    expect((await crawl(pageSpider([server.url]), tunnelled)).items).toMatchObject([
      { text: 'ok' },
    ]);
    expect(server.clients).toEqual(['me.example', 'me.example']);
  });

  test('the slot of meta.downloadSlot decides, and its connections are its own', async () => {
    await using server = await startTls({
      ...site,
      ca: ca.cert,
      requestCert: true,
      rejectUnauthorized: false,
    });
    const mine = certificate('DNS:me.example', { ca });
    class Both extends Spider {
      static override readonly name = 'both';
      override start(): SpiderOutput {
        return ['mine', 'plain'].map(
          (downloadSlot) => new Request(server.url, { meta: { downloadSlot }, dontFilter: true }),
        );
      }
      override parse(response: Response): SpiderOutput {
        return { text: response.text };
      }
    }
    const { items } = await crawl(Both, {
      ...once,
      DOWNLOAD_SLOTS: {
        mine: { tls: { ca: ca.cert, cert: mine.cert, key: mine.key } },
        plain: { tls: { ca: ca.cert } },
      },
    });
    expect(items).toEqual([{ text: 'ok' }, { text: 'ok' }]);
    expect(server.clients).toEqual(['me.example']);
  });

  test('an old version is spoken where a slot allows it', async () => {
    const old = { minVersion: 'TLSv1', ciphers: 'DEFAULT:@SECLEVEL=0' } as const;
    await using server = await startTls({ ...site, ...old, maxVersion: 'TLSv1.1' });
    const { items } = await crawl(pageSpider([server.url]), slot({ ca: ca.cert, ...old }));
    expect(items).toMatchObject([{ text: 'ok' }]);
    await using modern = await startTls({ ...site, maxVersion: 'TLSv1.2' });
    const strict = slot({ ca: ca.cert, minVersion: 'TLSv1.3' });
    expect((await crawl(pageSpider([modern.url]), strict)).items).toMatchObject([
      { error: 'DownloadFailedError' },
    ]);
  });

  test('the name that a slot asks for is the name that the certificate must have', async () => {
    await using server = await startTls(certificate('DNS:inner.example', { ca }));
    const named = slot({ ca: ca.cert, servername: 'inner.example' });
    expect((await crawl(pageSpider([server.url]), named)).items).toMatchObject([{ text: 'ok' }]);
    expect(server.servernames).toEqual(['inner.example']);
    const other = slot({ ca: ca.cert, servername: 'other.example' });
    expect((await crawl(pageSpider([server.url]), other)).items).toMatchObject([
      { error: 'DownloadFailedError' },
    ]);
  });
});
