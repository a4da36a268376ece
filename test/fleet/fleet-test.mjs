/**
 * A fleet under kills: `pnpm fleet-test --spiders 3000 --agents 10 --kill-every 5`. Of the spiders 2 % cannot be built and
 * 1 % end their process. What holds is read from the log of the site that they visit, from their feeds and from Redis,
 * never from what the agents count. Exit code 1 where something does not hold.
 *
 * `--stall 10` has Redis stand still for so long in the middle; `--restart aof` and `--restart empty` have it killed and
 * started anew, with its file or with nothing. `--limit 20` holds for all agents together. `--heavy` has good spiders
 * only, with times that have a long tail and are known from earlier runs, and compares the whole with what is possible.
 */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { connectRedis, Fleet } from '@lycosa/redis';

import { startRedis } from '../redis-server.ts';
import { Agents } from './agents.mjs';
import { ordersOf, randomOf, SetsWatch, sleep, startSite } from './observer.mjs';

const { values } = parseArgs({
  options: {
    spiders: { type: 'string', default: '200' },
    agents: { type: 'string', default: '4' },
    count: { type: 'string', default: '5' },
    'kill-every': { type: 'string', default: '5' },
    kills: { type: 'string', default: 'Infinity' },
    limit: { type: 'string', default: '0' },
    lease: { type: 'string', default: '10' },
    timeout: { type: 'string', default: '900' },
    stall: { type: 'string', default: '0' },
    restart: { type: 'string' },
    times: { type: 'string', default: '1' },
    heavy: { type: 'boolean', default: false },
    seed: { type: 'string', default: String(Date.now() % 100_000) },
  },
});
const spiders = Number(values.spiders);
const machines = Number(values.agents);
const count = Number(values.count);
const limit = Number(values.limit);
const random = randomOf(Number(values.seed));
const timeOf = values.heavy
  ? (next) => Math.round(Math.min(40_000, 500 / (1 - next()) ** 0.8))
  : (next) => Math.round(50 + 1950 * next() ** 2);

const folder = await mkdtemp(join(tmpdir(), 'lycosa-fleet-'));
const site = await startSite();
const server = await startRedis(...(values.restart === 'aof' ? ['--appendonly', 'yes'] : []));
const { url } = server;
const redis = await connectRedis({ url, params: { maxRetriesPerRequest: null } });
const fleet = await Fleet.open({ redis: { url }, sets: {}, attempts: 2, backoffMs: 500 });
const orders = ordersOf(spiders, random, site.url, timeOf);
/** Orders that only get the machines going: to start twenty processes takes its time where two cores do it. */
const warmUp = values.heavy ? machines * count : 0;
if (values.heavy) {
  for (const [i, { args }] of orders.entries())
    Object.assign(args, { mode: 'good', ...(i < warmUp && { ms: '1000' }) });
}
const members = await fleet.add(orders);
if (values.heavy) {
  // As if all had run before: ordered again, their times are known.
  for (const [i, name] of members.entries()) {
    if (i < warmUp) continue;
    await fleet.learn(name, orders[i].args.ms / 1000);
    await fleet.stop(name);
  }
}
const good = new Set(orders.filter(({ args }) => args.mode === 'good').map(({ args }) => args.n));
console.log(
  `${spiders} spiders, ${machines} agents × ${count}, a kill each ${values['kill-every']} s, seed ${values.seed}`,
);

