import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { type Answer, startSite } from '@lycosa/site';
import {
  type Crawler,
  CrawlerProcess,
  createLogger,
  Request,
  Spider,
  type SpiderClass,
  UsageError,
} from 'lycosa';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';

import { crawl, pageSpider, quick } from './scrape.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'lycosa-politeness-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const silent = (): ReturnType<typeof createLogger> =>
  createLogger({ level: 'CRITICAL', format: 'json', destination: { write: () => {} } });

const gapsOf = (times: readonly number[]): number[] =>
  times.slice(1).map((time, i) => time - times[i]!);

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);

test('20 spiders with a delay of 0.5 s are one visitor: the site sees one request each 0.5 s', async () => {
  await using site = await startSite({ '*': 'page' });
  const settings = { ...quick, DOWNLOAD_DELAY: 0.5, RANDOMIZE_DOWNLOAD_DELAY: false };
  await using process = new CrawlerProcess({ settings, logger: silent() });
  const crawls = Array.from({ length: 20 }, (_, i) =>
    process.crawl(pageSpider([`${site.url}/${i}`])),
  );
  await vi.waitUntil(() => site.requests.length >= 10, { timeout: 10_000 });
  process.stop('fast');
  await Promise.all(crawls);
  const gaps = gapsOf(site.requests.map(({ time }) => time));
  // A request that is noticed late looks nearer to the next; twenty budgets would leave nothing between most.
  for (const gap of gaps) expect(gap).toBeGreaterThanOrEqual(200);
  expect(sum(gaps)).toBeGreaterThanOrEqual(gaps.length * 500 - 300);
}, 20_000);

test('pages that wait for their turn after robots.txt hold no place in CONCURRENT_REQUESTS', async () => {
  const order: string[] = [];
  const robots = (): Answer => {
    order.push('robots.txt');
    return { body: 'User-agent: *\nAllow: /', headers: { 'content-type': 'text/plain' } };
  };
  const page = (): Answer => {
    order.push('page');
    return 'page';
  };
  const sites = await Promise.all(
    Array.from({ length: 6 }, () => startSite({ '/robots.txt': robots, '*': page })),
  );
  try {
    class Sites extends Spider {
      static override readonly name = 'sites';
      override start(): Request[] {
        return sites.map(({ url }, i) => new Request(url, { meta: { downloadSlot: `s${i}` } }));
      }
      override parse(): void {}
    }
    const { result } = await crawl(Sites as SpiderClass, {
      ROBOTSTXT_OBEY: true,
      DOWNLOAD_DELAY: 1,
      CONCURRENT_REQUESTS: 2,
    });
    expect(result.stats).toMatchObject({ 'account/done': 6, 'robotstxt/request_count': 6 });
    expect(order.slice(0, 6)).toEqual(Array.from({ length: 6 }, () => 'robots.txt'));
  } finally {
    for (const site of sites) await site[Symbol.asyncDispose]();
  }
}, 20_000);

test('the order of start() holds with robots.txt and a delay, and nothing is lost when a job is resumed', async () => {
  await using site = await startSite({
    '/robots.txt': { body: 'User-agent: *', headers: { 'content-type': 'text/plain' } },
    '*': 'page',
  });
  class Starts extends Spider {
    static override readonly name = 'starts';
    override readonly startUrls = [1, 2, 3, 4].map((i) => `${site.url}/${i}`);
    override parse(): void {}
  }
  const paths = (): string[] => site.requests.map(({ url }) => url);
  const settings = { ROBOTSTXT_OBEY: true, DOWNLOAD_DELAY: 0.1 };
  const { result } = await crawl(Starts as SpiderClass, settings);
  expect(paths()).toEqual(['/robots.txt', '/1', '/2', '/3', '/4']);
  expect(result.stats).toMatchObject({ 'account/scheduled': 4, 'account/done': 4 });

  const JOBDIR = join(folder, 'starts');
  await crawl(Starts as SpiderClass, { ...settings, JOBDIR, CLOSESPIDER_PAGECOUNT: 2 });
  await crawl(Starts as SpiderClass, { ...settings, JOBDIR });
  const { length } = ['/robots.txt', '/1', '/2', '/robots.txt', '/3', '/4'];
  expect(paths().slice(-length)).toEqual(['/robots.txt', '/1', '/2', '/robots.txt', '/3', '/4']);
}, 20_000);

