// Crawls the HTML manuals of SQLite and Python (Debian: sqlite3-doc, python3.11-doc), served by Debian's nginx on
// loopback, with Lycosa and with Debian's Scrapy (python3-scrapy), and compares which URLs each has seen.
//
//   apt-get install nginx-light sqlite3-doc python3.11-doc python3-scrapy
//   node test/real/compare.mjs
import { spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const docs = { sqlite: '/usr/share/doc/sqlite3', python: '/usr/share/doc/python3.11/html' };
for (const path of Object.values(docs)) {
  if (!existsSync(path))
    throw new Error(
      `${path} is missing: apt-get install nginx-light sqlite3-doc python3.11-doc python3-scrapy`,
    );
}
const folder = mkdtempSync(join(tmpdir(), 'lycosa-real-'));
const root = join(folder, 'root');
mkdirSync(root);
for (const [name, path] of Object.entries(docs)) symlinkSync(realpathSync(path), join(root, name));
writeFileSync(
  join(root, 'index.html'),
  '<!doctype html><title>Manuals</title><a href="sqlite/">SQLite</a> <a href="python/index.html">Python</a>',
);
const port = 18080;
writeFileSync(
  join(folder, 'nginx.conf'),
  `daemon off; pid ${folder}/nginx.pid; error_log ${folder}/error.log; worker_processes 1; user root;
events { worker_connections 256; }
http { include /etc/nginx/mime.types; access_log off; autoindex on;
  server { listen 127.0.0.1:${port}; root ${root}; index index.html; } }`,
);
const nginx = spawn('nginx', ['-c', join(folder, 'nginx.conf')], { stdio: 'inherit' });
try {
  await sleep(500);
  const url = `http://127.0.0.1:${port}/`;
  /** @type {Record<string, [string, string[]]>} */
  const runs = {
    lycosa: [process.execPath, ['--conditions=lycosa-source', join(here, 'lycosa.ts')]],
    scrapy: ['/usr/bin/python3', [join(here, 'scrapy_spider.py')]],
  };
  const seen = {};
  for (const [name, [command, args]] of Object.entries(runs)) {
    const out = join(folder, `${name}.txt`);
    writeFileSync(out, '');
    const start = performance.now();
    const run = spawnSync(command, args.concat(url, out), { encoding: 'utf8', maxBuffer: 1 << 28 });
    if (run.status !== 0) throw new Error(`${name} failed:\n${String(run.stderr).slice(-3000)}`);
    writeFileSync(join(folder, `${name}.log`), run.stderr);
    // A fragment is no part of what is fetched: which of them comes first is the order of the crawl.
    seen[name] = readFileSync(out, 'utf8').replace(/#.*/g, '').trim().split('\n');
    console.log(
      `${name}: ${seen[name].length} pages, ${new Set(seen[name]).size} distinct, ${((performance.now() - start) / 1000).toFixed(1)} s`,
    );
  }
  const lycosa = new Set(seen.lycosa);
  const scrapy = new Set(seen.scrapy);
  /** @type {(a: Set<string>, b: Set<string>) => string[]} */
  const only = (a, b) => [...a].filter((one) => !b.has(one)).toSorted((x, y) => (x < y ? -1 : 1));
  for (const [name, list] of [
    ['only Lycosa', only(lycosa, scrapy)],
    ['only Scrapy', only(scrapy, lycosa)],
  ]) {
    console.log(name, list.length);
    for (const one of list.slice(0, 40)) console.log(`  ${one}`);
  }
  console.log(`logs in ${folder}`);
} finally {
  nginx.kill();
  if (process.env.KEEP === undefined) rmSync(root, { recursive: true, force: true });
}
