// How cost and memory grow with the size of a crawl: pnpm bench curves [pending] [spiders] [hosts] [--most N] [--docs]
// Each point is a process of its own. Pages come from a download handler in memory, so that what is measured is ours and
// not a server's: pages a second of CPU. With --docs the plots are written to docs/.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { CrawlerProcess, createLogger, HtmlResponse, Request, Spider } from 'lycosa';

import { plot } from './plot.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    point: { type: 'string' },
    n: { type: 'string' },
    disk: { type: 'boolean', default: false },
    most: { type: 'string' },
    docs: { type: 'boolean', default: false },
  },
});

const body = Buffer.from('<title>A page</title><p>text</p><a href="/">home</a>');
const wireHeaders = { 'content-type': 'text/html; charset=utf-8' };
class Handler {
  async download(request) {
    return new HtmlResponse(request.url, { status: 200, body, wireHeaders });
  }
}
const settings = {
  CONCURRENT_REQUESTS: 16,
  ROBOTSTXT_OBEY: false,
  STATS_DUMP: false,
  LOGSTATS_INTERVAL: 0,
  MEMUSAGE_ENABLED: false,
  DOWNLOAD_HANDLERS: { http: Handler },
};
const logger = createLogger({ level: 'ERROR' });

/** CPU and memory from a moment on. */
function clock() {
  const start = process.cpuUsage();
  return (pages) => {
    const { user, system } = process.cpuUsage(start);
    return {
      pages: Math.round(pages / ((user + system) / 1e6)),
      rss: Math.round(process.memoryUsage.rss() / 1e6),
    };
  };
}

/** A spider of so many pages of so many hosts. One before those that are measured warms up. */
function spiderOf(pages, hosts) {
  return class extends Spider {
    static name = 'measured';
    *start() {
      for (let i = 0; i < pages; i++) yield new Request(`http://h${i % hosts}.test/${i}`);
    }
    parse(response) {
      return { title: response.css('title::text').get() };
    }
  };
}

const points = {
  /** So many requests wait while 3,000 pages are crawled, each of which leads to another. */
  async pending(n) {
    const crawled = 3000;
    const folder = mkdtempSync(join(tmpdir(), 'lycosa-curve-'));
    let result;
    let stop;
    let pages = -500;
    class Pending extends Spider {
      static name = 'pending';
      startUrls = ['data:,'];
      async *parse() {
        const { engine } = this.crawler;
        engine.pause();
        for (let i = 0; i < n; i++) {
          yield new Request(`http://h${i % 100}.test/some/path/page-${i}.html`, {
            callback: 'page',
          });
          if (i % 1000 === 0) await turn();
        }
        engine.unpause();
      }
      *page(response) {
        // The first few hundred warm up.
        if (pages++ === 0) stop = clock();
        if (pages === crawled) {
          result = stop(crawled);
          this.crawler.engine.closeSpider('measured');
        }
        yield { title: response.css('title::text').get() };
        yield new Request(`${response.url}?again=${pages}`, { callback: 'page' });
      }
    }
    await using crawls = new CrawlerProcess({
      logger,
      settings: { ...settings, ...(values.disk && { JOBDIR: join(folder, 'job') }) },
    });
    await crawls.crawl(Pending);
    rmSync(folder, { recursive: true });
    return result;
  },

  /** So many spiders at once, together 6,000 pages, or 20 of each. */
  async spiders(n) {
    const each = Math.max(20, Math.round(6000 / n));
    await using crawls = new CrawlerProcess({ logger, settings });
    await crawls.crawl(spiderOf(3000, 1));
    const stop = clock();
    await Promise.all(Array.from({ length: n }, () => crawls.crawl(spiderOf(each, 1))));
    return stop(n * each);
  },

  /** Pages of so many hosts; 6,000 pages, or one of each. */
  async hosts(n) {
    const pages = Math.max(6000, n);
    await using crawls = new CrawlerProcess({ logger, settings });
    await crawls.crawl(spiderOf(3000, 1));
    const stop = clock();
    await crawls.crawl(spiderOf(pages, n));
    return stop(pages);
  },
};

const sizes = {
  pending: [1000, 10_000, 100_000, 1_000_000, 10_000_000],
  spiders: [1, 10, 100, 1000, 3000],
  hosts: [1, 10, 100, 1000, 10_000, 100_000],
};
const labels = {
  pending: 'requests that wait',
  spiders: 'spiders at once in one process',
  hosts: 'hosts',
};
/** In memory ten million requests would be gigabytes. */
const mostInMemory = 1_000_000;

function point(name, n, disk) {
  const flags = ['--conditions=lycosa-source', fileURLToPath(import.meta.url)];
  const args = ['--point', name, '--n', String(n), ...(disk ? ['--disk'] : [])];
  return JSON.parse(execFileSync(process.execPath, [...flags, ...args], { encoding: 'utf8' }));
}

function curve(name) {
  const most = Number(values.most ?? Infinity);
  const lines = [];
  for (const disk of name === 'pending' ? [true, false] : [false]) {
    const found = [];
    for (const n of sizes[name]) {
      if (n > most || (name === 'pending' && !disk && n > mostInMemory)) continue;
      const { pages, rss } = point(name, n, disk);
      found.push({ n, pages, rss });
      console.log(`${name}${disk ? ' on disk' : ''} ${n}: ${pages} pages a CPU second, ${rss} MB`);
    }
    lines.push({ name: disk ? 'on disk' : 'in memory', found });
  }
  const xLabel = labels[name];
  const panel = (title, key) => ({
    title,
    xLabel,
    lines: lines.map((line) => ({
      name: line.name,
      points: line.found.map((one) => [one.n, one[key]]),
    })),
  });
  return plot([panel('pages a second of CPU', 'pages'), panel('MB of memory (RSS)', 'rss')]);
}

if (values.point) {
  console.log(JSON.stringify(await points[values.point](Number(values.n))));
} else {
  for (const name of positionals.length > 0 ? positionals : Object.keys(points)) {
    const svg = curve(name);
    if (values.docs) writeFileSync(new URL(`../../docs/speed-${name}.svg`, import.meta.url), svg);
  }
}
