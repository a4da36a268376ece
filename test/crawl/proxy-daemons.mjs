// Proxies as they are installed: squid with a password, tinyproxy behind the TLS of stunnel, dante for SOCKS5; a plain and a
// TLS site behind each. For Debian, as root: apt-get install squid tinyproxy stunnel4 dante-server
// node --conditions=lycosa-source test/crawl/proxy-daemons.mjs
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { startSite } from '@lycosa/site';
import { Request, Spider } from 'lycosa';

import { crawl } from './scrape.ts';
import { certificate, startTls } from './tls-server.ts';

const folder = mkdtempSync(join(tmpdir(), 'lycosa-proxies-'));
chmodSync(folder, 0o777);
const daemons = [];

async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

const file = (name, text) => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

/** Waits until `port` is listened on. */
async function start(command, args, port) {
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  daemons.push(child);
  for (let wait = 0; wait < 400; wait++) {
    const isUp = await new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(true));
      socket.on('error', () => resolve(false));
      socket.on('connect', () => socket.destroy());
    });
    if (isUp) return;
    if (child.exitCode !== null) throw new Error(`${command} ended with ${child.exitCode}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`${command} does not listen on ${port}`);
}

async function startSquid() {
  const port = await freePort();
  const hash = spawnSync('openssl', ['passwd', '-apr1', 'secret'], { encoding: 'utf8' }).stdout;
  const passwords = file('passwords', `user:${hash}`);
  const conf = file(
    'squid.conf',
    `http_port 127.0.0.1:${port}
auth_param basic program /usr/lib/squid/basic_ncsa_auth ${passwords}
acl known proxy_auth REQUIRED
http_access allow known
http_access deny all
cache deny all
pid_filename ${folder}/squid.pid
access_log none
cache_log ${folder}/squid.log
coredump_dir ${folder}
shutdown_lifetime 0 seconds
`,
  );
  await start('squid', ['-N', '-f', conf], port);
  return port;
}

async function startTinyproxy() {
  const port = await freePort();
  const conf = file(
    'tinyproxy.conf',
    `Port ${port}\nListen 127.0.0.1\nTimeout 20\nMaxClients 20\nBasicAuth user secret\nLogFile "${folder}/tiny.log"\nPidFile "${folder}/tiny.pid"\n`,
  );
  await start('tinyproxy', ['-d', '-c', conf], port);
  return port;
}

/** TLS in front of `to`. */
async function startStunnel(to, { key, cert }) {
  const port = await freePort();
  const pem = file('stunnel.pem', `${key}\n${cert}`);
  chmodSync(pem, 0o600);
  const conf = file(
    'stunnel.conf',
    `foreground = yes\ndebug = 3\npid =\n[proxy]\naccept = 127.0.0.1:${port}\nconnect = 127.0.0.1:${to}\ncert = ${pem}\n`,
  );
  await start('stunnel', [conf], port);
  return port;
}

async function startDante() {
  const port = await freePort();
  const conf = file(
    'danted.conf',
    `logoutput: ${folder}/danted.log
internal: 127.0.0.1 port = ${port}
external: lo
clientmethod: none
socksmethod: none
user.privileged: root
user.unprivileged: nobody
client pass { from: 0.0.0.0/0 to: 0.0.0.0/0 }
socks pass { from: 0.0.0.0/0 to: 0.0.0.0/0 }
`,
  );
  await start('danted', ['-f', conf, '-p', join(folder, 'danted.pid')], port);
  return port;
}

/** What comes of `url` by `proxy`. */
async function fetchBy(proxy, url, ca) {
  class By extends Spider {
    static name = 'by';
    start() {
      return [new Request(url, { meta: { proxy }, errback: this.onError })];
    }
    parse(response) {
      return { text: response.text };
    }
    onError({ error }) {
      return { text: `${error.name}: ${error.message}` };
    }
  }
  const { items } = await crawl(By, {
    RETRY_ENABLED: false,
    DOWNLOAD_TIMEOUT: 20,
    HTTPERROR_ALLOW_ALL: true,
    DOWNLOAD_SLOTS: { '127.0.0.1': { tls: { ca } } },
  });
  return items[0]?.text ?? 'nothing';
}

const ca = certificate('DNS:ca.example', { isCa: true });
const own = certificate('IP:127.0.0.1', { ca });
await using site = await startSite({ '/': 'plain' });
await using secure = await startTls(own);
let failures = 0;

async function expectBy(what, proxy, url, wanted) {
  const got = await fetchBy(proxy, url, ca.cert);
  const isFine = wanted.test(got) && !got.includes('secret');
  if (!isFine) failures++;
  console.log(`${isFine ? 'ok  ' : 'FAIL'} ${what}: ${got.split('\n')[0].slice(0, 160)}`);
}

try {
  const squid = await startSquid();
  const tiny = await startTinyproxy();
  const stunnel = await startStunnel(tiny, own);
  const dante = await startDante();
  const refused = await freePort();
  const plain = `${site.url}/`;
  for (const [name, proxy] of [
    ['squid', `http://user:secret@127.0.0.1:${squid}`],
    ['tinyproxy', `http://user:secret@127.0.0.1:${tiny}`],
    ['tinyproxy behind stunnel', `https://user:secret@127.0.0.1:${stunnel}`],
    ['dante', `socks5://127.0.0.1:${dante}`],
  ]) {
    await expectBy(`${name}, http site`, proxy, plain, /^plain$/);
    await expectBy(`${name}, https site`, proxy, secure.url, /^ok$/);
    await expectBy(
      `${name}, https site that refuses`,
      proxy,
      `https://127.0.0.1:${refused}/`,
      /^Download(Proxy|ConnectionRefused)Error: .*proxy (http|https|socks5):\/\/127/,
    );
  }
  for (const [name, port] of [
    ['squid', squid],
    ['tinyproxy', tiny],
  ]) {
    const wrong = `http://user:wrong@127.0.0.1:${port}`;
    await expectBy(
      `${name}, wrong password, https`,
      wrong,
      secure.url,
      /^DownloadProxyError: .*status 40[17]/,
    );
  }
  await expectBy(
    'a proxy that refuses',
    `http://user:secret@127.0.0.1:${refused}`,
    plain,
    /^DownloadProxyError: .*refused the connection/,
  );
  await expectBy(
    'stunnel whose certificate nobody trusts',
    `https://user:secret@localhost:${stunnel}`,
    plain,
    /^DownloadProxyError: .*(altnames|unable to verify|self-signed)/,
  );
} finally {
  for (const daemon of daemons) daemon.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = failures > 0 ? 1 : 0;
