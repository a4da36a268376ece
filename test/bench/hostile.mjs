// Twenty kinds of hung and hostile servers, and two of odd ones: how long each holds a download, and what all of them at
// once cost a healthy site beside them, which answers after 20 ms or at once. The hostile servers are a process of low
// priority, and the healthy one another: what a flood costs its sender is not ours.
// node --conditions=lycosa-source test/bench/hostile.mjs [SECONDS] [ROUNDS]
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { setPriority } from 'node:os';

import { Crawler, createLogger, Request, Settings, SlotRegistry, Spider } from 'lycosa';

import { hung, odd } from '../crawl/hostile-servers.ts';
import { startRaw } from '../crawl/raw-server.ts';

const timeout = 2;
const log = createLogger({ level: 'CRITICAL', destination: { write: () => {} } });
const kinds = [...hung, ...odd];

if (process.argv[2] === 'hostile') await serveHostile();
else if (process.argv[2] === 'healthy') await serveHealthy();
else await measure(Number(process.argv[2] ?? 5), Number(process.argv[3] ?? 5));

/** Every kind has a host of its own, and so a slot. */
async function serveHostile() {
  setPriority(19);
  const servers = await Promise.all(
    kinds.map(([, act], i) => startRaw((socket) => act(socket), `127.0.1.${i + 1}`)),
  );
  process.send(servers.map(({ port }, i) => `http://127.0.1.${i + 1}:${port}/`));
}

async function serveHealthy() {
  const server = createServer(({ url }, response) => {
    const answer = () => response.end('<p>ok</p>');
    if (url.startsWith('/slow')) setTimeout(answer, 20);
    else answer();
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  process.send(`http://127.0.0.1:${server.address().port}/`);
}

async function start(role) {
  const child = fork(import.meta.filename, [role]);
  const [told] = await once(child, 'message');
  return { child, told };
}

async function crawl(spider, settings) {
  const all = new Settings();
  for (const [name, value] of Object.entries({
    DOWNLOAD_TIMEOUT: timeout,
    DOWNLOAD_MAXSIZE: 1_000_000,
    RETRY_ENABLED: false,
    ROBOTSTXT_OBEY: false,
    BACKOFF_ENABLED: false,
    STATS_DUMP: false,
    ...settings,
  }))
    all.set(name, value);
  await new Crawler(spider, all, { log, slots: new SlotRegistry() }).crawl();
}

/** Milliseconds until a download of `url` was over. */
async function hold(url) {
  let error = 'none';
  class One extends Spider {
    static name = 'one';
    *start() {
      yield new Request(url, { errback: this.onError });
    }
    parse() {}
    onError(failure) {
      error = failure.error.name;
    }
  }
  const start = performance.now();
  await crawl(One, {});
  return { ms: Math.round(performance.now() - start), error };
}

/** Pages a second of a healthy site over some seconds, with hostile ones beside it or alone; and what failed of it. */
async function throughput(url, seconds, hostile) {
  let first = 0;
  let done = 0;
  let failed = 0;
  let last = 0;
  class Both extends Spider {
    static name = 'both';
    *start() {
      for (const bad of hostile) for (let i = 0; i < 8; i++) yield this.bad(bad, 0);
      for (let i = 0; i < 64; i++) yield this.good();
    }
    good() {
      return new Request(`${url}?${this.count++}`, { errback: this.onFailure });
    }
    // One that has ended is followed by the next: they are there all the time.
    bad(site, i) {
      const next = { callback: this.parseBad, errback: this.onBad };
      return new Request(`${site}${this.count++}`, { ...next, cbKwargs: { site, i } });
    }
    count = 0;
    parse() {
      last = performance.now();
      if (done++ === 0) first = last;
      if (last - first > seconds * 1000) this.crawler.stop('fast');
      return this.good();
    }
    onFailure() {
      failed++;
      return this.good();
    }
    parseBad(_, { site }) {
      return this.bad(site);
    }
    onBad({ request }) {
      return this.bad(request.cbKwargs.site);
    }
  }
  await crawl(Both, {
    CONCURRENT_REQUESTS: 400,
    CONCURRENT_REQUESTS_PER_DOMAIN: 8,
    // A hostile host is one of many: what ends at once is not asked again a thousand times a second.
    DOWNLOAD_SLOTS: Object.fromEntries(
      hostile.map((bad) => [new URL(bad).hostname, { delay: 0.05 }]),
    ),
  });
  return { rate: ((done - 1) / (last - first)) * 1000, failed };
}

async function measure(seconds, rounds) {
  const [bad, good] = await Promise.all([start('hostile'), start('healthy')]);
  const hostile = bad.told;
  let isSlow = false;
  console.log(`DOWNLOAD_TIMEOUT ${timeout} s`);
  for (const [i, [name]] of kinds.entries()) {
    const { ms, error } = await hold(hostile[i]);
    isSlow ||= ms > (timeout + 1) * 1000 || (error === 'none') !== (name === 'two answers');
    console.log(`${String(ms).padStart(6)} ms  ${error.padEnd(24)} ${name}`);
  }
  const median = (list) => list.toSorted((a, b) => a - b)[list.length >> 1];
  let slowest = 0;
  for (const [path, what] of [
    ['slow', 'a healthy site that answers after 20 ms, 8 at a time'],
    ['fast', 'a healthy site that answers at once, 8 at a time: all of our processor'],
  ]) {
    const alone = [];
    const beside = [];
    let failed = 0;
    await throughput(good.told + path, 1, []);
    await throughput(good.told + path, seconds, hostile);
    for (let round = 0; round < rounds; round++) {
      alone.push((await throughput(good.told + path, seconds, [])).rate);
      const both = await throughput(good.told + path, seconds, hostile);
      beside.push(both.rate);
      failed += both.failed;
    }
    const change = (median(beside) / median(alone) - 1) * 100;
    if (path === 'slow') slowest = change;
    const list = (rates) => `${Math.round(median(rates))} (${rates.map(Math.round).join(' ')})`;
    console.log(
      `${what}: pages/s alone ${list(alone)}, beside ${kinds.length} kinds ${list(beside)}: ${change.toFixed(1)} %, ${failed} failed`,
    );
  }
  bad.child.kill();
  good.child.kill();
  process.exitCode = isSlow || slowest < -5 ? 1 : 0;
}
