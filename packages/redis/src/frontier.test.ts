import { createLogger, Request } from 'lycosa';
import { describe, expect, test } from 'vitest';

import { hasRedis, startRedis } from '../../../test/redis-server.ts';
import { connectRedis, type RedisConnection } from './connection.ts';
import { linkOf } from './frontier-entry.ts';
import { FrontierWatch } from './frontier-watch.ts';
import { Frontier, FrontierGoneError, type FrontierOptions, type HostReport } from './frontier.ts';

type Entry = readonly [url: string, options?: ConstructorParameters<typeof Request>[1]];

/** What linkOf asks of the slots. */
const slots = {
  keyOf: ({ url }: Request) => new URL(url).hostname,
  settingsOf: () => undefined,
  defaultDelay: 0,
} as unknown as Parameters<typeof linkOf>[1];

function links(...entries: readonly Entry[]): (string | Buffer)[] {
  return entries.flatMap(([url, options]) => linkOf(new Request(url, options), slots, false).args);
}

const answered: HostReport = {
  sinceMs: 0,
  delayMs: 0,
  concurrency: 8,
  backoffMs: 0,
  pauseMs: 0,
};

async function workers(
  count: number,
  options: Partial<FrontierOptions> = {},
): Promise<
  AsyncDisposable & { all: Frontier[]; redis: RedisConnection; open: () => Promise<Frontier> }
