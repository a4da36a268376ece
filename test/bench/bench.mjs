// What a page costs, beside other crawlers: `pnpm bench [options]`; `pnpm bench micro|tree|figures|curves` for the rest.
// The peers are those of another folder with a peers.mjs, a site.mjs and its modules installed; without one there are
// our own loop over bare undici (raw.mjs) and our own site (site.mjs).
import { spawn } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { isDeepStrictEqual, parseArgs } from 'node:util';

const here = import.meta.dirname;
const others = {
  micro: 'micro.mjs',
  tree: 'tree.mjs',
  figures: 'figures.mjs',
  curves: 'curves.mjs',
};
if (others[process.argv[2]] !== undefined) {
  const flags = ['--expose-gc', '--conditions=lycosa-source', join(here, others[process.argv[2]])];
  const child = spawn(process.execPath, [...flags, ...process.argv.slice(3)], { stdio: 'inherit' });
  process.exit(await new Promise((done) => child.once('exit', (code) => done(code ?? 1))));
}

const text = { type: 'string' };
const { values } = parseArgs({
  options: {
    kinds: { ...text, default: 'small,catalog,article' },
    pages: text,
    peers: text,
    reps: { ...text, default: '3' },
    concurrency: text,
    /** Tries 50 ms of latency with so many requests at once: 16 or 64. */
    latency: text,
    'peers-from': {
      ...text,
      default: fileURLToPath(new URL('../../../shared/bench', import.meta.url)),
    },
    set: { ...text, multiple: true, default: [] },
    json: text,
  },
});

const scratch = mkdtempSync(join(tmpdir(), 'lycosa-bench-'));
const job = join(scratch, 'job');

/** CPU of a page by ours, as a part of what the peer takes at most: small, catalog, article. */
const targets = {
  'raw-css-select': { small: 2, catalog: 1.4, article: 1.25 },
  raw: { small: 2, catalog: 1.4, article: 1.25 },
  scrapy: { small: 1 / 10, catalog: 1 / 6, article: 1 / 6 },
  'scrapy-tuned': { small: 1 / 3, catalog: 1 / 2.5, article: 1 / 2 },
  crawlee: { small: 1 / 9, catalog: 1 / 6.5, article: 1 / 4.5 },
  'node-crawler': { small: 1 / 2, catalog: 1 / 3, article: 1 / 2.5 },
};
/** AutoThrottle, Backoff, robots.txt, cookies and JOBDIR may cost so much more. */
const fullTarget = 0.35;
/** Part of the pages a second that latency and concurrency allow. */
const latencyTargets = { 16: 0.9, 64: 0.75 };
const usual = [
  'raw-css-select',
  'raw-cheerio',
  'scrapy',
  'scrapy-tuned',
  'crawlee',
  'node-crawler',
];
const defaultPages = { small: 5000, catalog: 2000, article: 2000 };

/** Settings of a crawl that has everything on; the delays of AutoThrottle, which are no cost, are none. */
function everything() {
  return [
    'ROBOTSTXT_OBEY=true',
    'AUTOTHROTTLE_ENABLED=true',
    'AUTOTHROTTLE_START_DELAY=0',
    'AUTOTHROTTLE_MAX_DELAY=0',
    'BACKOFF_ENABLED=true',
    'COOKIES_ENABLED=true',
    `JOBDIR=${job}`,
  ];
}

/** Our crawler and loop, and the peers of the folder, if it is fit for use. */
async function findPeers() {
  const node = process.execPath;
  const set = values.set.flatMap((pair) => ['--set', pair]);
  const own = {
    lycosa: { cmd: [node, join(here, 'lycosa.ts'), ...set], check: 'full', cwd: here },
    raw: { cmd: [node, join(here, 'raw.mjs')], check: 'full', cwd: here },
    'lycosa-full': {
      cmd: [
        node,
        join(here, 'lycosa.ts'),
        ...set,
        ...everything().flatMap((pair) => ['--set', pair]),
      ],
      check: 'full',
      cwd: here,
    },
  };
  const folder = resolve(values['peers-from']);
  const missing = ['peers.mjs', 'site.mjs', 'node_modules'].find(
    (name) => !existsSync(join(folder, name)),
  );
  if (missing) {
    console.log(
      `No peers: ${folder} has no ${missing}. Copy that folder to where you may write, run \`npm ci\` in it, and pass --peers-from.\n`,
    );
    return { peers: own, site: join(here, 'site.mjs') };
  }
  const { peers } = await import(pathToFileURL(join(folder, 'peers.mjs')));
  const theirs = Object.entries(peers).map(([name, peer]) => [name, { ...peer, cwd: folder }]);
  return { peers: { ...Object.fromEntries(theirs), ...own }, site: join(folder, 'site.mjs') };
}