test('while robots.txt answers with 5xx or breaks off, pages wait; then all are fetched, once', async () => {
  // What breaks on a connection that was used before is sent once more at once.
  const answers: (Answer | undefined)[] = [{ status: 503 }, undefined, undefined];
  const pages: string[] = [];
  await using site = await startSite({
    '/robots.txt': (_, request) => {
      if (answers.length === 0) return 'User-agent: *\nDisallow: /no';
      const answer = answers.shift();
      if (answer === undefined) request.socket.destroy();
      return answer ?? '';
    },
    '*': (_, { url = '' }) => {
      pages.push(url);
      return 'page';
    },
  });
  const urls = ['/a', '/b', '/no', '/c'].map((path) => site.url + path);
  const { result } = await crawl(pageSpider(urls), {
    ROBOTSTXT_OBEY: true,
    RETRY_TIMES: 0,
    ROBOTSTXT_RETRY_DELAY: 0.1,
  });
  expect(pages.toSorted()).toEqual(['/a', '/b', '/c']);
  expect(result.stats).toMatchObject({
    'robotstxt/request_count': 3,
    'robotstxt/held_count': 8,
    'robotstxt/forbidden': 1,
    'account/done': 3,
    'account/dropped': 1,
  });
});

test('a stop while pages wait for robots.txt keeps them in the job', async () => {
  const jobdir = join(folder, 'held');
  let isUp = false;
  await using site = await startSite({
    '/robots.txt': () => (isUp ? 'User-agent: *' : { status: 500 }),
    '*': 'page',
  });
  const settings = { ROBOTSTXT_OBEY: true, RETRY_TIMES: 0, JOBDIR: jobdir };
  const urls = ['/a', '/b'].map((path) => site.url + path);
  await using process = new CrawlerProcess({
    settings: { ...quick, ...settings, ROBOTSTXT_RETRY_DELAY: 3600 },
    logger: silent(),
  });
  const crawling = process.crawl(pageSpider(urls));
  await vi.waitUntil(() => [...process.crawlers][0]?.stats.get('robotstxt/held_count') === 2);
  process.stop();
  expect((await crawling).stats).toMatchObject({ 'account/left': 2 });
  isUp = true;
  // The wait is part of the request: only the clock of the next run ends it.
  const clock = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 3_700_000);
  try {
    const { result } = await crawl(pageSpider(urls), settings);
    expect(result.stats).toMatchObject({ finish_reason: 'finished', 'account/done': 2 });
  } finally {
    clock.mockRestore();
  }
});

test('each change of a delay is told as it happens, with its cause', async () => {
  await using site = await startSite({
    '/robots.txt': 'User-agent: *\nCrawl-delay: 0.02',
    '/busy': { status: 429 },
    '*': 'page',
  });
  const heard: string[] = [];
  class Told extends pageSpider([`${site.url}/a`, `${site.url}/busy`]) {
    static override fromCrawler(crawler: Crawler): Spider {
      crawler.signals.connect('slot_changed', ({ key, change }) =>
        heard.push(`${key} ${change.cause}`),
      );
      return new this();
    }
  }
  await crawl(Told, {
    BACKOFF_ENABLED: true,
    ROBOTSTXT_OBEY: true,
    RETRY_TIMES: 0,
    BACKOFF_START_DELAY: 0.05,
  });
  expect(heard).toContain('127.0.0.1 robots.txt');
  expect(heard.some((line) => line.includes('429'))).toBe(true);
});

test('what robots.txt asks of a crawler goes with it', async () => {
  await using site = await startSite({
    '/robots.txt': {
      body: 'User-agent: *\nCrawl-delay: 0.2\n',
      headers: { 'content-type': 'text/plain' },
    },
    '*': 'page',
  });
  await using process = new CrawlerProcess({ settings: quick, logger: silent() });
  class Obeying extends Spider {
    static override readonly name = 'obeying';
    static override readonly customSettings = { ROBOTSTXT_OBEY: true };
    override start(): Request[] {
      return [new Request(site.url), new Request(`${site.url}/a`, { meta: { downloadSlot: 'a' } })];
    }
    override parse(): void {
      // Each slot that the site is reached through keeps to it.
      for (const { floor } of process.slots()) expect(floor).toBe(0.2);
    }
  }
  const { stats } = await process.crawl(Obeying as SpiderClass);
  expect(stats).toMatchObject({ 'account/done': 2 });
  expect(stats).not.toHaveProperty('spider_exceptions/count');
  expect(process.slots().map(({ key, floor }) => [key, floor])).toEqual([
    ['127.0.0.1', 0],
    ['a', 0],
  ]);
});

