// Twenty kinds of hung and hostile servers: how long each holds a download, and what all of them at once cost a healthy
// site beside them. The servers are a process of their own.
// node --conditions=lycosa-source test/bench/hostile.mjs [PAGES] [ROUNDS]
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';

import { Crawler, createLogger, Request, Settings, SlotRegistry, Spider } from 'lycosa';

import { hung } from '../crawl/hostile-servers.ts';
import { startRaw } from '../crawl/raw-server.ts';

const timeout = 2;
const log = createLogger({ level: 'CRITICAL', destination: { write: () => {} } });

if (process.send) await serve();
else await measure(Number(process.argv[2] ?? 4000), Number(process.argv[3] ?? 5));

async function serve() {
  const hostile = await Promise.all(
    hung.map(([, act], i) => startRaw((socket) => act(socket), `127.0.1.${i + 1}`)),
  );
  const healthy = createServer((_, response) => response.end('<p>ok</p>'));
  await new Promise((resolve) => healthy.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${healthy.address().port}/`;
  // Every kind has a host of its own, and so a slot.
  process.send({ url, hostile: hostile.map(({ port }, i) => `http://127.0.1.${i + 1}:${port}/`) });
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

/** Pages a second of a healthy site, with hostile ones beside it or alone. */
async function throughput(url, pages, hostile) {
  let start = 0;
  let end = 0;
  let done = 0;
  class Both extends Spider {
    static name = 'both';
    *start() {
      // Enough of them to last: each holds its slot for the whole time-out.
      for (let i = 0; i < 20; i++)
        for (const bad of hostile) yield new Request(`${bad}${i}`, { errback: this.onError });
      for (let i = 0; i < pages; i++) yield new Request(`${url}${i}`);
    }
    parse() {
      if (++done === 1) start = performance.now();
      if (done < pages) return;
      end = performance.now();
      this.crawler.stop('fast');
    }
    onError() {}
  }
  await crawl(Both, { CONCURRENT_REQUESTS: 200, CONCURRENT_REQUESTS_PER_DOMAIN: 8 });
  if (done < pages) {
    console.log(`only ${done} of ${pages} pages of the healthy site came in time`);
    return 0;
  }
  return ((pages - 1) / (end - start)) * 1000;
}

async function measure(pages, rounds) {
  const child = fork(import.meta.filename);
  const [{ url, hostile }] = await once(child, 'message');
  let isSlow = false;
  console.log(`DOWNLOAD_TIMEOUT ${timeout} s`);
  for (const [i, [name]] of hung.entries()) {
    const { ms, error } = await hold(hostile[i]);
    isSlow ||= ms > (timeout + 1) * 1000 || error === 'none';
    console.log(`${String(ms).padStart(6)} ms  ${error.padEnd(24)} ${name}`);
  }
  const quiet = hung.flatMap(([name], i) => (/flood|endless/.test(name) ? [] : [hostile[i]]));
  const rates = { alone: [], quiet: [], all: [] };
  await throughput(url, pages, []);
  for (let round = 0; round < rounds; round++) {
    rates.alone.push(await throughput(url, pages, []));
    rates.quiet.push(await throughput(url, pages, quiet));
    rates.all.push(await throughput(url, pages, hostile));
  }
  const median = (list) => list.toSorted((a, b) => a - b)[list.length >> 1];
  for (const [name, list] of Object.entries(rates)) {
    const change = (median(list) / median(rates.alone) - 1) * 100;
    console.log(
      `healthy site, ${name.padEnd(5)}: ${Math.round(median(list))} pages/s (${list.map(Math.round).join(' ')}), ${change.toFixed(1)} %`,
    );
  }
  child.kill();
  process.exitCode = isSlow ? 1 : 0;
}
