import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { agentOf, napLog, naps, openFleet, stateFolder } from '../../../test/fleet/nap-fleet.ts';
import { hasRedis, startRedis } from '../../../test/redis-server.ts';
import { RunJournal } from './fleet-journal.ts';
import type { Claim } from './spider-sets.ts';

const timeout = 15_000;

describe.skipIf(!hasRedis)('with a redis-server', () => {
  test(
    'callbacks that never end or fill the memory are given up, and cost no neighbour its run',
    { timeout: 60_000 },
    async () => {
      await using server = await startRedis();
      await using fleet = await openFleet(server.url);
      await using nap = await napLog();
      process.env['NODE_OPTIONS'] = '--max-old-space-size=200';
      const [block, memory] = await fleet.add([
        { spider: 'nap', args: { mode: 'block' } },
        { spider: 'nap', args: { mode: 'memory' } },
      ]);
      const good = await fleet.add(naps(3, 300));
      const agent = agentOf(fleet, { count: 5, lockMs: 2000, blockMs: 1500 });
      await agent.untilEmpty();
      await agent.stop();
      delete process.env['NODE_OPTIONS'];
      const status = await fleet.status();
      expect(status).toMatchObject({ pending: 0, running: 0, finished: 3, failed: 2 });
      expect(status.failures[block!]!['error']).toContain('FLEET_BLOCK_LIMIT');
      expect(status.failures[memory!]).toMatchObject({ reason: 'crashed' });
      expect((await fleet.sets.names('finished')).toSorted()).toEqual(good.toSorted());
      expect(await nap.lines('end')).toHaveLength(3);
      // No lease was lost: the agent goes on whatever its hosts do.
      const runs = await Promise.all([...good, block!].map((name) => fleet.show(name)));
      for (const job of runs) expect(job!.runs.map(({ reason }) => reason)).not.toContain('lost');
      // Two in company, two alone.
      expect(runs.at(-1)!.runs).toHaveLength(4);
    },
  );

  test(
    'a Redis that stands still for longer than a lease makes no spider run twice',
    { timeout: 30_000 },
    async () => {
      await using server = await startRedis();
      await using fleet = await openFleet(server.url, { sets: { leaseMs: 1000 } });
      await using other = await openFleet(server.url, { sets: { leaseMs: 1000, machine: 'm2' } });
      await using nap = await napLog();
      await fleet.add(naps(4, 0));
      const agents = [
        agentOf(fleet, { count: 2, lockMs: 1000 }),
        agentOf(other, { count: 4, lockMs: 1000 }),
      ];
      await expect.poll(async () => (await nap.lines('begin')).length, { timeout }).toBe(4);
      server.process.kill('SIGSTOP');
      await new Promise((resolve) => setTimeout(resolve, 2500));
      server.process.kill('SIGCONT');
      // Long enough for the queue to notice that its locks are over.
      await new Promise((resolve) => setTimeout(resolve, 2500));
      await nap.open();
      await Promise.all(agents.map((agent) => agent.untilEmpty()));
      await Promise.all(agents.map((agent) => agent.stop()));
      expect(await fleet.status()).toMatchObject({
        pending: 0,
        running: 0,
        finished: 4,
        failed: 0,
      });
      expect(await nap.lines('begin')).toHaveLength(4);
      expect(await nap.lines('end')).toHaveLength(4);
    },
  );

  test.each([
    ['with the file that it has written', true],
    ['with nothing', false],
  ])(
    'a Redis that is killed while spiders end, and comes back %s, hears of all of them',
    { timeout: 30_000 },
    async (_, withFile) => {
      await using server = await startRedis('--appendonly', 'yes');
      await using fleet = await openFleet(server.url);
      await using nap = await napLog();
      const names = await fleet.add(naps(6, 0));
      const agent = agentOf(fleet, { count: 4 });
      await expect.poll(async () => (await nap.lines('begin')).length, { timeout }).toBe(4);
      // A server that has lost everything has nothing to do, it seems.
      const isEmpty = agent.untilEmpty();
      // What is pending is known to the agent after a second, and on the disk.
      await new Promise((resolve) => setTimeout(resolve, 1500));
      const gone = new Promise((resolve) => server.process.once('exit', resolve));
      server.process.kill('SIGKILL');
      await gone;
      await nap.open();
      await expect.poll(async () => (await nap.lines('end')).length, { timeout }).toBe(4);
      const journal = new RunJournal(join(stateFolder, 'journal'));
      await expect.poll(() => journal.entries().length, { timeout }).toBe(4);
      await server.start(withFile);
      await isEmpty;
      await agent.stop();
      expect(await fleet.status()).toMatchObject({
        pending: 0,
        running: 0,
        finished: 6,
        failed: 0,
      });
      expect((await fleet.sets.names('finished')).toSorted()).toEqual(names.toSorted());
      expect(await nap.lines('begin')).toHaveLength(6);
      expect(readdirSync(join(stateFolder, 'journal'))).toEqual([]);
    },
  );

  test('what an agent could not tell Redis before it died, the next one on its machine tells', async () => {
    await using server = await startRedis();
    await using fleet = await openFleet(server.url);
    await using next = await openFleet(server.url);
    const folder = join(stateFolder, 'left');
    const journal = new RunJournal(folder);
    expect(journal.entries()).toEqual([]);
    await fleet.add([{ spider: 'a' }, { spider: 'b' }]);
    const entries = await Promise.all(
      ['a', 'b'].map(async (name) => ({
        owner: fleet.sets.owner,
        claim: (await fleet.sets.claim(name)) as Claim,
        to: 'finished' as const,
        record: { spider: name, items: 3 },
      })),
    );
    for (const entry of entries) journal.add(entry);
    // Meanwhile `b` was given to somebody else: what the first run has to say of it is void.
    const sets = fleet.sets;
    await sets.release(entries[1]!.claim, 'pending');
    const later = (await next.sets.claim('b')) as Claim;
    expect(await new RunJournal(folder).replay(next.sets)).toBe(1);
    expect(await next.sets.names('finished')).toEqual(['a']);
    expect((await next.sets.results(['a'])).get('a')).toMatchObject({ items: 3 });
    expect(await next.sets.release(later, 'finished')).toBe(true);
    expect(existsSync(folder) && readdirSync(folder)).toEqual([]);
  });

  test('a claim is refused while another run of the spider holds it, however late that one is', async () => {
    await using server = await startRedis();
    await using fleet = await openFleet(server.url);
    await using other = await openFleet(server.url);
    const claim = (await fleet.sets.claim('a', { generation: 1, start: 1 })) as Claim;
    expect(await other.sets.claim('a', { generation: 1, start: 2 })).toBe('busy');
    expect(await fleet.sets.claim('a', { generation: 1, start: 2 })).toBe('busy');
    expect(await fleet.sets.holds(claim)).toBe(true);
    expect(await other.sets.holds(claim)).toBe(false);
  });
});
