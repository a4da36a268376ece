/**
 * What the frontier costs: `node --conditions=lycosa-source test/frontier/frontier-bench.mjs [--urls 100000]`. Rates by
 * the wall clock are those of one client on this machine; those by the processor time of Redis hold on a busy one too.
 */
import { parseArgs } from 'node:util';

import { connectRedis } from '@lycosa/redis';
import { createLogger, Request } from 'lycosa';

import { linkOf } from '../../packages/redis/src/frontier-entry.ts';
import { FrontierWatch } from '../../packages/redis/src/frontier-watch.ts';
import { Frontier } from '../../packages/redis/src/frontier.ts';
import { startRedis } from '../redis-server.ts';

const { values } = parseArgs({ options: { urls: { type: 'string', default: '100000' } } });
const urls = Number(values.urls);
const hosts = 1000;
const slots = {
  keyOf: ({ url }) => new URL(url).hostname,
  settingsOf: () => undefined,
  defaultDelay: 0,
};
const linkTo = (host, page) =>
  linkOf(
    new Request(`https://www.host${host % hosts}.example.com/some/category/product-${page}.html`, {
      callback: 'parseProduct',
      meta: { depth: 3 },
    }),
    slots,
    false,
  ).args;

await using server = await startRedis();
await using redis = await connectRedis({ url: server.url });
const watch = new FrontierWatch(createLogger({ level: 'OFF' }), redis.url);
const frontier = await Frontier.open(redis, watch, {
  name: 'bench',
  leaseMs: 600_000,
  maxEntryBytes: 262_144,
  order: 'lifo',
  newHostDelayMs: 0,
  flush: false,
});

async function usage() {
  const info = String(await redis.call('INFO'));
  const number = (name) => Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(info)[1]);
  return {
    bytes: number('used_memory'),
    cpu: number('used_cpu_user') + number('used_cpu_sys'),
    at: performance.now() / 1000,
  };
}

async function measure(what, count, work) {
  const before = await usage();
  await work();
  const after = await usage();
  const rate = (key) => Math.round(count / (after[key] - before[key]));
  const bytes = Math.round((after.bytes - before.bytes) / count);
  console.log(
    `${what}: ${rate('at')}/s by the clock, ${rate('cpu')}/s of Redis' time, ${bytes} bytes each`,
  );
}

async function addAll() {
  for (let i = 0; i < urls; i += 500) {
    const pages = Array.from({ length: 10 }, (_, k) =>
      Array.from({ length: 50 }, (_, j) => linkTo(i + 50 * k + j, i + 50 * k + j)).flat(),
    );
    await Promise.all(pages.map((links) => frontier.add(links)));
  }
}

const report = { sinceMs: 0, delayMs: 0, concurrency: 8, backoffMs: 0, pauseMs: 0 };
async function work(count, batch, linksEach) {
  for (let done = 0; done < count;) {
    const { claimed } = await frontier.claim(batch);
    await Promise.all(
      claimed.map(({ token }) => {
        const links = Array.from({ length: linksEach }, (_, j) => linkTo(j, `${token}-${j}`));
        return frontier.ack(token, report, links.flat());
      }),
    );
    done += claimed.length;
  }
}

await measure('add of new URLs, 50 a page', urls, addAll);
await measure('add of known URLs, 50 a page', urls, addAll);
await measure('claim and ack, one at a time', urls / 4, () => work(urls / 4, 1, 0));
await measure('claim and ack, 16 at a time', urls / 4, () => work(urls / 4, 16, 0));
await measure('claim and ack with 10 new links', urls / 20, () => work(urls / 20, 16, 10));
watch.close();
