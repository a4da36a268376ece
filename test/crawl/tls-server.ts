import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';

export const hasOpenssl: boolean = spawnSync('openssl', ['version']).status === 0;

/** A certificate and its key, as PEM. */
export interface Certified {
  readonly key: string;
  readonly cert: string;
}

export interface CertificateOptions {
  /** Who signs it; itself if absent. */
  readonly ca?: Certified;
  /** It may sign others. */
  readonly isCa?: boolean;
  /** It was valid for a day, long ago. */
  readonly isExpired?: boolean;
}

/** A certificate for `name`, such as `IP:127.0.0.1` or `DNS:site.example`. */
export function certificate(name: string, options: CertificateOptions = {}): Certified {
  const folder = mkdtempSync(join(tmpdir(), 'lycosa-tls-'));
  const at = (file: string): string => join(folder, file);
  const openssl = (...args: readonly string[]): void =>
    void execFileSync('openssl', args, { stdio: 'ignore' });
  try {
    const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
    const files = ['-keyout', at('key'), '-out', at('csr')];
    const about = ['-subj', `/CN=${name.replace(/^.*:/, '')}`];
    const names = ['-addext', `subjectAltName=${name}`];
    const role = ['-addext', `basicConstraints=CA:${options.isCa ? 'TRUE' : 'FALSE'}`];
    openssl('req', '-new', ...kind, ...files, ...about, ...names, ...role);
    const ca = options.ca;
    if (ca) {
      writeFileSync(at('ca.key'), ca.key);
      writeFileSync(at('ca.pem'), ca.cert);
    }
    writeFileSync(at('index'), '');
    writeFileSync(
      at('conf'),
      `[ca]\ndefault_ca=d\n[d]\ndatabase=${at('index')}\nnew_certs_dir=${folder}\nrand_serial=yes\ndefault_md=sha256\npolicy=p\ncopy_extensions=copy\n[p]\ncommonName=supplied\n`,
    );
    const signer = ca
      ? ['-keyfile', at('ca.key'), '-cert', at('ca.pem')]
      : ['-keyfile', at('key'), '-selfsign'];
    const dates = options.isExpired
      ? ['-startdate', '20200101000000Z', '-enddate', '20200102000000Z']
      : ['-days', '2'];
    const from = ['-config', at('conf'), '-in', at('csr'), '-out', at('cert')];
    openssl('ca', '-batch', '-notext', ...from, ...signer, ...dates);
    return { key: readFileSync(at('key'), 'utf8'), cert: readFileSync(at('cert'), 'utf8') };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export interface TlsServer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** Common names of the clients that showed a certificate, and the names asked for. */
  readonly clients: readonly string[];
  readonly servernames: readonly string[];
  readonly requests: readonly string[];
}

/** An https server on 127.0.0.1 that answers `ok` and remembers its visitors. */
export async function startTls(options: ServerOptions): Promise<TlsServer> {
  const clients: string[] = [];
  const servernames: string[] = [];
  const requests: string[] = [];
  const server: Server = createServer(options, (request, response) => {
    requests.push(`${request.method} ${request.url} ${JSON.stringify(request.headers)}`);
    response.end('ok');
  });
  server.on('tlsClientError', () => {});
  server.on('secureConnection', (socket: TLSSocket & { servername?: string | false }) => {
    const subject: unknown = socket.getPeerCertificate().subject;
    if (subject) clients.push(String((subject as { CN: string }).CN));
    if (socket.servername) servernames.push(socket.servername);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `https://127.0.0.1:${port}/`,
    port,
    clients,
    servernames,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