test('200 sites with a delay of 1 s and 16 places are each asked once a second', async () => {
  await using site = await startSite({ '*': 'page' });
  const requests = Array.from({ length: 600 }, (_, i) => `${site.url}/${i % 200}/${i}`);
  class Sites extends Spider {
    static override readonly name = 'sites';
    override start(): Request[] {
      return requests.map((url, i) => new Request(url, { meta: { downloadSlot: `s${i % 200}` } }));
    }
    override parse(): void {}
  }
  await crawl(Sites as SpiderClass, {
    DOWNLOAD_DELAY: 1,
    RANDOMIZE_DOWNLOAD_DELAY: false,
    CONCURRENT_REQUESTS: 16,
  });
  const times = site.requests.map(({ time }) => time);
  expect(times).toHaveLength(600);
  // Three rounds; 16 sites a second would be 37.
  const first = times[0]!;
  expect(times.filter((time) => time - first < 900).length).toBeGreaterThanOrEqual(200);
  for (let host = 0; host < 200; host++) {
    const own = site.requests.filter(({ url }) => url.startsWith(`/${host}/`));
    expect(own[2]!.time - own[0]!.time).toBeGreaterThanOrEqual(1500);
  }
}, 20_000);

test('a 429 with Retry-After stops the whole site, and the crawl loses nothing', async () => {
  let refusedAt: number | undefined;
  await using site = await startSite({
    '*': () => {
      if (refusedAt !== undefined) return 'page';
      refusedAt = Date.now();
      return { status: 429, headers: { 'retry-after': '1' } };
    },
  });
  const urls = Array.from({ length: 12 }, (_, i) => `${site.url}/${i}`);
  const { items, result } = await crawl(pageSpider(urls), {
    BACKOFF_ENABLED: true,
    BACKOFF_START_DELAY: 0.01,
    CONCURRENT_REQUESTS_PER_DOMAIN: 1,
  });
  expect(items).toHaveLength(12);
  const after = site.requests.slice(1).map(({ time }) => time - refusedAt!);
  expect(Math.min(...after)).toBeGreaterThanOrEqual(990);
  expect(result.stats).toMatchObject({ 'backoff/event_count': 1, 'backoff/pause_count': 1 });
});

test.each([
  ['Crawl-delay: 0.2', 0.2, []],
  ['Request-rate: 5/1', 0.2, []],
  [
    'Crawl-delay: 3600',
    0.2,
    [expect.stringContaining('asks for 3600 s between requests; 0.2 s are kept')],
  ],
])('robots.txt: %s is the least its site keeps', async (line, delay, warning) => {
  await using site = await startSite({
    '/robots.txt': { body: `User-agent: *\n${line}\n`, headers: { 'content-type': 'text/plain' } },
    '*': 'page',
  });
  const urls = Array.from({ length: 4 }, (_, i) => `${site.url}/${i}`);
  const { result, log } = await crawl(pageSpider(urls), {
    ROBOTSTXT_OBEY: true,
    ROBOTSTXT_CRAWL_DELAY_MAX: 0.2,
    RANDOMIZE_DOWNLOAD_DELAY: false,
  });
  const gaps = gapsOf(site.requests.map(({ time }) => time)).slice(1);
  expect(sum(gaps)).toBeGreaterThanOrEqual(3 * delay * 1000 - 100);
  expect(result.stats['robotstxt/crawl_delay_count']).toBe(1);
  const warnings = log.filter(({ level, msg }) => level === 'WARNING' && msg.includes('robots'));
  expect(warnings.map(({ msg }) => msg)).toEqual(warning);
});

test('with CONCURRENT_REQUESTS_PER_IP two hosts of one address share its places', async () => {
  let open = 0;
  let most = 0;
  await using site = await startSite({
    '*': async () => {
      most = Math.max(most, ++open);
      await new Promise((resolve) => setTimeout(resolve, 30));
      open--;
      return 'page';
    },
  });
  // Other spellings of one address, which are look-ups too.
  const hosts = ['127.0.0.1', 'localhost'];
  const urls = Array.from({ length: 8 }, (_, i) => `http://${hosts[i % 2]}:${site.port}/${i}`);
  const perHost = await crawl(pageSpider(urls), { CONCURRENT_REQUESTS_PER_DOMAIN: 1 });
  expect([perHost.items.length, most]).toEqual([8, 2]);
  most = 0;
  const { items } = await crawl(pageSpider(urls), { CONCURRENT_REQUESTS_PER_IP: 1 });
  expect([items.length, most]).toEqual([8, 1]);
});

test('slots by address are the same after a restart from a JOBDIR', async () => {
  let open = 0;
  let most = 0;
  await using site = await startSite({
    '*': async () => {
      most = Math.max(most, ++open);
      await new Promise((resolve) => setTimeout(resolve, 20));
      open--;
      return 'page';
    },
  });
  const hosts = ['127.0.0.1', 'localhost'];
  const urls = Array.from({ length: 10 }, (_, i) => `http://${hosts[i % 2]}:${site.port}/${i}`);
  const settings = { CONCURRENT_REQUESTS_PER_IP: 1, JOBDIR: join(folder, 'addresses') };
  const first = await crawl(pageSpider(urls), { ...settings, CLOSESPIDER_PAGECOUNT: 3 });
  const { slots, second } = await (async () => {
    await using process = new CrawlerProcess({
      settings: { ...quick, ...settings },
      logger: silent(),
    });
    const second = await process.crawl(pageSpider([]));
    return { second, slots: process.slots().map(({ key }) => key) };
  })();
  expect(first.items).toHaveLength(3);
  expect(second.stats['account/done']).toBe(10);
  expect(new Set(site.requests.map(({ url }) => url)).size).toBe(10);
  expect(most).toBe(1);
  expect(slots).toEqual(['127.0.0.1']);
});

