// Memory and start-up, each in a process of its own: pnpm bench figures [NAME...] [--pages 1000000]
import { execFile, spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';

import {
  CrawlerProcess,
  createLogger,
  MemoryScheduler,
  Request,
  SlotRegistry,
  Spider,
  StatsCollector,
} from 'lycosa';

import { CrawlerSlots } from '../../packages/core/src/downloader/slot-registry.ts';
import { FingerprintDupeFilter } from '../../packages/core/src/scheduler/dupe-filter.ts';

const run = promisify(execFile);
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    part: { type: 'string' },
    pages: { type: 'string', default: '1000000' },
  },
});
const quiet = { ROBOTSTXT_OBEY: false, STATS_DUMP: false, LOGSTATS_INTERVAL: 0 };
const logger = createLogger({ level: 'ERROR' });

/** Bytes of memory that `make` leaves in use, for each of `count`. */
async function bytesEach(count, make) {
  globalThis.gc();
  await wait(100);
  const before = process.memoryUsage();
  const held = await make(count);
  globalThis.gc();
  await wait(100);
  const after = process.memoryUsage();
  const each = (of) => Math.round((of(after) - of(before)) / count);
  const result = {
    rss: each(({ rss }) => rss),
    // V8 keeps room that has become free, and gives it back when it likes.
    'rss but for free heap': each(({ rss, heapTotal, heapUsed }) => rss - heapTotal + heapUsed),
    heap: each(({ heapUsed }) => heapUsed),
    buffers: each(({ arrayBuffers }) => arrayBuffers),
  };
  // It must not be collected before it is measured.
  return held ? result : undefined;
}