const agents = new Agents(
  [...(values.heavy ? [] : ['--until-empty']), '--nolog', '--count', values.count],
  [
    `REDIS_URL=${url}`,
    `FLEET_LEASE=${values.lease}`,
    'FLEET_STALLED_INTERVAL=1',
    `FLEET_SPIDER_COUNT=${limit}`,
    `FLEET_DIR=${join(folder, 'state')}`,
    'FLEET_MIN_FREE_MB=0',
    'FLEET_MAX_LAG=0',
    'ROBOTSTXT_OBEY=false',
    'ADDRESS_POLICY=any',
    'DOWNLOAD_DELAY=0',
    'CONCURRENT_REQUESTS_PER_DOMAIN=100',
    'RETRY_ENABLED=false',
  ],
  { VISIT_FEED: join(folder, 'feeds', '%(job)s.jsonl') },
);
for (let i = 0; i < machines; i++) agents.start(i);
const watch = new SetsWatch(redis, spiders, limit);
const start = performance.now();
const mayKill = Number(values['kill-every']) > 0;
const killer = setInterval(
  () => mayKill && agents.kills < Number(values.kills) && agents.kill(random),
  Number(values['kill-every']) * 1000 || 1e6,
);
let cpu = agents.cpuSeconds();
/** Of `cpu`, what getting going took. */
let cpuBefore = cpu;
let isWarm = !values.heavy;
let disturbances = 0;
while (agents.living.size > 0 && performance.now() - start < Number(values.timeout) * 1000) {
  await watch.sample();
  // Near the end some have left, and their figures with them.
  if (agents.living.size === machines) cpu = agents.cpuSeconds();
  const { pending, running, finished, failed } = watch.now;
  if (pending + running === 0) {
    clearInterval(killer);
    if (values.heavy && isWarm) break;
    if (values.heavy) {
      isWarm = true;
      cpuBefore = cpu;
      await fleet.drain();
      await fleet.requeue();
      await fleet.resume();
    }
  }
  const next = (spiders * (disturbances + 1)) / (Number(values.times) + 2);
  if (disturbances < Number(values.times) && finished + failed > next) {
    disturbances++;
    await disturb();
  }
  await sleep(100);
}
clearInterval(killer);
const seconds = (performance.now() - start) / 1000;
await watch.sample();
agents.end();

/** What Redis is put through in the middle. */
async function disturb() {
  if (Number(values.stall) > 0) {
    console.log(`Redis stands still for ${values.stall} s`);
    server.process.kill('SIGSTOP');
    await sleep(Number(values.stall) * 1000);
    server.process.kill('SIGCONT');
  }
  if (values.restart) {
    console.log(`Redis is killed at ${watch.line}`);
    await server.restart(values.restart === 'aof');
    const back = performance.now();
    let lost = true;
    while (lost && performance.now() - back < 30_000) {
      await sleep(100);
      const sizes = ['pending', 'running', 'finished', 'failed'].map((key) =>
        redis.call('SCARD', key),
      );
      lost = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0) < spiders;
    }
    console.log(`all names are there ${((performance.now() - back) / 1000).toFixed(1)} s later`);
  }
}

const commits = new Map();
for (const { name, to, owner } of await fleet.sets.events()) {
  if (to === 'finished' && owner !== 'restore') commits.set(name, (commits.get(name) ?? 0) + 1);
}
const nameOf = new Map(orders.map(({ args }, i) => [args.n, members[i]]));
const failed = new Set(await fleet.sets.names('failed'));
const finished = new Set(await fleet.sets.names('finished'));
const records = await fleet.sets.results([...failed]);
const feeds = new Map();
for (const file of await readdir(join(folder, 'feeds')).catch(() => [])) {
  if (!file.endsWith('.jsonl')) continue;
  const lines = (await readFile(join(folder, 'feeds', file), 'utf8')).split('\n').filter(Boolean);
  for (const line of lines) {
    const { n } = itemOf(line, file);
    feeds.set(n, (feeds.get(n) ?? 0) + 1);
  }
}
/** A line that is torn belongs to nobody, and its spider has no item. */
function itemOf(line, file) {
  try {
    return JSON.parse(line);
  } catch {
    console.log(`${file} is torn: ${JSON.stringify(line)}`);
    return {};
  }
}
const whole = site.whole();
const again = site.visits.length - new Set(site.visits.map(({ n }) => n)).size;
const isKept = values.restart === undefined;
const isBroken = (n) => !isCommitted(n) || !whole.has(n) || feeds.get(n) !== 1;
const isCommitted = (n) =>
  isKept ? commits.get(nameOf.get(n)) === 1 : finished.has(nameOf.get(n));

