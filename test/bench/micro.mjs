// What single parts cost, in CPU microseconds: pnpm bench micro [NAME...] [--quick]
// The median of several batches, their share of garbage collection included; a part whose cost grew with the work done would show in its rows.
import { parseArgs } from 'node:util';

import { parseDocument } from 'htmlparser2';
import {
  CrawlerProcess,
  createLogger,
  createResponse,
  fingerprint,
  HtmlResponse,
  LinkExtractor,
  MemoryScheduler,
  Request,
  SignalManager,
  SlotRegistry,
  Spider,
  StatsCollector,
} from 'lycosa';

import { CrawlerSlots } from '../../packages/core/src/downloader/slot-registry.ts';
import { baseExporters } from '../../packages/core/src/feeds/exporters/formats.ts';
import { FingerprintDupeFilter } from '../../packages/core/src/scheduler/dupe-filter.ts';
import { createSite } from './site.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { quick: { type: 'boolean', default: false } },
});
const batches = values.quick ? 3 : 7;
const batchMs = values.quick ? 20 : 100;

/** CPU of the whole process, the collector's threads too, in microseconds. */
function cpu(since) {
  const { user, system } = process.cpuUsage(since);
  return user + system;
}

/** Median microseconds of one call; `run(n)` makes n of them. */
async function measure(run) {
  let count = 10;
  // Until a batch is long enough; the shorter ones before it warm up.
  for (;;) {
    const start = process.cpuUsage();
    await run(count);
    const took = Math.max(cpu(start), 1000);
    if (took > batchMs * 500 && count >= 1000) break;
    count = Math.ceil(count * Math.min(10, (batchMs * 1000) / took + 1));
  }
  const each = [];
  for (let i = 0; i < batches; i++) {
    const start = process.cpuUsage();
    await run(count);
    each.push(cpu(start) / count);
  }
  return each.toSorted((a, b) => a - b)[batches >> 1];
}

const round = (us) => Number(us.toPrecision(3));

/** enqueue, next and done of one request, while `pending` others wait in `slots` slots. */
async function schedulerCost(pending, slotCount, dupeFilter) {
  const stats = new StatsCollector();
  const slots = new CrawlerSlots(new SlotRegistry(), {
    concurrency: 8,
    byAddress: false,
    delay: 0,
    jitter: 0,
    slots: {},
  });
  const scheduler = new MemoryScheduler({ order: 'lifo', dupeFilter, slots, stats, onReady() {} });
  let made = 0;
  const add = () => {
    made++;
    // At once: neither this scheduler nor its filter waits for anything.
    void scheduler.enqueue(new Request(`http://h${made % slotCount}.test/some/page-${made}.html`));
  };
  const making = await measure((n) => {
    for (let i = 0; i < n; i++) made += new Request(`http://h.test/page-${i}.html`).priority;
  });
  for (let i = 0; i < pending; i++) add();
  const us = await measure((n) => {
    for (let i = 0; i < n; i++) {
      add();
      const request = scheduler.next(slots);
      // As the downloader does when the request has its place.
      slots.get(slots.keyOf(request)).reserved--;
      scheduler.done(request);
    }
  });
  await scheduler.close('finished');
  return us - making;
}

const seesNothing = { size: 0, requestSeen: () => false };

