import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import {
  connectRedis,
  type RedisConnection,
  RedisDupeFilter,
  RedisPipeline,
  RedisScheduler,
  RedisSpider,
  RedisStatsCollector,
} from '@lycosa/redis';
import { type Site, startSite } from '@lycosa/site';
import {
  type CrawlResult,
  CrawlerProcess,
  createLogger,
  Request,
  RequestFingerprinter,
  type Response,
  type SettingsInput,
  Spider,
  type SpiderClass,
  type SpiderOutput,
} from 'lycosa';
import { describe, expect, test } from 'vitest';

import { hasRedis, type RedisServer, startRedis } from '../redis-server.ts';
import { frontierKillTest } from './kill.ts';

const bin = fileURLToPath(new URL('../../packages/cli/src/bin.ts', import.meta.url));
const project = fileURLToPath(new URL('project', import.meta.url));

/** A crawl that runs, and can be stopped. */
interface Running {
  readonly result: Promise<CrawlResult>;
  readonly process: CrawlerProcess;
  readonly lines: string[];
}

function begin(spider: SpiderClass, server: RedisServer, settings: SettingsInput = {}): Running {
  const lines: string[] = [];
  const process = new CrawlerProcess({
    settings: {
      SCHEDULER: RedisScheduler,
      REDIS_URL: server.url,
      ROBOTSTXT_OBEY: false,
      RETRY_BACKOFF: 0,
      BACKOFF_ENABLED: false,
      SLOT_SCOPE: 'crawler',
      STATS_DUMP: false,
      ...settings,
    },
    logger: createLogger({
      level: 'DEBUG',
      destination: { write: (line: string) => void lines.push(line) },
    }),
  });
  return { result: process.crawl(spider), process, lines };
}

async function crawl(
  spider: SpiderClass,
  server: RedisServer,
  settings: SettingsInput = {},
): Promise<CrawlResult> {
  const { process, result } = begin(spider, server, settings);
  try {
    return await result;
  } finally {
    await process.close();
  }
}

const linkTo = (...paths: readonly (string | number)[]): string =>
  paths.map((path) => `<a href="/${path}">x</a>`).join('');

/** A page that links to so many others. */
function starSite(count: number, delayMs = 0): Promise<Site> {
  const leaf = { body: 'leaf', delayMs };
  return startSite({
    '/': linkTo(...Array.from({ length: count }, (_, i) => i)),
    '*': () => leaf,
  });
}

function spiderOf(site: Site, parse?: (response: Response) => SpiderOutput): SpiderClass {
  return class StarSpider extends Spider {
    static override readonly name = 'star';
    override readonly startUrls = [`${site.url}/`];
    override parse(response: Response): SpiderOutput {
      return parse ? parse(response) : response.followAll('a');
    }
  };
}

const list = async (redis: RedisConnection, key: string): Promise<string[]> =>
  (await redis.call('LRANGE', key, 0, -1)) as string[];

