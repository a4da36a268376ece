import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { agentOf, napLog, naps, openFleet } from '../../../test/fleet/nap-fleet.ts';
import { hasRedis, startRedis } from '../../../test/redis-server.ts';
import { startSite } from '../../../test/site/site.ts';
import { connectRedis } from './connection.ts';
import type { FleetOrder } from './fleet.ts';

describe.skipIf(!hasRedis)('with a redis-server', () => {
  test('spiders are run, bad ones fail with their error, and one that ends its process harms no neighbour', async () => {
    await using server = await startRedis();
    await using fleet = await openFleet(server.url);
    await using nap = await napLog();
    const good = await fleet.add(naps(12, 150));
    const [broken, crash] = await fleet.add([
      { spider: 'nap', args: { mode: 'broken' } },
      { spider: 'nap', args: { mode: 'crash' }, priority: 1 },
    ]);
    await fleet.add([{ spider: 'nobody' }]);
    expect(await fleet.add(naps(12, 150))).toEqual(good);
    expect(await fleet.status()).toMatchObject({ pending: 15, running: 0 });
    const agent = agentOf(fleet);
    await agent.untilEmpty();
    await agent.stop();
    const status = await fleet.status();
    expect(status).toMatchObject({ pending: 0, running: 0, finished: 12, failed: 3, spiders: {} });
    expect(status.failures[broken!]).toMatchObject({ error: 'cannot be built' });
    expect(status.failures[crash!]).toMatchObject({ reason: 'crashed' });
    expect(status.failures['nobody']!['error']).toContain('There is no spider "nobody"');
    expect((await fleet.sets.names('finished')).toSorted()).toEqual(good.toSorted());
    expect(new Set(await nap.lines('end')).size).toBe(12);
    expect(await fleet.live()).toBe(0);
  });

  test('an agent that is stopped hands back what runs, and another one goes on', async () => {
    await using server = await startRedis();
    await using fleet = await openFleet(server.url);
    await using other = await openFleet(server.url);
    await using nap = await napLog();
    const feeds = await mkdtemp(join(tmpdir(), 'lycosa-feeds-'));
    process.env['VISIT_FEED'] = join(feeds, '%(job)s.jsonl');
    const names = await fleet.add(naps(4, 0));
    const agent = agentOf(fleet, { hosts: 2 });
    await expect.poll(async () => (await nap.lines('begin')).length, { timeout: 8000 }).toBe(4);
    await agent.stop();
    expect(await fleet.status()).toMatchObject({ pending: 4, running: 0, finished: 0 });
    // What a run has that begins anew is nobody's.
    const parts = names.map((name) => `${name}.jsonl.attempt-1.part`);
    expect((await readdir(feeds)).toSorted()).toEqual(parts.toSorted());
    await nap.open();
    const second = agentOf(other);
    await second.untilEmpty();
    await second.stop();
    expect(await fleet.status()).toMatchObject({ pending: 0, running: 0, finished: 4 });
    expect(await nap.lines('end')).toHaveLength(4);
    const whole = names.map((name) => `${name}.jsonl`);
    expect((await readdir(feeds)).toSorted()).toEqual(whole.toSorted());
    delete process.env['VISIT_FEED'];
    await rm(feeds, { recursive: true });
  });

  test('a job with FLEET_JOBDIR goes on elsewhere from where it was stopped, in the same feed', async () => {
    await using server = await startRedis();
    await using fleet = await openFleet(server.url);
    await using other = await openFleet(server.url);
    await using site = await startSite({ '*': { body: 'ok', delayMs: 150 } });
    const folder = await mkdtemp(join(tmpdir(), 'lycosa-jobdirs-'));
    process.env['VISIT_FEED'] = join(folder, 'feed.jsonl');
    await fleet.add([{ spider: 'visit', args: { site: site.url, n: '1', pages: '6' } }]);
    const settings = {
      FLEET_JOBDIR: join(folder, 'jobs'),
      ROBOTSTXT_OBEY: false,
      CONCURRENT_REQUESTS: 1,
    };
    const agent = agentOf(fleet, {}, settings);
    await expect.poll(() => site.requests.length, { timeout: 8000 }).toBeGreaterThan(1);
    await agent.stop();
    expect(await fleet.status()).toMatchObject({ pending: 1, running: 0 });
    expect(site.requests.length).toBeLessThan(6);
    const second = agentOf(other, {}, settings);
    await second.untilEmpty();
    await second.stop();
    delete process.env['VISIT_FEED'];
    expect(await fleet.sets.count('finished')).toBe(1);
    expect(site.requests).toHaveLength(6);
    const lines = (await readFile(join(folder, 'feed.jsonl'), 'utf8')).trim().split('\n');
    expect(lines).toHaveLength(6);
    await rm(folder, { recursive: true });
  });

  test('a drained machine begins nothing, and a version runs only where it is', async () => {
    await using server = await startRedis();
    await using fleet = await openFleet(server.url, { sets: { machine: 'm1' } });
    await using other = await openFleet(server.url, { sets: { machine: 'm2' } });
    const order = (n: string, version: string): FleetOrder => ({
      spider: 'nap',
      args: { n, ms: '1' },
      version,
    });
    const [old, fresh] = await fleet.add([order('1', '1.0'), order('2', '2.0')]);
    await fleet.drain('m2');
    const agents = [agentOf(fleet, { version: '1.0' }), agentOf(other, { version: '2.0' })];
    const finished = (): Promise<string[]> => fleet.sets.names('finished');
    await expect.poll(finished, { timeout: 8000 }).toEqual([old]);
    const closed = async (): Promise<unknown> =>
      (await fleet.status()).machines.find(({ id }) => id.startsWith('m2/'))?.closedBy;
    await expect.poll(closed, { timeout: 8000 }).toBe('drain');
    expect(await fleet.sets.names('pending')).toEqual([fresh]);
    await fleet.resume('m2');
    await expect.poll(async () => (await finished()).length, { timeout: 8000 }).toBe(2);
    await Promise.all(agents.map((agent) => agent.stop()));
    expect((await fleet.show(fresh!))!.runs).toMatchObject([
      { machine: expect.stringMatching(/^m2\//) },
    ]);
    expect((await fleet.show(old!))!.runs).toMatchObject([
      { machine: expect.stringMatching(/^m1\//) },
    ]);
  });

  test('a name put into pending by hand is an order', async () => {
    await using server = await startRedis();
    await using fleet = await openFleet(server.url);
    await using redis = await connectRedis({ url: server.url });
    await redis.call('SADD', 'pending', 'nap');
    const agent = agentOf(fleet);
    await agent.untilEmpty();
    await agent.stop();
    expect(await redis.call('SMEMBERS', 'finished')).toEqual(['nap']);
    expect(await redis.call('SCARD', 'pending')).toBe(0);
  });

  test('a spider is stopped by name, while it runs and while it waits, and requeued', async () => {
    await using server = await startRedis();
    await using fleet = await openFleet(server.url);
    await using nap = await napLog();
    const [first, second] = await fleet.add(naps(2, 60_000));
    const agent = agentOf(fleet, { count: 1, lockMs: 1000 });
    await expect.poll(async () => (await nap.lines('begin')).length, { timeout: 8000 }).toBe(1);
    await fleet.drain();
    const isFirst = (await fleet.sets.names('running'))[0] === first;
    expect(await fleet.stop(isFirst ? second! : first!)).toBe(true);
    expect(await fleet.stop(isFirst ? first! : second!, { fast: true })).toBe(true);
    await agent.untilEmpty();
    await agent.stop();
    const status = await fleet.status();
    expect(status).toMatchObject({ pending: 0, running: 0, finished: 0, failed: 2 });
    expect(status.isDraining).toBe(true);
    expect(status.failures[first!]).toMatchObject({ reason: 'stopped' });
    expect(await fleet.stop('none')).toBe(false);
    expect(await fleet.requeue()).toBe(2);
    expect(await fleet.status()).toMatchObject({ pending: 2, failed: 0 });
    expect(await fleet.live()).toBe(2);
  });
});