const parts = {
  async fingerprint() {
    const rows = {};
    for (const [name, url] of Object.entries({
      plain: 'http://books.test/catalogue/some-product-with-a-name_1/index.html',
      query: 'http://books.test/search?q=crawler&page=2&sort=price&x=a%20b',
      'with fragment': 'http://books.test/catalogue/page-1.html#reviews',
    })) {
      const us = await measure((n) => {
        for (let i = 0; i < n; i++) fingerprint(new Request(`${url.slice(0, -1)}${i % 10}`));
      });
      rows[name] = { 'request and fingerprint': round(us) };
    }
    return rows;
  },

  /** A request through the middlewares of a crawl to a handler that answers at once, and its response to a callback. */
  async middlewares() {
    const rows = {};
    const body = Buffer.from(createSite({ kind: 'small' }).html(1, 1));
    const wireHeaders = { 'content-type': 'text/html; charset=utf-8' };
    class Handler {
      async download(request) {
        return new HtmlResponse(request.url, { status: 200, body, wireHeaders });
      }
    }
    class Micro extends Spider {
      static name = 'micro';
      startUrls = ['data:,'];
      async parse() {
        const { downloader, scraper } = this.crawler.engine;
        const request = () => new Request('http://a.test/page.html', { callback: 'nothing' });
        rows['downloader: 14 middlewares, slot, handler'] = round(
          await measure(async (n) => {
            for (let i = 0; i < n; i++) await downloader.fetch(request());
          }),
        );
        rows['scraper: 5 middlewares, callback without output, one turn of the loop'] = round(
          await measure(async (n) => {
            for (let i = 0; i < n; i++) {
              const asked = request();
              await scraper.scrape(new HtmlResponse(asked.url, { body, request: asked }), asked);
            }
          }),
        );
        // All but the first are known.
        rows['scraper: the same with 40 links that are known, for each link'] = round(
          (await measure(async (n) => {
            for (let i = 0; i < n; i++) {
              const asked = new Request('http://a.test/page.html', { callback: 'links' });
              await scraper.scrape(new HtmlResponse(asked.url, { body, request: asked }), asked);
            }
          })) / 40,
        );
      }
      nothing() {}
      *links() {
        for (let i = 0; i < 40; i++)
          yield new Request(`http://a.test/known-${i}.html`, { callback: 'nothing' });
      }
    }
    const log = createLogger({ level: 'ERROR' });
    await using crawls = new CrawlerProcess({
      logger: log,
      settings: { ROBOTSTXT_OBEY: false, STATS_DUMP: false, DOWNLOAD_HANDLERS: { http: Handler } },
    });
    await crawls.crawl(Micro);
    return Object.fromEntries(Object.entries(rows).map(([name, us]) => [name, { us }]));
  },

  async signals() {
    const signals = new SignalManager();
    const event = { item: {}, response: null, spider: null };
    const none = await measure((n) => {
      for (let i = 0; i < n; i++)
        if (signals.has('item_scraped')) signals.send('item_scraped', event);
    });
    signals.connect('item_scraped', () => {});
    const one = await measure((n) => {
      for (let i = 0; i < n; i++)
        if (signals.has('item_scraped')) signals.send('item_scraped', event);
    });
    return { 'no listener': { us: round(none) }, 'one listener': { us: round(one) } };
  },

  async selectors() {
    const queries = {
      small: ['title::text', 'h1::text', 'a[href]'],
      catalog: ['title::text', 'article.product_pod', 'h3 a::attr(title)', 'p.price_color::text'],
      article: ['title::text', '.byline .author::text', 'ul.tags a::text', '.body p'],
    };
    const rows = {};
    for (const kind of ['small', 'catalog', 'article']) {
      const pages = pagesOf(kind);
      const response = (html) => createResponse('http://a.test/', { body: html.bytes, headers });
      const each = async (read) =>
        round(
          await measure((n) => {
            for (let i = 0; i < n; i++) read(pages[i % pages.length]);
          }),
        );
      rows[kind] = {
        bytes: Math.round(pages.reduce((sum, { text }) => sum + text.length, 0) / pages.length),
        decode: await each((page) => response(page).text),
        'htmlparser2 tree': await each((page) => parseDocument(page.text)),
        'decode and tree': await each((page) => response(page).tree),
        'decode, tree, queries': await each((page) => {
          const made = response(page);
          for (const query of queries[kind]) made.css(query).getAll();
        }),
      };
    }
    return rows;
  },

  async links() {
    const rows = {};
    const extractor = new LinkExtractor();
    for (const kind of ['small', 'catalog', 'article']) {
      const pages = pagesOf(kind);
      const each = async (read) => {
        let links = 0;
        const us = await measure((n) => {
          for (let i = 0; i < n; i++) {
            const { bytes } = pages[i % pages.length];
            links = read(createResponse('http://a.test/', { body: bytes, headers })).length;
          }
        });
        return { us: round(us), links };
      };
      const extracted = await each((page) => extractor.extractLinks(page));
      const followed = await each((page) => page.followAll('a'));
      rows[kind] = {
        'page and LinkExtractor': extracted.us,
        links: extracted.links,
        "page and followAll('a')": followed.us,
        requests: followed.links,
      };
    }
    return rows;
  },

  async feeds() {
    const site = createSite({ kind: 'catalog', pages: 1000 });
    const items = Array.from({ length: 100 }, (_, i) => site.item(100 + i, 80));
    const rows = {};
    for (const [format, Exporter] of Object.entries(baseExporters)) {
      if (format === 'jl' || format === 'jsonl') continue;
      const exporter = new Exporter({});
      exporter.start();
      let bytes = 0;
      const us = await measure((n) => {
        for (let i = 0; i < n; i++) bytes += Buffer.byteLength(exporter.item(items[i % 100]));
      });
      rows[format] = { 'item to text': round(us) };
      if (bytes === 0) throw new Error(`${format} wrote nothing.`);
    }
    return rows;
  },

  // Last: its million requests would be the garbage of all others.
  async scheduler() {
    const rows = {};
    for (const [pending, slots] of [
      [10, 1],
      [10_000, 1],
      [1_000_000, 1],
      [10_000, 1000],
      [1_000_000, 1000],
      [1_000_000, 100_000],
    ]) {
      rows[`${pending} pending in ${slots} slots`] = {
        'enqueue+next+done': round(await schedulerCost(pending, slots, seesNothing)),
        'with duplicate filter': round(
          await schedulerCost(pending, slots, new FingerprintDupeFilter()),
        ),
      };
    }
    return rows;
  },
};

const headers = { 'content-type': 'text/html; charset=utf-8' };

function pagesOf(kind) {
  const site = createSite({ kind, pages: 2000 });
  return Array.from({ length: 50 }, (_, i) => {
    const text = site.html(i * 39 + 1, 80);
    return { text, bytes: Buffer.from(text) };
  });
}

for (const [name, run] of Object.entries(parts)) {
  if (positionals.length > 0 && !positionals.includes(name)) continue;
  console.log(`\n${name}, CPU microseconds`);
  console.table(await run());
}