describe.skipIf(!hasRedis)('with a redis-server', () => {
  test(
    'four workers that are killed lose nothing, and no host is asked sooner than its delay',
    { timeout: 120_000 },
    async () => {
      const report = await frontierKillTest({
        workers: 4,
        kills: 4,
        pages: 200,
        hosts: 25,
        concurrency: 4,
        delay: 0.05,
        lease: 4,
        seed: 7,
        timeoutMs: 100_000,
      });
      expect(report).toMatchObject({
        kills: 4,
        lost: 0,
        lostItems: 0,
        shortGaps: 0,
        failures: 0,
        isFinished: true,
        left: 0,
      });
    },
  );

  test('Redis is killed and comes back with its file: the crawl waits, says so, and loses nothing', async () => {
    await using server = await startRedis('--appendonly', 'yes');
    await using site = await starSite(60, 10);
    let isDown: Promise<void> | undefined;
    const spider = spiderOf(site, (response) => {
      if (response.url.endsWith('/20')) isDown ??= server.restart(true);
      return response.followAll('a');
    });
    const { result, process, lines } = begin(spider, server);
    expect(await result).toMatchObject({ reason: 'finished', ok: true });
    await isDown;
    await process.close();
    expect(new Set(site.requests.map(({ url }) => url)).size).toBe(61);
    const told = lines.filter((line) => line.includes('Redis at'));
    expect(told.map((line) => /is away|is back/.exec(line)?.[0])).toEqual(['is away', 'is back']);
  });

  test('a Redis that comes back without the crawl ends it with an error that says so', async () => {
    await using server = await startRedis();
    await using site = await starSite(60, 10);
    let isDown: Promise<void> | undefined;
    const spider = spiderOf(site, (response) => {
      if (response.url.endsWith('/20')) isDown ??= server.restart(false);
      return response.followAll('a');
    });
    const { reason, ok, error } = await crawl(spider, server);
    await isDown;
    expect({ reason, ok }).toEqual({ reason: 'scheduler_error', ok: false });
    expect(error?.message).toContain('Redis has lost the crawl star');
  });

  test('nobody closes while another worker may still find links, and the crawl is over for all at once', async () => {
    await using server = await startRedis();
    let answer!: () => void;
    const held = new Promise<void>((resolve) => {
      answer = resolve;
    });
    await using site = await startSite({
      '/': async () => {
        await held;
        return linkTo(1, 2, 3);
      },
      '*': 'leaf',
    });
    const events: string[] = [];
    const first = begin(spiderOf(site), server);
    while (site.requests.length === 0) await pause(5);
    const second = begin(spiderOf(site), server);
    void second.result.then(({ reason }) => events.push(`closed ${reason}`));
    while (!second.lines.some((line) => line.includes('Joined the crawl star'))) await pause(5);
    // Long enough to close if it took an empty queue for the end.
    await pause(700);
    events.push('answered');
    answer();
    await Promise.all([first.result, second.result]);
    await Promise.all([first.process.close(), second.process.close()]);
    expect(events).toEqual(['answered', 'closed finished']);
    expect(site.requests).toHaveLength(4);
    await using redis = await connectRedis({ url: server.url });
    expect(await redis.call('KEYS', '*')).toEqual(['{star}:over']);
  });

  test('a stop gives its leases back at once, and the next worker goes on without start()', async () => {
    await using server = await startRedis();
    await using redis = await connectRedis({ url: server.url });
    await using site = await starSite(40, 100);
    const { result, process } = begin(spiderOf(site), server, { CONCURRENT_REQUESTS: 4 });
    while (site.requests.length < 8) await pause(5);
    process.stop('fast');
    expect(await result).toMatchObject({ reason: 'shutdown' });
    await process.close();
    expect(await redis.call('ZCARD', '{star}:lease')).toBe(0);
    expect(await redis.call('HLEN', '{star}:held')).toBe(0);
    const { stats, reason } = await crawl(spiderOf(site), server);
    expect(reason).toBe('finished');
    const hits = site.requests.length;
    expect(new Set(site.requests.map(({ url }) => url)).size).toBe(41);
    expect(hits).toBeLessThanOrEqual(41 + 4);
    expect(stats['account/left']).toBe(0);
    expect(site.hits('/')).toBe(1);
  });

  test('SCHEDULER_PERSIST keeps what has been seen, SCHEDULER_FLUSH_ON_START forgets it', async () => {
    await using server = await startRedis();
    await using site = await starSite(3);
    const persist = { SCHEDULER_PERSIST: true };
    await crawl(spiderOf(site), server, persist);
    expect(site.requests).toHaveLength(4);
    await crawl(spiderOf(site), server, persist);
    expect(site.requests).toHaveLength(4);
    await crawl(spiderOf(site), server, { ...persist, SCHEDULER_FLUSH_ON_START: true });
    expect(site.requests).toHaveLength(8);
  });

  test('SCHEDULER_IDLE_BEFORE_CLOSE is how long a worker waits for more', async () => {
    await using server = await startRedis();
    await using site = await starSite(1);
    const { stats } = await crawl(spiderOf(site), server, { SCHEDULER_IDLE_BEFORE_CLOSE: 0.4 });
    expect(stats['elapsed_time_seconds']).toBeGreaterThanOrEqual(0.4);
  });

  test('entries that no spider has made are set aside and never carried out', async () => {
    await using server = await startRedis();
    await using redis = await connectRedis({ url: server.url });
    await using site = await starSite(1);
    const url = `${site.url}/never`;
    const bad = [
      'not json',
      '[]',
      JSON.stringify({ u: 5 }),
      JSON.stringify({ u: url, cb: 'constructor' }),
      JSON.stringify({ u: url, cb: 'start' }),
      JSON.stringify({ u: url, cb: '() => process.exit(1)' }),
      JSON.stringify({ u: url, eb: 'toString' }),
      JSON.stringify({ u: url, p: 'high' }),
      JSON.stringify({ u: url, m: { GET: 1 } }),
      JSON.stringify({ u: url, unknown: 1 }),
      `{"u":${JSON.stringify(url)},"t":{"a":{"__proto__":{"polluted":true}}}}`,
      JSON.stringify({ u: 'file:///etc/passwd' }),
      JSON.stringify({ u: url, t: { text: 'x'.repeat(3000) } }),
    ];
    for (const entry of bad)
      await redis.call('ZADD', '{star}:q:127.0.0.1', '-1', `0000000000000${entry}`);
    await redis.call('ZADD', '{star}:ready', '0', '127.0.0.1');
    const { stats, reason, ok } = await crawl(spiderOf(site), server, {
      REDIS_MAX_ENTRY_SIZE: 2000,
    });
    expect({ reason, ok }).toEqual({ reason: 'finished', ok: true });
    expect(stats['scheduler/set_aside']).toBe(bad.length);
    expect(await redis.call('LLEN', '{star}:dead')).toBe(bad.length);
    expect(site.requests.map((request) => request.url).toSorted()).toEqual(['/', '/0']);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  test('a request that is too long for the frontier is dropped, and says why', async () => {
    await using server = await startRedis();
    await using site = await starSite(1);
    const spider = spiderOf(site, (response) =>
      response.url.endsWith('/')
        ? [new Request(`${site.url}/long`, { meta: { text: 'x'.repeat(3000) } })]
        : [],
    );
    const { result, process, lines } = begin(spider, server, { REDIS_MAX_ENTRY_SIZE: 2000 });
    const { stats, ok } = await result;
    await process.close();
    expect(ok).toBe(true);
    expect(stats['request_dropped_count/too-long']).toBe(1);
    expect(lines.join('')).toContain('REDIS_MAX_ENTRY_SIZE is 2000');
  });

  test('redirects and retries stay one request, and the account of each worker balances', async () => {
    await using server = await startRedis();
    const failed = new Set<string>();
    await using site = await startSite({
      '/': linkTo('a', 'moved', 'failing', 'a'),
      '/moved': { status: 302, headers: { location: '/b' } },
      '/failing': ({ url }) => {
        if (failed.has(url)) return 'leaf';
        failed.add(url);
        return { status: 503 };
      },
      '*': 'leaf',
    });
    const { stats, ok } = await crawl(spiderOf(site), server);
    expect(ok).toBe(true);
    expect(site.requests.map(({ url }) => url).toSorted()).toEqual([
      '/',
      '/a',
      '/b',
      '/failing',
      '/failing',
      '/moved',
    ]);
    expect(stats).toMatchObject({ 'account/done': 4, 'account/left': 0, 'retry/count': 1 });
  });

  test('what an errback or a middleware yields belongs to its page', async () => {
    await using server = await startRedis();
    await using redis = await connectRedis({ url: server.url });
    await using site = await startSite({ '/': linkTo('absent'), '/found': 'leaf', '/added': '' });
    const leased: number[] = [];
    class Errors extends Spider {
      static override readonly name = 'star';
      override readonly startUrls = [`${site.url}/`];
      override *parse(response: Response): SpiderOutput {
        if (response.url.endsWith('/')) yield response.follow('/absent', { errback: this.failed });
      }
      async *failed(): SpiderOutput {
        yield new Request(`${site.url}/found`);
        // Not in the frontier yet: it comes with the end of its page.
        leased.push(Number(await redis.call('SCARD', '{star}:seen')));
      }
    }
    class Adds {
      async *processSpiderOutput(
        response: Response,
        output: AsyncIterable<unknown>,
      ): AsyncGenerator<unknown> {
        yield* output;
        if (response.url.endsWith('/found')) yield new Request(`${site.url}/added`);
      }
    }
    const { ok } = await crawl(Errors, server, { SPIDER_MIDDLEWARES: [[Adds, 10]] });
    expect(ok).toBe(true);
    expect(leased).toEqual([2]);
    expect(site.requests.map(({ url }) => url)).toEqual(['/', '/absent', '/found', '/added']);
  });

  test('the delay that AutoThrottle has learnt is where another worker begins', async () => {
    await using server = await startRedis();
    await using redis = await connectRedis({ url: server.url });
    await using site = await starSite(3, 60);
    const settings = {
      AUTOTHROTTLE_ENABLED: true,
      AUTOTHROTTLE_START_DELAY: 0.2,
      SCHEDULER_PERSIST: true,
    };
    await crawl(spiderOf(site), server, settings);
    const record = String(await redis.call('HGET', '{star}:hosts', '127.0.0.1'));
    const shared = Number(record.split(' ')[0]);
    expect(shared).toBeGreaterThan(0);
    await redis.call('HSET', '{star}:hosts', '127.0.0.1', '77 8 0');
    const seen: (number | undefined)[] = [];
    class Again extends Spider {
      static override readonly name = 'star';
      override *start(): Generator<Request> {
        yield new Request(`${site.url}/again`, { dontFilter: true });
      }
      override parse(): void {}
    }
    const { process, result } = begin(Again, server, settings);
    for (const crawler of process.crawlers)
      crawler.signals.connect('request_reached_downloader', () => {
        seen.push(crawler.slots.get('127.0.0.1').learnt);
      });
    await result;
    await process.close();
    expect(seen).toEqual([0.077]);
  });

  test('what a site asks for holds for all workers before the page is done that asked', async () => {
    await using server = await startRedis();
    await using redis = await connectRedis({ url: server.url });
    await using site = await startSite({
      '/robots.txt': 'User-agent: *\nCrawl-delay: 0.3\n',
      '/': { status: 503, headers: { 'retry-after': '60' } },
    });
    const known: [string, number][] = [];
    class Asked extends Spider {
      static override readonly name = 'star';
      override readonly startUrls = [site.url];
      override async parse(): Promise<void> {
        const { host } = new URL(site.url);
        const record = String(await redis.call('HGET', '{star}:hosts', host.split(':')[0]!));
        const due = Number(await redis.call('ZSCORE', '{star}:due', host.split(':')[0]!));
        known.push([record, due]);
      }
    }
    const before = Date.now();
    const settings = {
      BACKOFF_ENABLED: true,
      ROBOTSTXT_OBEY: true,
      RETRY_ENABLED: false,
      HTTPERROR_ALLOW_ALL: true,
    };
    await crawl(Asked, server, settings);
    const [[record, due]] = known as [[string, number]];
    expect(record).toBe('300 1 0');
    expect(due).toBeGreaterThanOrEqual(before + 60_000);
  });

  test.each(['list', 'set', 'zset'])('a RedisSpider takes start URLs from a %s', async (type) => {
    await using server = await startRedis();
    await using redis = await connectRedis({ url: server.url });
    await using site = await starSite(2);
    const json = JSON.stringify({ url: `${site.url}/json`, meta: { from: 'json' }, priority: 3 });
    const entries = [`${site.url}/text`, json, '{"url":5}', 'file:///etc/passwd', '{"u":1}'];
    if (type === 'list') await redis.call('RPUSH', 'start:red', ...entries);
    if (type === 'set') await redis.call('SADD', 'start:red', ...entries);
    if (type === 'zset')
      await redis.call('ZADD', 'start:red', ...entries.flatMap((entry, i) => [i, entry]));
    const metas: unknown[] = [];
    class Red extends RedisSpider {
      static override readonly name = 'red';
      override readonly redisKey = 'start:%(name)s';
      override readonly maxIdleTime = 0.3;
      override parse(response: Response): void {
        metas.push(response.meta['from']);
      }
    }
    const settings = type === 'set' ? { REDIS_START_URLS_AS_SET: true } : {};
    const { reason, ok, stats } = await crawl(Red, server, settings);
    expect({ reason, ok }).toEqual({ reason: 'finished', ok: true });
    expect(site.requests.map(({ url }) => url).toSorted()).toEqual(['/json', '/text']);
    expect(metas).toContain('json');
    expect(stats['redis_spider/bad_start_count']).toBe(3);
    expect(await redis.call('LLEN', 'start:red:dead')).toBe(3);
    expect(await redis.call('EXISTS', 'start:red', 'start:red:processing')).toBe(0);
  });

  test('a start URL whose taker died is taken by another, and waiting ones are taken as they come', async () => {
    await using server = await startRedis();
    await using redis = await connectRedis({ url: server.url });
    await using site = await starSite(1);
    class Red extends RedisSpider {
      static override readonly name = 'red';
      override readonly maxIdleTime = 0.5;
      override parse(): void {}
    }
    // What a worker leaves that is killed between the key and the frontier.
    await redis.call(
      'EVAL',
      `redis.call('HSET', KEYS[1], 'dead:1', cmsgpack.pack({0, 'list', '0', ARGV[1]}))`,
      1,
      'red:start_urls:processing',
      `${site.url}/left`,
    );
    const { process, result } = begin(Red, server);
    while (site.requests.length === 0) await pause(5);
    await redis.call('LPUSH', 'red:start_urls', `${site.url}/late`);
    await result;
    await process.close();
    expect(site.requests.map(({ url }) => url)).toEqual(['/left', '/late']);
  });

  test('RedisDupeFilter alone: what one crawl has seen another does not fetch', async () => {
    await using server = await startRedis();
    await using site = await starSite(3);
    const settings = { SCHEDULER: undefined, DUPEFILTER_CLASS: RedisDupeFilter };
    const first = await crawl(spiderOf(site), server, settings);
    expect(first.stats['account/done']).toBe(4);
    const second = await crawl(spiderOf(site), server, settings);
    expect(second.stats).toMatchObject({ 'account/done': 1, 'dupefilter/filtered': 3 });
  });

  test('RedisDupeFilter goes by REQUEST_FINGERPRINTER_CLASS', async () => {
    await using server = await startRedis();
    await using site = await starSite(9);
    class ByLength extends RequestFingerprinter {
      override fingerprint({ url }: Request): string {
        return String(url.length);
      }
    }
    const { stats } = await crawl(spiderOf(site), server, {
      SCHEDULER: undefined,
      DUPEFILTER_CLASS: RedisDupeFilter,
      REQUEST_FINGERPRINTER_CLASS: ByLength,
    });
    // The start page, and one of the nine whose URLs are equally long.
    expect(stats).toMatchObject({ 'account/done': 2, 'dupefilter/filtered': 8 });
  });

  test('RedisStatsCollector adds up what workers count, and RedisPipeline pushes their items', async () => {
    await using server = await startRedis();
    await using redis = await connectRedis({ url: server.url });
    await using site = await starSite(5);
    const spider = spiderOf(site, function* (response) {
      yield { path: new URL(response.url).pathname };
      yield* response.followAll('a');
    });
    const settings = {
      STATS_CLASS: RedisStatsCollector,
      ITEM_PIPELINES: [[RedisPipeline, 300]] as SettingsInput['ITEM_PIPELINES'],
    };
    const results = await Promise.all([
      crawl(spider, server, settings),
      crawl(spider, server, settings),
    ]);
    const sum = (name: string): number =>
      results.reduce((total, { stats }) => total + Number(stats[name] ?? 0), 0);
    expect(sum('account/done')).toBe(6);
    const stored = async (name: string): Promise<number> =>
      Number(await redis.call('HGET', '{star}:stats', name));
    expect(await stored('account/done')).toBe(6);
    expect(await stored('response_received_count')).toBe(6);
    expect(await stored('request_depth_max')).toBe(1);
    const items = (await list(redis, 'star:items')).map((text) => JSON.parse(text) as unknown);
    expect(items).toHaveLength(6);
    expect(items).toContainEqual({ path: '/3' });
  });

  test('the classes can be named in text, seen from the project', { timeout: 60_000 }, async () => {
    await using server = await startRedis();
    await using redis = await connectRedis({ url: server.url });
    await using site = await starSite(2);
    const settings = [
      `REDIS_URL=${server.url}`,
      'SCHEDULER=@lycosa/redis#RedisScheduler',
      'STATS_CLASS=@lycosa/redis#RedisStatsCollector',
      'ITEM_PIPELINES=[["@lycosa/redis#RedisPipeline",300]]',
    ];
    const run = promisify(execFile);
    await run(
      process.execPath,
      [
        '--conditions=lycosa-source',
        bin,
        'crawl',
        'star',
        '-a',
        `url=${site.url}/`,
        '--nolog',
        ...settings.flatMap((one) => ['-s', one]),
      ],
      { cwd: project },
    );
    expect(site.requests).toHaveLength(3);
    expect(await redis.call('LLEN', 'star:items')).toBe(3);
    expect(await redis.call('HGET', '{star}:stats', 'account/done')).toBe('3');
  });

  test('SCHEDULER beside JOBDIR, and a Redis that is not there, end before the first request', async () => {
    await using server = await startRedis();
    await using site = await starSite(1);
    const folder = await mkdtemp(join(tmpdir(), 'lycosa-frontier-'));
    const both = await crawl(spiderOf(site), server, { JOBDIR: folder });
    await rm(folder, { recursive: true });
    expect(both.error?.message).toContain('SCHEDULER and JOBDIR');
    const absent = await crawl(spiderOf(site), server, {
      REDIS_URL: 'unix:///nowhere/redis.sock',
      REDIS_CONNECT_TIMEOUT: 0.2,
    });
    expect(absent).toMatchObject({ reason: 'bootstrap_failed', ok: false });
    expect(absent.error?.message).toContain('could not be reached');
    expect(site.requests).toHaveLength(0);
  });
});

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
