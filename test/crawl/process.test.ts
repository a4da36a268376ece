import { setTimeout as sleep } from 'node:timers/promises';

import { startSite } from '@lycosa/site';
import {
  CrawlerProcess,
  createLogger,
  type Response,
  Spider,
  type SpiderClass,
  type SpiderOutput,
} from 'lycosa';
import { expect, test } from 'vitest';

import { quick } from './scrape.ts';

const silent = (): ReturnType<typeof createLogger> =>
  createLogger({ level: 'CRITICAL', format: 'json', destination: { write: () => {} } });

const fivePages = (url: string, name: string): SpiderClass =>
  class extends Spider {
    static override readonly name = name;
    override readonly startUrls = [`${url}/${name}/1`];
    override *parse(response: Response): SpiderOutput {
      yield { name };
      yield* response.followAll('a');
    }
  };

const chain = (request: { url: string }): string => {
  const [, name, page] = request.url.split('/');
  return Number(page) < 5 ? `<a href="/${name}/${Number(page) + 1}">next</a>` : 'end';
};

test('300 spiders of 5 pages in one process all end, each with its own stats', async () => {
  await using site = await startSite({ '*': chain });
  await using process = new CrawlerProcess({ settings: quick, logger: silent() });
  const results = await Promise.all(
    Array.from({ length: 300 }, (_, i) => process.crawl(fivePages(site.url, `s${i}`))),
  );
  for (const result of results) {
    expect(result).toMatchObject({ reason: 'finished', ok: true });
    expect(result.stats).toMatchObject({
      response_received_count: 5,
      item_scraped_count: 5,
      'account/done': 5,
    });
  }
  expect(site.requests).toHaveLength(1500);
  expect(process.crawlers.size).toBe(0);
});

test('maxConcurrent bounds how many run; the rest wait in line', async () => {
  await using site = await startSite({ '*': chain });
  await using process = new CrawlerProcess({ settings: quick, maxConcurrent: 3, logger: silent() });
  let most = 0;
  const watch = setInterval(() => (most = Math.max(most, process.crawlers.size)), 1);
  const results = await Promise.all(
    Array.from({ length: 20 }, (_, i) => process.crawl(fivePages(site.url, `s${i}`))),
  );
  clearInterval(watch);
  expect(results.every((result) => result.ok)).toBe(true);
  expect(most).toBe(3);
});

test('one crawl that cannot start has a result and touches no other', async () => {
  await using site = await startSite({ '*': chain });
  class Broken extends Spider {
    static override readonly name = 'broken';
    constructor() {
      super();
      throw new Error('no config file');
    }
  }
  await using process = new CrawlerProcess({ settings: quick, logger: silent() });
  const [bad, good] = await Promise.all([
    process.crawl(Broken),
    process.crawl(fivePages(site.url, 'ok')),
  ]);
  expect(bad).toMatchObject({ reason: 'bootstrap_failed', ok: false });
  expect(bad.error?.message).toBe('no config file');
  expect(good.ok).toBe(true);
});

test('join waits for crawls that are added while it waits', async () => {
  await using site = await startSite({ '*': chain });
  await using process = new CrawlerProcess({ settings: quick, logger: silent() });
  const order: string[] = [];
  void process.crawl(fivePages(site.url, 'first')).then(() => {
    order.push('first');
    void process.crawl(fivePages(site.url, 'second')).then(() => order.push('second'));
  });
  await process.join();
  expect(order).toEqual(['first', 'second']);
});

test('spiders of one process share the delay of a host', async () => {
  await using site = await startSite({ '*': 'x' });
  await using process = new CrawlerProcess({
    settings: { ...quick, DOWNLOAD_DELAY: 0.1, RANDOMIZE_DOWNLOAD_DELAY: false },
    logger: silent(),
  });
  await Promise.all(
    Array.from({ length: 8 }, (_, i) => process.crawl(fivePages(site.url, `s${i}`))),
  );
  const times = site.requests.map((request) => request.time);
  expect(times).toHaveLength(8);
  expect(times.at(-1)! - times[0]!).toBeGreaterThan(650);
});

test('a graceful stop finishes what is on the wire and gives the rest back', async () => {
  const started = Promise.withResolvers<void>();
  await using site = await startSite({
    '/': Array.from({ length: 20 }, (_, i) => `<a href="/p/${i}">x</a>`).join(''),
    '*': async () => {
      started.resolve();
      await sleep(100);
      return 'x';
    },
  });
  class Many extends Spider {
    static override readonly name = 'many';
    override readonly startUrls = [`${site.url}/`];
    override *parse(response: Response): SpiderOutput {
      yield* response.followAll('a');
    }
  }
  await using process = new CrawlerProcess({
    settings: { ...quick, CONCURRENT_REQUESTS_PER_DOMAIN: 4 },
    logger: silent(),
  });
  const running = process.crawl(Many);
  await started.promise;
  await sleep(20);
  process.stop();
  const result = await running;
  expect(result).toMatchObject({ reason: 'shutdown', ok: false });
  expect(result.stats).toMatchObject({
    'account/scheduled': 21,
    'account/done': 5,
    'account/left': 16,
  });
});

test('a fast stop breaks transfers off and gives them back', async () => {
  const started = Promise.withResolvers<void>();
  await using site = await startSite({
    '*': async () => {
      started.resolve();
      await sleep(60_000, undefined, { ref: false });
      return 'x';
    },
  });
  class Hangs extends Spider {
    static override readonly name = 'hangs';
    override readonly startUrls = [1, 2, 3].map((n) => `${site.url}/${n}`);
  }
  await using process = new CrawlerProcess({ settings: quick, logger: silent() });
  const running = process.crawl(Hangs);
  await started.promise;
  process.stop('fast');
  expect((await running).stats).toMatchObject({ 'account/scheduled': 3, 'account/left': 3 });
});