const isFound = (command) =>
  (process.env.PATH ?? '').split(':').some((folder) => existsSync(join(folder, command)));
const hasTime = isFound('time');
const pin = availableParallelism() > 1 && isFound('taskset');
const onCore = (core, command) => (pin ? ['taskset', '-c', String(core), ...command] : command);

async function startServer(site, workload) {
  const flags = Object.entries(workload).flatMap(([key, value]) => [`--${key}`, String(value)]);
  const [command, ...rest] = onCore(1, [process.execPath, site, ...flags]);
  const child = spawn(command, rest, { stdio: ['ignore', 'pipe', 'inherit'] });
  const line = await new Promise((done, failed) => {
    child.stdout.once('data', done);
    child.once('exit', () => failed(new Error('The site did not start.')));
  });
  return { child, port: JSON.parse(line).port };
}

/** One run of one crawler on a fresh site. */
async function once(peer, site, workload, concurrency) {
  const server = await startServer(site, workload);
  const out = join(scratch, 'items.jsonl');
  const timeFile = join(scratch, 'time.txt');
  for (const old of [out, timeFile, job]) rmSync(old, { force: true, recursive: true });
  const { kind, pages, hosts = 1 } = workload;
  const url = `http://127.0.0.1:${server.port}/`;
  const flags = Object.entries({ url, out, concurrency, kind, hosts, pages }).flatMap(
    ([key, value]) => [`--${key}`, String(value)],
  );
  const command = onCore(0, [...peer.cmd, ...flags]);
  const timed = hasTime ? ['time', '-v', '-o', timeFile, ...command] : command;
  const log = join(scratch, 'crawler.log');
  const logFile = openSync(log, 'w');
  const child = spawn(timed[0], timed.slice(1), {
    cwd: peer.cwd,
    env: { ...process.env, ...peer.env },
    stdio: ['ignore', logFile, logFile],
    timeout: 600_000,
  });
  const start = performance.now();
  const code = await new Promise((done) => child.once('exit', done));
  const wall = (performance.now() - start) / 1000;
  closeSync(logFile);
  const stats = await (await fetch(`${url}__stats`)).json();
  server.child.kill();
  await new Promise((done) => server.child.once('exit', done));
  const used = existsSync(timeFile) ? readFileSync(timeFile, 'utf8') : '';
  const number = (label) => Number(new RegExp(`${label}[^:]*: ([\\d.]+)`).exec(used)?.[1]);
  const fault =
    code === 0
      ? await faultOf(peer, site, workload, server.port, out, stats)
      : `exit status ${code}: ${readFileSync(log, 'utf8').trim().split('\n').at(-1)}`;
  return {
    cpu: ((number('User time') + number('System time')) / pages) * 1000,
    rss: number('Maximum resident set size') / 1024,
    rate: stats.distinct / ((stats.lastResponseAt - stats.firstRequestAt) / 1000),
    wall,
    fault,
  };
}

/** What is wrong with what a crawler exported: one that skips work must not look fast. */
async function faultOf({ check }, site, workload, port, out, stats) {
  const { createSite } = await import(pathToFileURL(site));
  const model = createSite(workload);
  if (stats.distinct !== model.pages) return `fetched ${stats.distinct} of ${model.pages} pages`;
  const wanted = new Map(Array.from({ length: model.pages }, (_, i) => [model.urlOf(i, port), i]));
  for (const line of readFileSync(out, 'utf8').split('\n').filter(Boolean)) {
    const item = JSON.parse(line);
    const i = wanted.get(item.url);
    if (i === undefined) return `item of another page or twice: ${item.url}`;
    wanted.delete(item.url);
    if (check === 'full' && !isDeepStrictEqual(item, model.item(i, port)))
      return `wrong item ${line.slice(0, 200)}`;
  }
  return wanted.size > 0 ? `${wanted.size} items missing` : undefined;
}

