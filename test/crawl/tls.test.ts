import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createSecureServer } from 'node:http2';
import { createServer, type ServerOptions } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';

import type { Request } from 'lycosa';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import { type RawServer, startRaw } from './raw-server.ts';
import { crawl, pageSpider } from './scrape.ts';

const hasOpenssl = spawnSync('openssl', ['version']).status === 0;
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'lycosa-tls-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A self-signed certificate for `name`. */
function certificate(name: string): ServerOptions {
  const key = join(folder, 'test.key');
  const cert = join(folder, 'test.pem');
  execFileSync(
    'openssl',
    ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'].concat(
      ['-keyout', key, '-out', cert],
      ['-subj', '/CN=test'],
      ['-addext', `subjectAltName=${name}`],
      ['-days', '2'],
    ),
    { stdio: 'ignore' },
  );
  return { key: readFileSync(key), cert: readFileSync(cert) };
}

/** One that was valid for a day, long ago. */
function expired(name: string): ServerOptions {
  const { key } = certificate(name);
  const at = (file: string): string => join(folder, file);
  writeFileSync(at('index.txt'), '');
  writeFileSync(
    at('ca.conf'),
    `[ca]\ndefault_ca=d\n[d]\ndatabase=${at('index.txt')}\nnew_certs_dir=${folder}\nrand_serial=yes\ndefault_md=sha256\npolicy=p\ncopy_extensions=copy\n[p]\ncommonName=supplied\n`,
  );
  const run = (args: readonly string[]): void =>
    void execFileSync('openssl', args, { stdio: 'ignore' });
  const request = ['-key', at('test.key'), '-subj', '/CN=test', '-out', at('test.csr')];
  run(['req', '-new', ...request, '-addext', `subjectAltName=${name}`]);
  const dates = ['-startdate', '20200101000000Z', '-enddate', '20200102000000Z'];
  const files = ['-keyfile', at('test.key'), '-in', at('test.csr'), '-out', at('past.pem')];
  run(['ca', '-batch', '-selfsign', '-notext', '-config', at('ca.conf'), ...files, ...dates]);
  return { key, cert: readFileSync(at('past.pem')) };
}

function trust({ cert }: ServerOptions): void {
  setDefaultCACertificates([...getCACertificates('bundled'), String(cert)]);
}

async function startTls(options: ServerOptions): Promise<AsyncDisposable & { url: string }> {
  const server = createServer(options, (_, response) => response.end('ok'));
  server.on('tlsClientError', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
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
    ['trusted by nobody', 'IP:127.0.0.1', '2', false, /self-signed/],
    ['for another host', 'DNS:other.example', '2', true, /altnames|ALTNAME/],
    ['expired', 'IP:127.0.0.1', 'past', true, /expired/],
  ])('a certificate that is %s is refused', async (_, name, days, isTrusted, message) => {
    const options = days === 'past' ? expired(name) : certificate(name);
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

  test('behind the tunnel of a proxy certificates are verified as well', async () => {
    const good = certificate('IP:127.0.0.1');
    const bad = certificate('DNS:other.example');
    trust(good);
    await using server = await startTls(good);
    await using other = await startTls(bad);
    await using tunnel = await startTunnel();
    class ByTunnel {
      processRequest(request: Request): undefined {
        request.meta.proxy = tunnel.url;
      }
    }
    const { items } = await crawl(pageSpider([server.url, other.url]), {
      ...once,
      CONCURRENT_REQUESTS: 1,
      DOWNLOADER_MIDDLEWARES: [[ByTunnel, 100]],
    });
    expect(items).toHaveLength(2);
    expect(items).toContainEqual(expect.objectContaining({ status: 200, text: 'ok' }));
    expect(items).toContainEqual(expect.objectContaining({ error: 'DownloadFailedError' }));
    expect(tunnel.requests).toHaveLength(2);
    expect(tunnel.requests[0]).toMatch(/^CONNECT 127\.0\.0\.1:\d+ HTTP\/1\.1/);
  });

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
    const options = certificate('IP:127.0.0.1');
    await using server = await startTls({
      ...options,
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
});
