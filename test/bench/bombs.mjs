// Sixty bodies that expand to 200 MB, eight at a time: what they take of memory, and how late they make the event loop.
// node --expose-gc --conditions=lycosa-source test/bench/bombs.mjs [DOWNLOAD_MAXSIZE]
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { brotliCompressSync, constants, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';

import { Crawler, createLogger, Request, Settings, SlotRegistry, Spider } from 'lycosa';

const encodings = ['gzip', 'br', 'deflate', 'zstd', 'gzip, gzip'];
const count = 60;

if (process.send) serve();
else await measure(Number(process.argv[2] ?? 67_108_864));

function serve() {
  const zeros = Buffer.alloc(200_000_000);
  const quick = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };
  const gzip = gzipSync(zeros);
  const bodies = [
    gzip,
    brotliCompressSync(zeros, quick),
    deflateSync(zeros),
    zstdCompressSync(zeros),
    gzipSync(gzip),
  ];
  const server = createServer(({ url }, response) => {
    const kind = Number(url.slice(1)) % encodings.length;
    response.setHeader('content-encoding', encodings[kind]);
    response.end(bodies[kind]);
  });
  server.listen(0, '127.0.0.1', () => process.send(server.address().port));
}

async function measure(maxSize) {
  const site = fork(import.meta.filename);
  const [port] = await once(site, 'message');
  let stopped = 0;
  // From the ninth on: the first ones find code that has never run.
  const lag = monitorEventLoopDelay({ resolution: 5 });
  class Bombs extends Spider {
    static name = 'bombs';
    *start() {
      for (let i = 0; i < count; i++)
        yield new Request(`http://127.0.0.1:${port}/${i}`, { errback: this.onError });
    }
    parse() {}
    onError() {
      if (++stopped === 8) lag.enable();
    }
  }
  const settings = new Settings({
    DOWNLOAD_MAXSIZE: maxSize,
    CONCURRENT_REQUESTS_PER_DOMAIN: 8,
    RETRY_ENABLED: false,
    ROBOTSTXT_OBEY: false,
    BACKOFF_ENABLED: false,
    STATS_DUMP: false,
  });
  const log = createLogger({ level: 'CRITICAL', destination: { write: () => {} } });
  globalThis.gc?.();
  const before = process.memoryUsage.rss();
  let most = before;
  const timer = setInterval(() => (most = Math.max(most, process.memoryUsage.rss())), 10);
  await new Crawler(Bombs, settings, { log, slots: new SlotRegistry() }).crawl();
  lag.disable();
  clearInterval(timer);
  site.kill();
  const mib = Math.round((most - before) / 1_048_576);
  console.log(
    `DOWNLOAD_MAXSIZE ${maxSize}: ${stopped} of ${count} stopped, RSS +${mib} MiB, longest lag ${Math.round(lag.max / 1e6)} ms`,
  );
  process.exitCode = stopped === count ? 0 : 1;
}