function median(numbers) {
  const sorted = numbers.toSorted((a, b) => a - b);
  return (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2;
}

function print(rows) {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  for (const row of rows)
    console.log(
      row
        .map((cell, i) => (i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i])))
        .join('  '),
    );
  console.log();
}

const { peers, site } = await findPeers();
if (!hasTime)
  console.log('GNU time is not installed: no CPU and no memory. `apt-get install time`\n');
const names = values.peers?.split(',') ?? [...usual.filter((name) => peers[name]), 'lycosa-full'];
if (!names.some((name) => name.startsWith('raw'))) names.unshift('raw');
for (const name of names)
  if (!peers[name]) throw new Error(`There is no peer ${name}: ${Object.keys(peers).join(', ')}.`);
const latency = values.latency === undefined ? 0 : 50;
const reps = Number(values.reps);
const concurrency = Number(values.concurrency ?? values.latency ?? 16);
const all = {};
for (const kind of latency ? ['catalog'] : values.kinds.split(',')) {
  const workload = {
    kind,
    pages: Number(values.pages ?? defaultPages[kind]),
    ...(latency && { latency }),
  };
  const runs = Object.fromEntries(['lycosa', ...names].map((name) => [name, []]));
  for (let rep = 0; rep < reps; rep++) {
    for (const name of Object.keys(runs)) {
      if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${kind} ${name} ${rep + 1}`);
      runs[name].push(await once(peers[name], site, workload, concurrency));
    }
  }
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
  all[kind] = { workload, concurrency, runs };
  const at = (name, key) => median(runs[name].map((run) => run[key]));
  console.log(
    `${kind}: ${workload.pages} pages, ${concurrency} at once${latency ? `, ${latency} ms latency` : ''}, median of ${reps}`,
  );
  print([
    ['crawler', 'CPU s / 1000', 'lycosa is', 'pages/s', 'RSS MiB', 'target', '', 'check'],
    ...Object.keys(runs).map((name) => {
      const part = at('lycosa', 'cpu') / at(name, 'cpu');
      const target = targets[name]?.[kind];
      return [
        name,
        at(name, 'cpu').toFixed(2),
        name === 'lycosa' ? '' : part < 0.8 ? `1/${(1 / part).toFixed(1)}` : `${part.toFixed(2)} ×`,
        at(name, 'rate').toFixed(0),
        at(name, 'rss').toFixed(0),
        target === undefined || latency
          ? ''
          : target < 1
            ? `1/${Number((1 / target).toFixed(1))}`
            : `${target} ×`,
        target === undefined || latency ? '' : part <= target ? 'met' : 'MISSED',
        runs[name].map((run) => run.fault).find(Boolean) ?? 'ok',
      ];
    }),
  ]);
  if (runs['lycosa-full']) {
    const more = at('lycosa-full', 'cpu') / at('lycosa', 'cpu') - 1;
    console.log(
      `Everything on costs ${(more * 100).toFixed(0)} % more; target ${fullTarget * 100} %: ${more <= fullTarget ? 'met' : 'MISSED'}\n`,
    );
  }
  const goal = latencyTargets[concurrency];
  if (latency && goal) {
    const part = at('lycosa', 'rate') / ((concurrency * 1000) / latency);
    console.log(
      `lycosa: ${(part * 100).toFixed(0)} % of what concurrency allows; target ${goal * 100} %: ${part >= goal ? 'met' : 'MISSED'}\n`,
    );
  }
}
if (values.json)
  writeFileSync(values.json, JSON.stringify({ node: process.version, all }, null, 1));
rmSync(scratch, { recursive: true });
process.exitCode = Object.values(all).some(({ runs }) =>
  Object.values(runs)
    .flat()
    .some((run) => run.fault),
)
  ? 1
  : 0;