> {
  const server = await startRedis();
  const redis = await connectRedis({ url: server.url });
  const watch = new FrontierWatch(createLogger({ level: 'OFF' }), redis.url);
  const open = (): Promise<Frontier> =>
    Frontier.open(redis, watch, {
      name: 'test',
      leaseMs: 60_000,
      maxEntryBytes: 10_000,
      order: 'lifo',
      newHostDelayMs: 0,
      flush: false,
      ...options,
    });
  const all: Frontier[] = [];
  for (let i = 0; i < count; i++) all.push(await open());
  return {
    all,
    open,
    redis,
    async [Symbol.asyncDispose]() {
      watch.close();
      await redis.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** What a claim gives, as paths. */
async function paths(frontier: Frontier, most = 10): Promise<string[]> {
  const { claimed } = await frontier.claim(most);
  return claimed.map(({ text }) => new URL((JSON.parse(text) as { u: string }).u).pathname);
}

describe.skipIf(!hasRedis)('with a redis-server', () => {
  test('what a claim has leased whose answer was lost goes back, and nothing else', async () => {
    await using frontiers = await workers(2);
    const [a, b] = frontiers.all as [Frontier, Frontier];
    const urls = Array.from({ length: 6 }, (_, i): Entry => [`http://h${i}.test/${i}`]);
    await a.add(links(...urls), '');
    const { claimed: known } = await a.claim(2);
    await b.claim(1);
    await a.claim(2);
    expect(await a.holdOnly(known.map(({ token }) => token))).toBe(2);
    expect({ pending: a.pending, leases: a.leases }).toEqual({ pending: 3, leases: 3 });
    expect(await a.holdOnly(known.map(({ token }) => token))).toBe(0);
    expect(await b.claim(10)).toMatchObject({ claimed: { length: 3 } });
  });

  test('the highest priority of a host comes first, of equal ones the last that came', async () => {
    await using env = await workers(1);
    const [one] = env.all;
    await one!.setDelay('h.test', 0);
    const low: Entry = ['http://h.test/low', { priority: -1 }];
    await one!.add(links(low, ['http://h.test/1'], ['http://h.test/2']));
    await one!.add(links(['http://h.test/high', { priority: 2.5 }]));
    const order: string[] = [];
    for (let i = 0; i < 4; i++) {
      const { claimed } = await one!.claim(1);
      order.push((JSON.parse(claimed[0]!.text) as { u: string }).u.slice(14));
      await one!.ack(claimed[0]!.token, answered, []);
    }
    expect(order).toEqual(['high', '2', '1', 'low']);
  });

  test('a host with a delay is held by whoever has it, whatever its concurrency', async () => {
    await using env = await workers(2);
    const [one, two] = env.all as [Frontier, Frontier];
    await one.add(links(['http://h.test/1'], ['http://h.test/2'], ['http://h.test/3']));
    const { claimed } = await one.claim(10);
    expect(claimed).toHaveLength(1);
    await one.ack(claimed[0]!.token, { ...answered, delayMs: 1, concurrency: 8 }, []);
    let found: string[] = [];
    while (found.length === 0) found = await paths(one);
    expect(found).toHaveLength(1);
    await sleep(20);
    expect(await paths(two)).toEqual([]);
  });

  test('the rest of a host is counted from its answer', async () => {
    await using env = await workers(2);
    const [one, two] = env.all as [Frontier, Frontier];
    await one.add(links(['http://h.test/1'], ['http://h.test/2']));
    const { claimed } = await one.claim(1);
    const begin = performance.now();
    await one.ack(claimed[0]!.token, { ...answered, delayMs: 300, sinceMs: 100 }, []);
    expect(await paths(two)).toEqual([]);
    expect(two.dueMs).toBeGreaterThan(0);
    let found: string[] = [];
    while (found.length === 0) found = await paths(two);
    expect(performance.now() - begin).toBeGreaterThan(190);
  });

  test('a host without a delay may be asked by several at once, up to its concurrency', async () => {
    await using env = await workers(2);
    const [one, two] = env.all as [Frontier, Frontier];
    const entries = Array.from({ length: 10 }, (_, i): Entry => [`http://h.test/${i}`]);
    await one.add(links(...entries));
    // Until it has answered once nothing is known of it.
    const { claimed } = await one.claim(10);
    expect(claimed).toHaveLength(1);
    await one.ack(claimed[0]!.token, { ...answered, concurrency: 3 }, []);
    expect(await paths(one, 2)).toHaveLength(2);
    expect(await paths(two)).toHaveLength(1);
  });

  test('links are added in the step that ends their page, once each, and an ended lease adds none', async () => {
    await using env = await workers(2, { leaseMs: 300 });
    const [one, two] = env.all as [Frontier, Frontier];
    await one.add(links(['http://h.test/']));
    const { claimed } = await one.claim(1);
    const found = links(['http://a.test/'], ['http://h.test/'], ['http://a.test/']);
    expect(await one.ack(claimed[0]!.token, answered, found)).toEqual([1, 2]);
    expect(one.pending).toBe(1);
    expect(await one.ack(claimed[0]!.token, answered, links(['http://b.test/']))).toBeUndefined();
    expect(await paths(two)).toEqual(['/']);
    expect(two.pending).toBe(0);
  });

  test('a lease that is not renewed goes to others, one that is stays', async () => {
    await using env = await workers(2, { leaseMs: 400 });
    const [one, two] = env.all as [Frontier, Frontier];
    await one.add(links(['http://a.test/'], ['http://b.test/']));
    const { claimed } = await one.claim(2);
    const kept = claimed.find(({ host }) => host === 'a.test')!;
    const lost = claimed.find(({ host }) => host === 'b.test')!;
    let taken: string[] = [];
    while (taken.length === 0) {
      expect(await one.beat([kept.token])).toEqual([]);
      taken = (await two.claim(10)).claimed.map(({ host }) => host);
    }
    expect(taken).toEqual(['b.test']);
    expect(await one.beat([kept.token, lost.token])).toEqual([lost.token]);
    expect(await one.ack(lost.token, answered, [])).toBeUndefined();
    expect(await one.ack(kept.token, answered, [])).toEqual([]);
  });

  test('after a silence of Redis nobody has lost a lease', async () => {
    await using env = await workers(2, { leaseMs: 400 });
    const [one, two] = env.all as [Frontier, Frontier];
    await one.add(links(['http://a.test/']));
    const { claimed } = await one.claim(1);
    // No command of anybody for longer than a lease, as if the server had been stopped.
    await sleep(500);
    expect(await paths(two)).toEqual([]);
    expect(await one.beat([claimed[0]!.token])).toEqual([]);
    expect(await one.ack(claimed[0]!.token, answered, [])).toEqual([]);
  });

  test('what is given back comes again in its place, and what must wait comes later', async () => {
    await using env = await workers(1);
    const [one] = env.all as [Frontier];
    await one.add(links(['http://h.test/1'], ['http://h.test/2']));
    const { claimed } = await one.claim(1);
    await one.nack([claimed[0]!.token]);
    expect(await paths(one)).toEqual(['/2']);
    await one.add(links(['http://later.test/', { notBefore: Date.now() + 250 }]));
    const begin = performance.now();
    expect(one.hasWork).toBe(true);
    let found: string[] = [];
    while (found.length === 0) found = await paths(one);
    expect(found).toEqual(['/']);
    expect(performance.now() - begin).toBeGreaterThan(200);
  });

  test('a host that is blocked or pushes back rests for all', async () => {
    await using env = await workers(2);
    const [one, two] = env.all as [Frontier, Frontier];
    await one.add(links(['http://h.test/1'], ['http://h.test/2'], ['http://i.test/']));
    await one.block('i.test', 60_000);
    const { claimed } = await one.claim(10);
    expect(claimed.map(({ host }) => host)).toEqual(['h.test']);
    await one.ack(claimed[0]!.token, { ...answered, backoffMs: 30_000 }, []);
    expect(await paths(two)).toEqual([]);
    expect(two.dueMs).toBeGreaterThan(20_000);
  });

  test('start() is run by one at a time, and again by another that cannot know what the first asked for', async () => {
    await using env = await workers(2, { leaseMs: 300 });
    const [one, two] = env.all as [Frontier, Frontier];
    const first = await one.claimStart();
    expect(first).toEqual({ attempt: '1' });
    expect(await two.claimStart()).toBe('wait');
    const start = (path: string): readonly (string | Buffer)[] =>
      linkOf(
        new Request(`http://h.test/${path}`, { dontFilter: true, meta: { isStartRequest: true } }),
        slots,
        true,
      ).args;
    await one.add([...start('1'), ...start('1'), ...start('2')], '1');
    expect(one.pending).toBe(3);
    let second = await two.claimStart();
    while (second === 'wait') second = await two.claimStart();
    expect(second).toEqual({ attempt: '2' });
    expect(await two.add([...start('1'), ...start('2'), ...start('3')], '2')).toEqual([0, 1]);
    await two.endStart(true);
    expect(await one.claimStart()).toBe('done');
  });

  test('the last one to leave clears a crawl that is over, and a latecomer is told', async () => {
    await using env = await workers(2);
    const [one, two] = env.all as [Frontier, Frontier];
    await one.add(links(['http://h.test/']));
    await two.leave(true);
    expect(await env.redis.call('EXISTS', '{test}:seen')).toBe(1);
    const { claimed } = await one.claim(1);
    await one.ack(claimed[0]!.token, answered, []);
    await one.leave(true);
    expect(await env.redis.call('KEYS', '*')).toEqual(['{test}:over']);
    const late = await two.claim(1).catch((error: unknown) => error);
    expect(late).toBeInstanceOf(FrontierGoneError);
    expect(late).toMatchObject({ isOver: true });
    await env.redis.call('FLUSHALL');
    await expect(two.claim(1)).rejects.toThrow('Redis has lost the crawl test');
  });

  test('a crawl that is over begins anew, though a worker had died shortly before its end', async () => {
    await using env = await workers(2, { leaseMs: 200 });
    const [one] = env.all as [Frontier];
    await one.add(links(['http://h.test/']));
    const { claimed } = await one.claim(1);
    await one.ack(claimed[0]!.token, answered, []);
    // The other one is not heard of any more.
    await one.leave(true);
    expect(await env.redis.call('EXISTS', '{test}:seen')).toBe(1);
    await sleep(250);
    const next = await env.open();
    expect(next.seen).toBe(0);
  });

  test('foreign values in the keys are set aside, and the rest goes on', async () => {
    await using env = await workers(1);
    const [one] = env.all as [Frontier];
    await one.add(links(['http://h.test/'], ['http://long.test/']));
    await env.redis.call('ZADD', '{test}:q:long.test', '-5', 'x'.repeat(20_000));
    await env.redis.call('SET', '{test}:q:text.test', 'x');
    await env.redis.call('ZADD', '{test}:ready', '0', 'text.test');
    await env.redis.call('ZADD', '{test}:wait', '0', 'x');
    const { claimed, buried } = await one.claim(10);
    expect(claimed.map(({ host }) => host).toSorted()).toEqual(['h.test', 'long.test']);
    expect(buried).toBe(2);
    expect(await env.redis.call('LLEN', '{test}:dead')).toBe(3);
    const [last] = (await env.redis.call('LRANGE', '{test}:dead', 0, 0)) as string[];
    expect(last!.length).toBeLessThan(2000);
  });
});

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
