import { describe, expect, test } from 'vitest';

import { agentOf, napLog, naps, openFleet } from '../../../test/fleet/nap-fleet.ts';
import { hasRedis, startRedis } from '../../../test/redis-server.ts';
import { connectRedis } from './connection.ts';

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
    await fleet.add(
      naps(4, 0).map(({ spider, args }) => ({ spider, args: { ...args, gate: '1' } })),
    );
    const agent = agentOf(fleet, { hosts: 2 });
    await expect.poll(async () => (await nap.lines('begin')).length, { timeout: 8000 }).toBe(4);
    await agent.stop();
    expect(await fleet.status()).toMatchObject({ pending: 4, running: 0, finished: 0 });
    await nap.open();
    const second = agentOf(other);
    await second.untilEmpty();
    await second.stop();
    expect(await fleet.status()).toMatchObject({ pending: 0, running: 0, finished: 4 });
    expect(await nap.lines('end')).toHaveLength(4);
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