test.each([
  [1, 0],
  [0, 1],
])(
  'a job may be resumed with other slots: CONCURRENT_REQUESTS_PER_IP %d, then %d',
  async (before, after) => {
    await using site = await startSite({ '*': 'page' });
    const urls = Array.from({ length: 12 }, (_, i) => `http://localhost:${site.port}/${i}`);
    const JOBDIR = join(folder, `per-ip-${before}`);
    await crawl(pageSpider(urls), {
      JOBDIR,
      CONCURRENT_REQUESTS_PER_IP: before,
      CONCURRENT_REQUESTS_PER_DOMAIN: 1,
      CLOSESPIDER_PAGECOUNT: 2,
    });
    const { result } = await crawl(pageSpider(urls.concat(`http://localhost:${site.port}/new`)), {
      JOBDIR,
      CONCURRENT_REQUESTS_PER_IP: after,
      CONCURRENT_REQUESTS_PER_DOMAIN: 1,
    });
    expect(result.reason).toBe('finished');
    // pageSpider() does not filter: what it asks for again is fetched again.
    expect(new Set(site.requests.map(({ url }) => url)).size).toBe(13);
  },
);

test('a learnt delay is still known after a restart from a JOBDIR', async () => {
  await using site = await startSite({ '*': { body: 'page', delayMs: 30 } });
  const urls = Array.from({ length: 8 }, (_, i) => `${site.url}/${i}`);
  const settings = { AUTOTHROTTLE_ENABLED: true, JOBDIR: join(folder, 'learnt') };
  const first = await crawl(pageSpider(urls), {
    ...settings,
    AUTOTHROTTLE_START_DELAY: 0.1,
    CLOSESPIDER_PAGECOUNT: 4,
  });
  // With the start delay the rest would take four minutes.
  const second = await crawl(pageSpider([]), { ...settings, AUTOTHROTTLE_START_DELAY: 60 });
  expect([first.items.length, second.items.length]).toEqual([4, 4]);
  expect(second.result.stats['autothrottle/raised'] ?? 0).toBeLessThan(4);
}, 20_000);

test('slots of one crawler alone can be looked at, set, paused and resumed too', async () => {
  await using site = await startSite({ '*': 'page' });
  await using process = new CrawlerProcess({
    settings: { ...quick, SLOT_SCOPE: 'crawler' },
    logger: silent(),
  });
  process.pauseHost('127.0.0.1');
  const crawls = ['/a', '/b'].map((path) => process.crawl(pageSpider([site.url + path])));
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(site.requests).toHaveLength(0);
  process.setSlot('127.0.0.1', { delay: 0.05, concurrency: 2 });
  const slot = { key: '127.0.0.1', spider: 'page', delay: 0.05, pausedUntil: Infinity };
  expect(process.slots()).toMatchObject([slot, slot]);
  process.resumeHost('127.0.0.1');
  for (const { stats } of await Promise.all(crawls)) expect(stats['account/done']).toBe(1);
  expect(process.slots()).toEqual([]);
  expect(() => process.setSlot('127.0.0.1', { delay: Number.NaN })).toThrow(UsageError);
  expect(() => process.setSlot('127.0.0.1', { concurrency: 0 })).toThrow('use pauseHost()');
});

test('slots can be looked at, set, paused and resumed while they are used', async () => {
  await using site = await startSite({ '*': 'page' });
  await using process = new CrawlerProcess({ settings: quick, logger: silent() });
  process.pauseHost('127.0.0.1');
  process.setSlot('127.0.0.1', { delay: 0.05, concurrency: 2 });
  const done = process.crawl(pageSpider([`${site.url}/1`, `${site.url}/2`]));
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(site.requests).toHaveLength(0);
  expect(process.slots()).toMatchObject([
    { key: '127.0.0.1', delay: 0.05, floor: 0.05, concurrency: 2, pausedUntil: Infinity },
  ]);
  process.resumeHost('127.0.0.1');
  expect((await done).stats['response_received_count']).toBe(2);
  const [slot] = process.slots();
  expect(slot!.pausedUntil).toBeUndefined();
  expect(slot!.changes.map(({ cause }) => cause)).toEqual([
    'paused by hand',
    'set by hand',
    'resumed by hand',
  ]);
});
