import { startSite } from '@lycosa/site';
import { CrawlerProcess, createLogger, Request, Spider, type SpiderClass } from 'lycosa';
import { expect, test } from 'vitest';

import { crawl, pageSpider, quick } from './scrape.ts';

const silent = (): ReturnType<typeof createLogger> =>
  createLogger({ level: 'CRITICAL', format: 'json', destination: { write: () => {} } });

const gapsOf = (times: readonly number[]): number[] =>
  times.slice(1).map((time, i) => time - times[i]!);

test('20 spiders of one process are one visitor: one request a delay, not twenty', async () => {
  await using site = await startSite({ '*': 'page' });
  const settings = { ...quick, DOWNLOAD_DELAY: 0.1, RANDOMIZE_DOWNLOAD_DELAY: false };
  await using process = new CrawlerProcess({ settings, logger: silent() });
  await Promise.all(
    Array.from({ length: 20 }, (_, i) => process.crawl(pageSpider([`${site.url}/${i}`]))),
  );
  const gaps = gapsOf(site.requests.map(({ time }) => time));
  expect(gaps).toHaveLength(19);
  // Where the server notes the first one late, all of it looks shorter.
  expect(gaps.reduce((a, b) => a + b)).toBeGreaterThanOrEqual(1700);
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
  expect(gaps.reduce((a, b) => a + b)).toBeGreaterThanOrEqual(3 * delay * 1000 - 100);
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