const parts = {
  /** A request that waits in memory: a URL of 60 characters, a callback, a small meta. */
  async pending() {
    const slots = new CrawlerSlots(new SlotRegistry(), {
      concurrency: 8,
      byAddress: false,
      delay: 0,
      jitter: 0,
      slots: {},
    });
    const scheduler = new MemoryScheduler({
      order: 'lifo',
      dupeFilter: { size: 0, requestSeen: () => false },
      slots,
      stats: new StatsCollector(),
      onReady() {},
    });
    const add = (from, to) => {
      for (let i = from; i < to; i++) {
        const url = `http://books.test/catalogue/some-product-with-a-name-${String(i).padStart(7, '0')}`;
        void scheduler.enqueue(new Request(url, { callback: 'parseBook', meta: { depth: 2 } }));
      }
      return scheduler;
    };
    // Before it, as below.
    add(0, 100_000);
    return {
      'a pending request, bytes': await bytesEach(1_000_000, (n) => add(100_000, 100_000 + n)),
    };
  },

  async fingerprints() {
    const filter = new FingerprintDupeFilter();
    const add = async (from, to) => {
      for (let i = from; i < to; i++) {
        void filter.requestSeen(new Request(`http://books.test/p/${i}.html`));
        // Node frees the memory of hashes between turns of the loop, of which a crawl has plenty.
        if (i % 100 === 0) await turn();
      }
      return filter;
    };
    // Before it: what is kept of recent URLs, and the room that the heap takes for garbage.
    await add(0, 1_000_000);
    return {
      'a seen request, bytes': await bytesEach(3_000_000, (n) => add(1_000_000, 1_000_000 + n)),
    };
  },

  async idle() {
    const count = 1000;
    const open = Promise.withResolvers();
    class Idle extends Spider {
      static name = 'idle';
      async *start() {
        await open.promise;
        yield* [];
      }
    }
    await using crawls = new CrawlerProcess({ logger, settings: quiet });
    const first = crawls.crawl(Idle);
    await wait(200);
    const ends = [];
    const start = process.cpuUsage();
    const bytes = await bytesEach(count, async (n) => {
      for (let i = 0; i < n; i++) ends.push(crawls.crawl(Idle));
      await wait(1000);
      return ends;
    });
    const { user, system } = process.cpuUsage(start);
    open.resolve();
    await Promise.all([first, ...ends]);
    return {
      'an idle spider, bytes': bytes,
      'an idle spider, CPU ms to start': {
        cpu: Number(((user + system) / 1000 / count).toFixed(2)),
      },
    };
  },

  /** CPU of the built command, at its start. */
  async start() {
    const bin = fileURLToPath(new URL('../../packages/cli/dist/bin.js', import.meta.url));
    const page = fileURLToPath(new URL('one-page.ts', import.meta.url));
    const books = fileURLToPath(new URL('../demo/books', import.meta.url));
    const server = await serveFixed();
    const url = `http://127.0.0.1:${server.address().port}/`;
    const cpuOf = async (...args) => {
      const script = `process.argv.splice(1, 1); process.on('exit', () => { const { user, system } = process.cpuUsage(); process.stderr.write('\\ncpu ' + (user + system) / 1000); }); await import(process.argv[1]);`;
      const took = [];
      for (let i = 0; i < 9; i++) {
        const flags = ['--input-type=module', '-e', script, '--', '', bin, ...args];
        const { stderr } = await run(process.execPath, flags, { cwd: books });
        took.push(Number(/cpu ([\d.]+)$/.exec(stderr)?.[1]));
      }
      return { cpu: took.toSorted((a, b) => a - b)[4] };
    };
    try {
      return {
        'node alone, CPU ms': { cpu: await bareNode() },
        'lycosa version, CPU ms': await cpuOf('version'),
        'lycosa runspider, one page, CPU ms': await cpuOf(
          'runspider',
          page,
          '-a',
          `url=${url}`,
          '-s',
          'ROBOTSTXT_OBEY=false',
        ),
      };
    } finally {
      server.close();
    }
  },

  /** Memory over a long crawl of real connections. */
  async million() {
    const pages = Number(values.pages);
    const server = spawn(process.execPath, [
      '--conditions=lycosa-source',
      fileURLToPath(import.meta.url),
      '--part',
      'server',
    ]);
    const [port] = await new Promise((resolve) =>
      server.stdout.once('data', (data) => resolve(/\d+/.exec(data))),
    );
    const rows = {};
    let done = 0;
    const start = performance.now();
    class Million extends Spider {
      static name = 'million';
      *start() {
        for (let i = 0; i < pages; i++)
          yield new Request(`http://127.0.0.1:${port}/page-${i}.html`);
      }
      parse(response) {
        if (++done % (pages / 10) === 0) {
          globalThis.gc();
          const { rss, heapUsed } = process.memoryUsage();
          const { user, system } = process.cpuUsage();
          rows[done] = {
            rss: Math.round(rss / 1e6),
            heap: Math.round(heapUsed / 1e6),
            cpu: Math.round((user + system) / 1e6),
            seconds: Math.round((performance.now() - start) / 1000),
          };
          console.error(done, rows[done]);
        }
        return { title: response.css('title::text').get() };
      }
    }
    await using crawls = new CrawlerProcess({ logger, settings: quiet });
    await crawls.crawl(Million);
    server.kill();
    return rows;
  },
};

async function bareNode() {
  const script = `const { user, system } = process.cpuUsage(); console.log((user + system) / 1000);`;
  const took = [];
  for (let i = 0; i < 9; i++)
    took.push(Number((await run(process.execPath, ['-e', script])).stdout));
  return took.toSorted((a, b) => a - b)[4];
}

/** Answers whatever is asked with one small page, as cheaply as it can. */
function serveFixed() {
  const body = '<!DOCTYPE html><title>A page</title><h1>A page</h1><p>With a little text.</p>';
  const answer = `HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const server = createServer((socket) => {
    socket.on('data', (data) => {
      // One answer for each request that has come.
      const requests = data.toString('latin1').split('\r\n\r\n').length - 1;
      socket.write(answer.repeat(requests));
    });
    socket.on('error', () => {});
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(server));
  });
}

if (values.part === 'server') console.log((await serveFixed()).address().port);
else if (values.part) console.table(await parts[values.part]());
else {
  for (const name of positionals.length > 0 ? positionals : Object.keys(parts)) {
    const flags = ['--expose-gc', '--conditions=lycosa-source', fileURLToPath(import.meta.url)];
    const args = ['--part', name, '--pages', values.pages];
    const child = spawn(process.execPath, [...flags, ...args], { stdio: 'inherit' });
    await new Promise((resolve) => child.once('exit', resolve));
  }
}
