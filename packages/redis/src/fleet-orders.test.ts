import { describe, expect, test } from 'vitest';

import { hasRedis, startRedis } from '../../../test/redis-server.ts';
import { connectRedis } from './connection.ts';
import type { FleetOptions } from './fleet-settings.ts';
import { Fleet } from './fleet.ts';
import { type Claim, SpiderSets } from './spider-sets.ts';

async function openFleet(url: string, options: Partial<FleetOptions> = {}): Promise<Fleet> {
  return Fleet.open({ redis: { url }, sets: {}, ...options });
}

async function queued(fleet: Fleet): Promise<string[]> {
  return (await fleet.jobs({ state: 'pending' })).jobs.map(({ name }) => name);
}

describe.skipIf(!hasRedis)('with a redis-server', () => {
  test('the longest known is first, unless a priority says otherwise', async () => {
    await using server = await startRedis();
    await using fleet = await openFleet(server.url);
    for (const [name, seconds] of Object.entries({ long: 500, middle: 50, short: 5, tiny: 0.5 }))
      await fleet.learn(name, seconds);
    await fleet.add(['tiny', 'short', 'long', 'unknown', 'middle'].map((spider) => ({ spider })));
    await fleet.add([{ spider: 'urgent', priority: 1 }]);
    // What is not known is taken for the median.
    expect(await queued(fleet)).toEqual(['urgent', 'long', 'unknown', 'middle', 'short', 'tiny']);
  });

  test('a spider that has waited too long goes before longer ones, but not before a higher priority', async () => {
    await using server = await startRedis();
    await using fleet = await openFleet(server.url, { maxWaitMs: 0 });
    await fleet.learn('long', 500);
    await fleet.learn('short', 5);
    await fleet.add([{ spider: 'short' }]);
    await new Promise((resolve) => setTimeout(resolve, 5));
    await fleet.reconcile(1);
    await using patient = await openFleet(server.url);
    await patient.add([{ spider: 'long' }, { spider: 'urgent', priority: 1 }]);
    expect(await queued(fleet)).toEqual(['urgent', 'short', 'long']);
  });

  test('what was stopped while it waited is requeued with its arguments, priority and group', async () => {
    await using server = await startRedis();
    await using fleet = await openFleet(server.url);
    const order = { spider: 'shop', args: { country: 'fr' }, priority: 2, group: 'shop.example' };
    const [name] = await fleet.add([order]);
    expect(await fleet.stop(name!)).toBe(true);
    expect(await fleet.show(name!)).toMatchObject({ state: 'failed', args: { country: 'fr' } });
    expect(await fleet.live()).toBe(0);
    expect(await fleet.requeue([name!, 'nobody'])).toBe(1);
    expect(await fleet.show(name!)).toMatchObject({ ...order, state: 'pending' });
    expect(await fleet.live()).toBe(1);
    const [job] = await fleet.queue.getPrioritized();
    expect(job!.data).toMatchObject(order);
  });

  test('of a group only so many are claimed at once', async () => {
    await using server = await startRedis();
    await using redis = await connectRedis({ url: server.url });
    const sets = new SpiderSets(redis);
    await sets.order(['a', 'b', 'c', 'd', 'e']);
    const first = await sets.claim('a', undefined, 'site');
    expect(first).toMatchObject({ name: 'a' });
    expect(await sets.claim('b', undefined, 'site')).toBe('group');
    expect(await sets.claim('c', undefined, 'other')).toMatchObject({ name: 'c' });
    await sets.limitGroup(2, 'site');
    expect(await sets.claim('b', undefined, 'site')).toMatchObject({ name: 'b' });
    expect(await sets.claim('d', undefined, 'site')).toBe('group');
    await sets.release(first as Claim, 'finished');
    expect(await sets.claim('d', undefined, 'site')).toMatchObject({ name: 'd' });
    expect((await sets.names('pending')).toSorted()).toEqual(['e']);
  });

  test('a limit for all machines that is set while they work holds from then on', async () => {
    await using server = await startRedis();
    await using fleet = await openFleet(server.url);
    await fleet.add([{ spider: 'a' }, { spider: 'b' }]);
    await fleet.limit(1);
    expect(await fleet.sets.claim('a')).toMatchObject({ name: 'a' });
    expect(await fleet.sets.claim('b')).toBe('limit');
    await fleet.limit(0);
    expect(await fleet.sets.claim('b')).toMatchObject({ name: 'b' });
  });

  test('orders come back at fixed times, each time once, whatever the number of machines', async () => {
    await using server = await startRedis();
    await using fleet = await openFleet(server.url);
    await using other = await openFleet(server.url);
    const orders = [{ spider: 'shop', args: { country: 'fr' } }];
    await fleet.schedule('often', { orders, pattern: '* * * * * *' });
    await fleet.schedule('nightly', { orders, pattern: '0 3 * * *', tz: 'Europe/Paris' });
    await expect(fleet.schedule('bad', { orders, pattern: 'at night' })).rejects.toThrow(
      'The schedule "at night" cannot be',
    );
    const workers = [fleet.work(), other.work()];
    await expect.poll(() => fleet.sets.names('pending'), { timeout: 8000 }).toHaveLength(1);
    const [job] = (await fleet.jobs()).jobs;
    expect(job).toMatchObject({ spider: 'shop', args: { country: 'fr' }, state: 'pending' });
    expect(await fleet.unschedule('often')).toBe(true);
    expect(await fleet.unschedule('often')).toBe(false);
    const schedules = await fleet.schedules();
    expect(schedules).toMatchObject([
      { id: 'nightly', pattern: '0 3 * * *', tz: 'Europe/Paris', orders },
    ]);
    expect(schedules[0]!.next).toBeGreaterThan(Date.now());
    for (const worker of workers) await worker.close();
  });

  test('a server that stood still gives nobody up before all could speak', async () => {
    await using server = await startRedis();
    await using redis = await connectRedis({ url: server.url });
    const leaseMs = 400;
    const first = new SpiderSets(redis, { leaseMs, machine: 'm1' });
    const second = new SpiderSets(redis, { leaseMs, machine: 'm2' });
    const claim = (await first.claim('a')) as Claim;
    server.process.kill('SIGSTOP');
    await new Promise((resolve) => setTimeout(resolve, leaseMs * 2));
    server.process.kill('SIGCONT');
    // The lease is long over, and another machine is the first to be heard.
    expect(await second.reap()).toBe(0);
    expect(await second.reap()).toBe(0);
    expect(await first.renew(claim)).toBeUndefined();
    expect(await second.reap()).toBe(0);
    expect(await first.release(claim, 'finished')).toBe(true);
  });

  test('a server that was killed is told what it has lost, and what it was told last', async () => {
    await using server = await startRedis();
    await using fleet = await openFleet(server.url);
    const names = await fleet.add(['a', 'b', 'c', 'd'].map((spider) => ({ spider })));
    await fleet.add([{ spider: 'e', args: { country: 'fr' } }]);
    const claims = new Map<string, Claim>();
    for (const name of names.slice(0, 3))
      claims.set(name, (await fleet.sets.claim(name, { generation: 1, start: 1 })) as Claim);
    await fleet.sets.release(claims.get('a')!, 'finished', { spider: 'a' });
    await fleet.limit(7);
    const mirror = fleet.mirror();
    expect(await mirror.follow()).toBe('same');
    await server.restart(false);
    await expect
      .poll(() => mirror.follow().catch(() => 'away'), { timeout: 8000 })
      .toBe('restarted');
    expect(await fleet.sets.names('pending')).toEqual([]);
    // `b` runs on here; where `c` ran nobody knows any more.
    const running = { claim: claims.get('b')!, state: 'running' as const };
    expect(await mirror.restore([running])).toBe(5);
    expect(await fleet.sets.names('finished')).toEqual(['a']);
    expect(await fleet.sets.names('running')).toEqual(['b']);
    expect((await fleet.sets.names('pending')).toSorted()).toEqual([
      'c',
      'd',
      expect.stringMatching(/^e#/),
    ]);
    expect(await mirror.follow()).toBe('same');
    expect(mirror.fleetLimit).toBe(7);
    expect(await fleet.sets.renew(claims.get('b')!)).toBeUndefined();
    expect(await fleet.sets.renew(claims.get('c')!)).toBeUndefined();
    expect(await fleet.sets.release(claims.get('b')!, 'finished')).toBe(true);
    await expect.poll(() => fleet.reconcile(1), { timeout: 8000 }).toBe(2);
    const jobs = await fleet.queue.getPrioritized();
    expect(jobs.map(({ data }) => [data.spider, data.args])).toEqual(
      expect.arrayContaining([
        ['d', {}],
        ['e', { country: 'fr' }],
      ]),
    );
  });

  test('what has begun or ended since anybody looked is told by whoever ran it, and nobody else takes its number', async () => {
    await using server = await startRedis();
    await using fleet = await openFleet(server.url, { sets: { machine: 'm1' } });
    await using other = await openFleet(server.url, { sets: { machine: 'm2' } });
    await fleet.add(['a', 'b', 'c'].map((spider) => ({ spider })));
    const mirrors = [fleet.mirror(), other.mirror()] as const;
    for (const mirror of mirrors) await mirror.follow();
    const first = { generation: 1, start: 1 };
    const [a, b, c] = (await Promise.all(
      ['a', 'b', 'c'].map((name) => fleet.sets.claim(name, first)),
    )) as [Claim, Claim, Claim];
    await fleet.sets.release(a, 'finished', { spider: 'a' });
    await server.restart(false);
    for (const mirror of mirrors)
      await expect
        .poll(() => mirror.follow().catch(() => 'away'), { timeout: 8000 })
        .toBe('restarted');
    await mirrors[1].restore([]);
    expect(await fleet.sets.count('pending')).toBe(3);
    await mirrors[0].restore([
      { claim: a, state: 'finished', record: { spider: 'a' } },
      { claim: b, state: 'running' },
    ]);
    expect(await fleet.sets.names('finished')).toEqual(['a']);
    expect((await fleet.sets.results(['a'])).get('a')).toEqual({ spider: 'a' });
    expect(await fleet.sets.names('running')).toEqual(['b']);
    expect(await fleet.sets.renew(b)).toBeUndefined();
    // The machine that ran `c` is late.
    await expect.poll(() => other.reconcile(1), { timeout: 8000 }).toBe(1);
    expect(await fleet.sets.holds(c)).toBe(false);
    const [job] = await other.queue.getPrioritized();
    const again = (await other.sets.claim('c', { ...job!.data, start: 1 })) as Claim;
    expect(again.attempt).toBeGreaterThan(c.attempt);
    await mirrors[0].restore([{ claim: c, state: 'running' }]);
    expect(await fleet.sets.renew(c)).toBe('lost');
    expect(await fleet.sets.release(c, 'finished')).toBe(false);
    expect(await other.sets.release(again, 'finished')).toBe(true);
  });

  test('a server that was emptied by hand stays empty', async () => {
    await using server = await startRedis();
    await using fleet = await openFleet(server.url);
    await using redis = await connectRedis({ url: server.url });
    await fleet.add([{ spider: 'a' }]);
    const mirror = fleet.mirror();
    await mirror.follow();
    await redis.call('FLUSHALL');
    expect(await mirror.follow()).toBe('emptied');
    await fleet.add([{ spider: 'b' }]);
    expect(await mirror.follow()).toBe('same');
    await server.restart(false);
    await expect
      .poll(() => mirror.follow().catch(() => 'away'), { timeout: 8000 })
      .toBe('restarted');
    await mirror.restore([]);
    expect(await fleet.sets.names('pending')).toEqual(['b']);
  });

  test('a Redis that does not write to disk is warned of', async () => {
    await using server = await startRedis();
    await using fleet = await openFleet(server.url);
    expect(await fleet.warnings()).toEqual([expect.stringContaining('appendonly no')]);
    await using safe = await startRedis('--appendonly', 'yes');
    await using other = await openFleet(safe.url);
    expect(await other.warnings()).toEqual([]);
  });
});
