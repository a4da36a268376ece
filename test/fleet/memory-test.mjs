/** What a host with spiders that wait takes of memory: `node test/fleet/memory-test.mjs`, from the build. */
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Fleet } from '@lycosa/redis';

import { startRedis } from '../redis-server.ts';
import { Agents, childrenOf } from './agents.mjs';
import { sleep } from './observer.mjs';

const folder = await mkdtemp(join(tmpdir(), 'lycosa-memory-'));
for (const count of [1, 20, 100, 200]) {
  await using server = await startRedis();
  await using fleet = await Fleet.open({ redis: { url: server.url }, sets: {} });
  const orders = Array.from({ length: count }, (_, n) => ({
    spider: 'nap',
    args: { n: String(n), gate: '1' },
  }));
  await fleet.add(orders);
  const agents = new Agents(
    ['--nolog', '--count', String(count)],
    [`REDIS_URL=${server.url}`, `FLEET_DIR=${folder}`],
    { NAP_LOG: join(folder, 'log') },
  );
  agents.start(0);
  while ((await fleet.sets.count('running')) < count) await sleep(100);
  await sleep(5000);
  const agent = agents.living.get(0).pid;
  const host = childrenOf(agent)[0];
  console.log(
    `${count} spiders: host ${megabytes(host)} MB of its own, agent ${megabytes(agent)} MB`,
  );
  agents.end();
}
await rm(folder, { recursive: true });
process.exit(0);

/** Memory that nobody else has a part in, so that what libraries share is not counted. */
function megabytes(pid) {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const kb = (name) => Number(new RegExp(`^${name}: +(\\d+)`, 'm').exec(text)[1]);
  return ((kb('Private_Clean') + kb('Private_Dirty')) / 1024).toFixed(1);
}
