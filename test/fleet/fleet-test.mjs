/**
 * A fleet under kills: `pnpm fleet-test --spiders 3000 --agents 10 --count 5 --kill-every 5`. Of the spiders 2 % cannot
 * be built and 1 % end their process. What holds is read from Redis and from what the spiders wrote, never from what the
 * agents count. Exit code 1 where something does not hold.
 */
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { connectRedis, Fleet } from '@lycosa/redis';

import { startRedis } from '../redis-server.ts';

const { values } = parseArgs({
  options: {
    spiders: { type: 'string', default: '200' },
    agents: { type: 'string', default: '4' },
    count: { type: 'string', default: '5' },
    'kill-every': { type: 'string', default: '5' },
    kills: { type: 'string', default: 'Infinity' },
    limit: { type: 'string', default: '0' },
    lease: { type: 'string', default: '5' },
    timeout: { type: 'string', default: '600' },
    seed: { type: 'string', default: String(Date.now() % 100_000) },
  },
});
const spiders = Number(values.spiders);
const agents = Number(values.agents);
const count = Number(values.count);
let state = Number(values.seed);
const random = () => {
  state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
  return state / 2 ** 31;
};

const bin = fileURLToPath(new URL('../../packages/cli/src/bin.ts', import.meta.url));
const project = fileURLToPath(new URL('project', import.meta.url));
const folder = await mkdtemp(join(tmpdir(), 'lycosa-fleet-'));
const log = join(folder, 'log');
const server = await startRedis();
const redis = await connectRedis({ url: server.url });
const fleet = await Fleet.open({
  redis: { url: server.url },
  sets: {},
  attempts: 2,
  backoffMs: 500,
});

const orders = Array.from({ length: spiders }, (_, n) => {
  const ms = String(Math.round(50 + 1950 * random() ** 2));
  const mode = n % 50 === 7 ? 'broken' : n % 100 === 13 ? 'crash' : 'good';
  return { spider: 'nap', args: { n: String(n), ms, mode } };
});
const members = await fleet.add(orders);
const good = new Set(members.filter((_, n) => orders[n].args.mode === 'good'));
console.log(
  `${spiders} spiders, ${agents} agents × ${count}, a kill each ${values['kill-every']} s, seed ${values.seed}`,
);

/** Agents that live, by their number. A killed one comes back after a second, as a machine would. */
const living = new Map();
let isOver = false;
function startAgent(number) {
  const args = [
    '--conditions=lycosa-source',
    bin,
    'fleet',
    'run',
    '--until-empty',
    '--count',
    values.count,
  ];
  const own = [
    `REDIS_URL=${server.url}`,
    `FLEET_LEASE=${values.lease}`,
    'FLEET_STALLED_INTERVAL=1',
    `FLEET_MACHINE=m${number}`,
    `FLEET_SPIDER_COUNT=${values.limit}`,
  ];
  const child = spawn(
    process.execPath,
    [...args, '--nolog', ...own.flatMap((one) => ['-s', one])],
    {
      cwd: project,
      env: { ...process.env, NAP_LOG: log },
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  );
  living.set(number, child);
  child.once('exit', (code) => {
    living.delete(number);
    if (!isOver && code !== 0) setTimeout(() => !isOver && startAgent(number), 1000);
  });
}
for (let i = 0; i < agents; i++) startAgent(i);

const look = `
local bad = 0
for i = 1, 4 do for j = i + 1, 4 do bad = bad + #redis.call('SINTER', KEYS[i], KEYS[j]) end end
local all = #redis.call('SUNION', unpack(KEYS))
return {redis.call('SCARD', 'pending'), redis.call('SCARD', 'running'), redis.call('SCARD', 'finished'), redis.call('SCARD', 'failed'), bad, all}`;
let samples = 0;
let overlaps = 0;
let missing = 0;
let mostRunning = 0;
let mostOne = 0;
let now = [];
async function sample() {
  now = await redis.call('EVAL', look, 4, 'pending', 'running', 'finished', 'failed');
  samples++;
  overlaps += now[4];
  missing += spiders - now[5];
  mostRunning = Math.max(mostRunning, now[1]);
  const owners = await redis.call('HVALS', 'fleet:owner');
  const each = Map.groupBy(owners, (owner) => owner.split('|')[0]);
  for (const of of each.values()) mostOne = Math.max(mostOne, of.length);
}

let kills = 0;
function kill() {
  const number = [...living.keys()][Math.floor(random() * living.size)];
  const agent = living.get(number);
  if (!agent || kills >= Number(values.kills)) return;
  // One time in two a host of it, and not the agent.
  const hosts = readdirSync('/proc').filter(
    (pid) => /^\d+$/.test(pid) && parentOf(pid) === agent.pid,
  );
  const pid = random() < 0.5 && hosts.length > 0 ? Number(hosts[0]) : agent.pid;
  kills++;
  process.kill(pid, 'SIGKILL');
}
function parentOf(pid) {
  try {
    return Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ')[1]);
  } catch {
    return 0;
  }
}

const start = performance.now();
const killer = setInterval(kill, Number(values['kill-every']) * 1000);
const limitMs = Number(values.timeout) * 1000;
while (living.size > 0 && performance.now() - start < limitMs) {
  await sample();
  if (now[0] + now[1] === 0) clearInterval(killer);
  await new Promise((resolve) => setTimeout(resolve, 100));
}
clearInterval(killer);
isOver = true;
const seconds = (performance.now() - start) / 1000;
await sample();
for (const agent of living.values()) agent.kill('SIGKILL');

const commits = new Map();
for (const { name, to } of await fleet.sets.events()) {
  if (to === 'finished') commits.set(name, (commits.get(name) ?? 0) + 1);
}
const failed = new Set(await fleet.sets.names('failed'));
const records = await fleet.sets.results([...failed]);
const rows = (await readFile(log, 'utf8'))
  .trim()
  .split('\n')
  .map((row) => row.split(' '));
const ends = new Set(rows.filter(([what]) => what === 'end').map(([, n]) => n)).size;
const starts = rows.filter(([what]) => what === 'begin').length;

const checks = {
  'each good spider committed exactly once': [...good].every((name) => commits.get(name) === 1),
  'each good spider really ran to its end': ends === good.size,
  'no bad spider finished': [...commits.keys()].every((name) => good.has(name)),
  'the bad ones are in failed, each with its error':
    failed.size === spiders - good.size &&
    [...failed].every((name) => !good.has(name) && records.get(name)?.error),
  'pending and running are empty': now[0] === 0 && now[1] === 0,
  'no name in two sets, at any sample': overlaps === 0,
  'no name in no set, at any sample': missing === 0,
  'no agent over its limit': mostOne <= count,
  'the fleet never over its limit': values.limit === '0' || mostRunning <= Number(values.limit),
  'the queue is empty': (await fleet.live()) === 0,
};
console.log(
  `${seconds.toFixed(1)} s, ${kills} kills, ${samples} samples; pending ${now[0]} running ${now[1]} finished ${now[2]} failed ${now[3]}; ` +
    `${starts} starts, ${ends} ends; most running ${mostRunning}, in one agent ${mostOne}`,
);
for (const [what, holds] of Object.entries(checks))
  console.log(`${holds ? 'holds' : 'BROKEN'}: ${what}`);
await fleet.close();
await redis.close();
await server[Symbol.asyncDispose]();
await rm(folder, { recursive: true });
process.exit(Object.values(checks).every(Boolean) ? 0 : 1);
