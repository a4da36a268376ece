import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { agentOf, napLog, naps, openFleet, stateFolder } from '../../../test/fleet/nap-fleet.ts';
import { hasRedis, startRedis } from '../../../test/redis-server.ts';
import { connectRedis } from './connection.ts';
import type { Claim } from './spider-sets.ts';

const timeout = 15_000;

describe.skipIf(!hasRedis)('with a redis-server', () => {
  test(
    'jobs are listed by state with their runs, machines with their load, and logs by run',
    { timeout: 30_000 },
    async () => {
      await using server = await startRedis();
      await using fleet = await openFleet(server.url);
      await using nap = await napLog();
      const [first, second, third] = await fleet.add(naps(3, 0));
      const [broken] = await fleet.add([{ spider: 'nap', args: { mode: 'broken' }, priority: 1 }]);
      const agent = agentOf(fleet, { count: 2, version: '1.2.3' });
      await expect.poll(async () => (await nap.lines('begin')).length, { timeout }).toBe(2);
      await expect
        .poll(async () => (await fleet.status()).machines[0]?.running, { timeout })
        .toBe(2);
      const [machine] = (await fleet.status()).machines;
      expect(machine).toMatchObject({ count: 2, hosts: 1, version: '1.2.3' });
      for (const value of [machine!.rssMb, machine!.freeMb, machine!.totalMb])
        expect(value).toBeGreaterThan(10);
      expect(machine!.cpu).toBeLessThanOrEqual(1);
      const running = await fleet.jobs({ state: 'running' });
      expect(running).toMatchObject({
        total: 2,
        jobs: [{ state: 'running', attempts: 1, run: { attempt: 1, machine: machine!.id } }, {}],
      });
      await expect
        .poll(async () => (await fleet.jobs({ state: 'running' })).jobs[0]!.progress, { timeout })
        .toEqual({ items: 0, responses: 0, errors: 1, itemsPerMinute: 0, responsesPerMinute: 0 });
      await nap.open();
      await agent.untilEmpty();
      await agent.stop();
      expect((await fleet.status()).machines).toEqual([]);
      const page = await fleet.jobs({ offset: 1, limit: 2 });
      expect(page.total).toBe(4);
      expect(page.jobs).toHaveLength(2);
      expect((await fleet.jobs({ state: 'failed' })).jobs).toMatchObject([
        { name: broken, attempts: 2, error: 'cannot be built', args: { mode: 'broken' } },
      ]);
      const search = await fleet.jobs({ search: first!.slice(4) });
      expect(search.jobs.map(({ name }) => name)).toEqual([first]);
      const finished = (await fleet.jobs({ state: 'finished' })).jobs;
      expect(finished.map(({ name }) => name).toSorted()).toEqual(
        [first, second, third].toSorted(),
      );
      expect(finished[0]!.changedAt).toBeGreaterThanOrEqual(finished[2]!.changedAt);
      expect(finished[0]!.expectedSeconds).toBeGreaterThan(0);
      const job = await fleet.show(broken!);
      expect(job!.runs).toMatchObject([
        { attempt: 2, state: 'failed', reason: 'bootstrap_failed', error: 'cannot be built' },
        { attempt: 1, state: 'pending', reason: 'bootstrap_failed' },
      ]);
      expect(job!.runs[1]!.endedAt).toBeLessThanOrEqual(job!.runs[0]!.startedAt);
      expect(await fleet.show('nobody')).toBeUndefined();
      const logs = await fleet.logs(first!);
      expect(logs.attempt).toBe(1);
      expect(logs.lines.join('\n')).toContain('nap 0 sleeps');
      expect((await fleet.logs(broken!, { attempt: 1, tail: 1 })).lines).toEqual([
        expect.stringContaining('cannot be built'),
      ]);
      const folders = await readdir(join(stateFolder, 'logs'));
      const own = folders.find((name) => decodeURIComponent(name) === first)!;
      const file = await readFile(join(stateFolder, 'logs', own, '1.log'), 'utf8');
      expect(file).toContain('nap 0 sleeps');
    },
  );

  test('a run whose machine was not heard of any more is in the history, and long histories are cut', async () => {
    await using server = await startRedis();
    await using fleet = await openFleet(server.url, { sets: { leaseMs: 50, machine: 'm1' } });
    await fleet.add([{ spider: 'a' }]);
    await fleet.sets.claim('a');
    await expect.poll(() => fleet.sets.reap(), { timeout }).toBe(1);
    expect((await fleet.show('a'))!.runs).toMatchObject([
      { attempt: 1, reason: 'lost', state: 'pending', machine: expect.stringMatching(/^m1\//) },
    ]);
    for (let i = 0; i < 25; i++) {
      const claim = (await fleet.sets.claim('a')) as Claim;
      await fleet.sets.release(claim, 'pending', { reason: 'shutdown', items: i });
    }
    const { runs, attempts } = (await fleet.show('a'))!;
    expect(attempts).toBe(26);
    expect(runs).toHaveLength(20);
    expect(runs[0]).toMatchObject({ attempt: 26, items: 24 });
  });

  test('slots of running hosts are told of as long as their machine tells of them', async () => {
    await using server = await startRedis();
    await using fleet = await openFleet(server.url);
    await using redis = await connectRedis({ url: server.url });
    await redis.call('SADD', 'fleet:machines', 'm1/1/x');
    const slot = {
      key: 'shop.example',
      delay: 2,
      floor: 1,
      learnt: 2,
      backoff: 0,
      concurrency: Infinity,
      transferring: 1,
      queued: 3,
      pausedUntil: Infinity,
      changes: [],
    };
    await fleet.records.report('m1/1/x', { slots: [slot], runs: {} }, 1);
    expect(await fleet.slots()).toEqual([{ ...slot, machine: 'm1/1/x' }]);
    await expect.poll(() => fleet.slots(), { timeout }).toEqual([]);
  });
});
