/**
 * What the plain way with three sets comes to under the kills of fleet-test.mjs: a script on each machine pops names and
 * starts a process for each, an extension moves names when spiders open and close.
 */
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { connectRedis } from '@lycosa/redis';

import { startRedis } from '../redis-server.ts';
import { childrenOf } from './agents.mjs';
import { ordersOf, randomOf, SetsWatch, sleep, startSite } from './observer.mjs';

const { values } = parseArgs({
  options: {
    spiders: { type: 'string', default: '300' },
    machines: { type: 'string', default: '4' },
    limit: { type: 'string', default: '20' },
    'kill-every': { type: 'string', default: '5' },
    seed: { type: 'string', default: '2026' },
  },
});
const spiders = Number(values.spiders);
const random = randomOf(Number(values.seed));
const folder = await mkdtemp(join(tmpdir(), 'lycosa-naive-'));
const site = await startSite();
const server = await startRedis();
const redis = await connectRedis({ url: server.url });
const orders = ordersOf(spiders, random, site.url, (next) => Math.round(50 + 1950 * next() ** 2));
await writeFile(join(folder, 'orders'), JSON.stringify(orders.map(({ args }) => args)));
await redis.call('SADD', 'pending', ...orders.map(({ args }) => args.n));

const file = fileURLToPath(new URL('naive-spider.mjs', import.meta.url));
const machines = new Map();
let isOver = false;
function start(number) {
  const args = [file, server.url, join(folder, 'orders'), values.limit];
  const child = spawn(process.execPath, [...process.execArgv, ...args], { stdio: 'ignore' });
  machines.set(number, child);
  child.once('exit', () => !isOver && setTimeout(() => start(number), 1000));
}
for (let i = 0; i < Number(values.machines); i++) start(i);

let kills = 0;
const killer = setInterval(
  () => {
    const machine = [...machines.values()][Math.floor(random() * machines.size)];
    const victims = childrenOf(machine.pid);
    const pid = random() < 0.5 && victims.length > 0 ? victims[0] : machine.pid;
    kills++;
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended just now.
    }
  },
  Number(values['kill-every']) * 1000,
);
const watch = new SetsWatch(redis, spiders);
let last = '';
let quiet = 0;
while (quiet < 150) {
  await watch.sample();
  quiet = last === watch.line && site.open === 0 ? quiet + 1 : 0;
  last = watch.line;
  if (watch.now.pending === 0) clearInterval(killer);
  await sleep(100);
}
isOver = true;
clearInterval(killer);
for (const machine of machines.values()) machine.kill('SIGKILL');
const finished = new Set(await redis.call('SMEMBERS', 'finished'));
const whole = site.whole();
const good = orders.filter(({ args }) => args.mode === 'good').map(({ args }) => args.n);
const known = watch.now.pending + watch.now.running + watch.now.finished;
console.log(
  `${spiders} spiders, ${values.machines} machines, limit ${values.limit}, ${kills} kills, seed ${values.seed}: ${watch.line}; ` +
    `good ones not finished ${good.filter((n) => !finished.has(n)).length}, never at the site to the end ${good.filter((n) => !whole.has(n)).length}; ` +
    `in no set any more ${spiders - known}; most at the site at once ${site.most}`,
);
await redis.close();
await server[Symbol.asyncDispose]();
await site.close();
await rm(folder, { recursive: true });
process.exit(0);
