import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { CrawlerProcess, type CrawlResult, type Request, type SettingsInput, Spider } from 'lycosa';
import { describe, expect, test } from 'vitest';

import { hasRedis, startRedis } from '../../../test/redis-server.ts';
import { connectRedis } from './connection.ts';
import { crawlPending } from './crawl-pending.ts';
import { SpiderCountLimit } from './spider-count-limit.ts';
import { type Claim, SpiderSets } from './spider-sets.ts';

/** A spider that waits for `gate` and then has nothing to do. */
function waiting(name: string, gate: Promise<unknown> = Promise.resolve()): typeof Spider {
  const spider = class extends Spider {
    static override readonly name: string = name;
    override async *start(): AsyncGenerator<Request> {
      await gate;
      yield* [];
    }
  };
  return spider as unknown as typeof Spider;
}

async function crawl(spider: typeof Spider, settings: SettingsInput): Promise<CrawlResult> {
  await using crawls = new CrawlerProcess({
    settings: { LOG_ENABLED: false, EXTENSIONS: [[SpiderCountLimit, 500]], ...settings },
  });
  return await crawls.crawl(spider as never);
}

describe.skipIf(!hasRedis)('with a redis-server', () => {
  test('a spider stands in running while it runs and in finished when it has ended, as redis-cli sees it', async () => {
    await using server = await startRedis();
    await using redis = await connectRedis({ url: server.url });
    await redis.call('SADD', 'pending', 'a', 'b');
    const gate = Promise.withResolvers<void>();
    const running = crawl(waiting('a', gate.promise), { REDIS_URL: server.url });
    await expect.poll(() => redis.call('SMEMBERS', 'running')).toEqual(['a']);
    expect(await redis.call('SMEMBERS', 'pending')).toEqual(['b']);
    gate.resolve();
    expect((await running).reason).toBe('finished');
    expect(await redis.call('SCARD', 'running')).toBe(0);
    expect(await redis.call('SMEMBERS', 'finished')).toEqual(['a']);
    const sets = new SpiderSets(redis);
    expect((await sets.results(['a'])).get('a')).toMatchObject({ reason: 'finished', ok: true });
  });

  test('a spider beyond SPIDER_COUNT is closed, and its name given back', async () => {
    await using server = await startRedis();
    await using redis = await connectRedis({ url: server.url });
    const gate = Promise.withResolvers<void>();
    const settings = { REDIS_URL: server.url, SPIDER_COUNT: 1 };
    const first = crawl(waiting('a', gate.promise), settings);
    await expect.poll(() => redis.call('SMEMBERS', 'running')).toEqual(['a']);
    expect((await crawl(waiting('b'), settings)).reason).toBe('spider_count_limit');
    expect(await redis.call('SMEMBERS', 'pending')).toEqual(['b']);
    expect((await crawl(waiting('a'), { ...settings, SPIDER_COUNT: 5 })).reason).toBe(
      'spider_already_running',
    );
    // Another machine has room of its own, but not where the whole fleet is full.
    const other = { ...settings, FLEET_MACHINE: 'other' };
    expect((await crawl(waiting('c'), { ...other, FLEET_SPIDER_COUNT: 1 })).reason).toBe(
      'spider_count_limit',
    );
    expect((await crawl(waiting('d'), other)).reason).toBe('finished');
    gate.resolve();
    await first;
    expect(await redis.call('SMEMBERS', 'finished')).toEqual(expect.arrayContaining(['a', 'd']));
  });

  test('a spider that is interrupted is pending again', async () => {
    await using server = await startRedis();
    await using redis = await connectRedis({ url: server.url });
    await using crawls = new CrawlerProcess({
      settings: {
        LOG_ENABLED: false,
        EXTENSIONS: [[SpiderCountLimit, 500]],
        REDIS_URL: server.url,
      },
    });
    const gate = Promise.withResolvers<void>();
    const running = crawls.crawl(waiting('a', gate.promise) as never);
    await expect.poll(() => redis.call('SMEMBERS', 'running')).toEqual(['a']);
    crawls.stop('fast');
    gate.resolve();
    expect((await running).reason).toBe('shutdown');
    expect(await redis.call('SMEMBERS', 'pending')).toEqual(['a']);
    expect(await redis.call('SCARD', 'running')).toBe(0);
    expect(await redis.call('SCARD', 'finished')).toBe(0);
  });

  test('a spider that cannot start has failed, with its error', async () => {
    await using server = await startRedis();
    await using redis = await connectRedis({ url: server.url });
    const pipeline = class {
      openSpider(): void {
        throw new Error('no disk');
      }
    };
    const settings = { REDIS_URL: server.url, ITEM_PIPELINES: [[pipeline, 1]] as never };
    expect((await crawl(waiting('a'), settings)).ok).toBe(false);
    expect(await redis.call('SMEMBERS', 'failed')).toEqual(['a']);
    const record = (await new SpiderSets(redis).results(['a'])).get('a');
    expect(record?.['error']).toContain('no disk');
  });

  test('without Redis the crawl goes on', async () => {
    const settings = { REDIS_URL: 'unix:///nowhere/redis.sock', REDIS_CONNECT_TIMEOUT: 0.2 };
    expect((await crawl(waiting('a'), settings)).reason).toBe('finished');
  });

  test('a late finisher is refused once its spider runs elsewhere', async () => {
    await using server = await startRedis();
    await using redis = await connectRedis({ url: server.url });
    const slow = new SpiderSets(redis, { leaseMs: 50 });
    const quick = new SpiderSets(redis);
    await slow.order(['a']);
    const first = (await slow.claim('a')) as Claim;
    await expect.poll(() => slow.reap()).toBe(1);
    expect(await redis.call('SMEMBERS', 'pending')).toEqual(['a']);
    const second = (await quick.take()) as Claim;
    expect(second.token).toBeGreaterThan(first.token);
    expect(await slow.renew(first)).toBe('lost');
    expect(await slow.release(first, 'finished')).toBe(false);
    expect(await redis.call('SMEMBERS', 'running')).toEqual(['a']);
    expect(await quick.release(second, 'finished')).toBe(true);
    // Said again, because the answer was lost: it stays as it is.
    expect(await quick.release(second, 'finished')).toBe(true);
    expect(await quick.release(second, 'failed')).toBe(false);
    // Started late, by somebody who counts runs: an order that was carried out is not carried out again.
    const fence = { generation: 7, start: 1 };
    expect(await quick.claim('a', fence)).toMatchObject({ token: 7_000_001 });
    expect(await slow.claim('a', fence)).toBe('busy');
    expect(await slow.claim('a', { generation: 7, start: 2 })).toBe('busy');
    expect(await slow.claim('a', { generation: 6, start: 9 })).toBe('old');
  });

  test('a thousand spiders one after the other leave nothing behind', async () => {
    await using server = await startRedis();
    await using redis = await connectRedis({ url: server.url });
    const sets = new SpiderSets(redis);
    const names = Array.from({ length: 1000 }, (_, i) => `s${i}`);
    await redis.call('SADD', 'pending', ...names);
    await using crawls = new CrawlerProcess({
      settings: { LOG_ENABLED: false },
      spiders: { load: (name: string) => waiting(name) } as never,
    });
    let most = 0;
    const watch = setInterval(() => {
      most = Math.max(most, crawls.crawlers.size);
    }, 1);
    const results = await crawlPending(crawls, sets, { count: 10 });
    clearInterval(watch);
    expect(results).toHaveLength(1000);
    expect(most).toBeLessThanOrEqual(10);
    expect(await redis.call('SCARD', 'finished')).toBe(1000);
    expect(await redis.call('SCARD', 'running')).toBe(0);
    expect(await redis.call('HLEN', 'fleet:owner')).toBe(0);
  });

  test('ten spiders on three machines, one killed: its two run again elsewhere after their lease, the others once', async () => {
    await using server = await startRedis();
    await using redis = await connectRedis({ url: server.url });
    const names = Array.from({ length: 10 }, (_, i) => `s${i}`);
    await redis.call('SADD', 'pending', ...names);
    const folder = await mkdtemp(join(tmpdir(), 'lycosa-fleet-'));
    const log = join(folder, 'log');
    const file = fileURLToPath(new URL('../../../test/fleet/sets-worker.mjs', import.meta.url));
    const leaseMs = 2000;
    const workers = ['m1', 'm2', 'm3'].map((machine) =>
      spawn(
        process.execPath,
        ['--conditions=lycosa-source', file, server.url, '2', String(leaseMs / 1000), machine, log],
        { stdio: ['ignore', 'inherit', 'inherit'] },
      ),
    );
    const ended = workers.map((worker) => new Promise((resolve) => worker.once('exit', resolve)));
    const begun = async (): Promise<number> =>
      (await readFile(log, 'utf8').catch(() => '')).split('\n').filter((l) => l.startsWith('begin'))
        .length;
    const sets = new SpiderSets(redis);
    await expect.poll(begun, { timeout: 15_000 }).toBeGreaterThanOrEqual(6);
    const killed = workers[1]!;
    const orphans = [...(await sets.owners())].filter(([, owner]) => owner.startsWith('m2/'));
    killed.kill('SIGKILL');
    const killedAt = Date.now();
    let most = 0;
    const watch = setInterval(() => {
      void sets.count('running').then((count) => (most = Math.max(most, count)));
    }, 20);
    await Promise.all(ended);
    clearInterval(watch);
    expect(orphans.length).toBeGreaterThan(0);
    expect(orphans.length).toBeLessThanOrEqual(2);
    expect(most).toBeLessThanOrEqual(6);
    expect((await sets.names('finished')).toSorted()).toEqual(names);
    expect([await sets.count('running'), await sets.count('pending')]).toEqual([0, 0]);
    const rows = (await readFile(log, 'utf8'))
      .trim()
      .split('\n')
      .map((row) => row.split(' '));
    for (const name of names) {
      const starts = rows.filter(([what, of]) => what === 'begin' && of === name);
      expect(starts).toHaveLength(orphans.some(([one]) => one === name) ? 2 : 1);
      expect(rows.filter(([what, of]) => what === 'end' && of === name)).toHaveLength(1);
    }
    // The lease was renewed at most a fifth of it (and its jitter) before the kill.
    const again = rows.filter(
      ([what, of], at) =>
        what === 'begin' && rows.findIndex((row) => row[0] === 'begin' && row[1] === of) < at,
    );
    for (const row of again) expect(Number(row[3]) - killedAt).toBeGreaterThan(leaseMs / 2);
    await rm(folder, { recursive: true });
  });
});