const checks = {
  'each good spider committed exactly once': [...good].every(isCommitted),
  'each good spider was really at the site, to the end': [...good].every((n) => whole.has(n)),
  'each good spider has one feed, with its item once': [...good].every((n) => feeds.get(n) === 1),
  'no bad spider finished':
    [...finished].every((name) => !failed.has(name)) && finished.size === good.size,
  'the bad ones are in failed, each with its error':
    failed.size === spiders - good.size && [...failed].every((name) => records.get(name)?.error),
  'pending and running are empty': watch.now.pending === 0 && watch.now.running === 0,
  'no name in two sets, at any sample': watch.twice === 0,
  'no name in no set, at any sample': watch.missing === 0 || values.restart === 'empty',
  'no agent over its limit': watch.mostOfOne <= count,
  'the fleet never over its limit, in Redis and at the site':
    limit === 0 || (watch.mostRunning <= limit && site.most <= limit),
  // A run whose agent was killed is known to be over when its lease is, and two looks at it.
  'the fleet never under its limit for longer than a recovery, while others wait':
    watch.longestUnder <= Number(values.lease) + 2,
  'the queue is empty': (await fleet.live()) === 0,
};
console.log(
  `${seconds.toFixed(1)} s, ${agents.kills} kills, ${watch.samples} samples; ${watch.line}; ` +
    `${site.visits.length} visits, ${again} again, ${site.overlaps()} at the same time; ` +
    `most at the site ${site.most}, in running ${watch.mostRunning}, in one agent ${watch.mostOfOne}; ` +
    `longest under the limit ${watch.longestUnder.toFixed(1)} s`,
);
if (values.heavy) {
  const timed = new Map(orders.slice(warmUp).map(({ args }) => [args.n, args.ms / 1000]));
  const visits = site.visits.filter(({ n }) => timed.has(n));
  const first = Math.min(...visits.map(({ begin }) => begin));
  const took = (Math.max(...visits.map(({ end }) => end)) - first) / 1000;
  const times = [...timed.values()];
  const bound = longestFirst(times, machines * count);
  const sum = times.reduce((all, one) => all + one, 0);
  console.log(
    `from the first visit to the last ${took.toFixed(1)} s; longest first takes ${bound.toFixed(1)} s (${((took / bound - 1) * 100).toFixed(1)} % more); ` +
      `no order takes less than ${Math.max(sum / machines / count, ...times).toFixed(1)} s`,
  );
}
const perSpider = (who) => (((cpu[who] - cpuBefore[who]) * 1000) / (spiders - warmUp)).toFixed(1);
// What killed processes have used is not known.
if (agents.kills === 0)
  console.log(`CPU a spider: agents ${perSpider('agents')} ms, hosts ${perSpider('hosts')} ms`);
/** Seconds that a list takes on so many places, the longest always first. */
function longestFirst(times, places) {
  const free = Array.from({ length: places }, () => 0);
  for (const time of times.toSorted((a, b) => b - a)) {
    const at = free.indexOf(Math.min(...free));
    free[at] += time;
  }
  return Math.max(...free);
}
for (const [what, holds] of Object.entries(checks))
  console.log(`${holds ? 'holds' : 'BROKEN'}: ${what}`);
for (const n of [...good].filter(isBroken).slice(0, 10)) {
  const { runs } = (await fleet.show(nameOf.get(n))) ?? {};
  console.log(n, { items: feeds.get(n), whole: whole.get(n), commits: commits.get(nameOf.get(n)) });
  console.log(JSON.stringify(runs), JSON.stringify(site.visits.filter((visit) => visit.n === n)));
}
await fleet.close();
await redis.close();
await server[Symbol.asyncDispose]();
await site.close();
await rm(folder, { recursive: true, maxRetries: 3 });
process.exit(Object.values(checks).every(Boolean) ? 0 : 1);
