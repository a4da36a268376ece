/** One process of the article's second way: `node sets-worker.mjs URL COUNT LEASE MACHINE LOG`. */
import { appendFileSync } from 'node:fs';

import { connectRedis, crawlPending, SpiderCountLimit, SpiderSets } from '@lycosa/redis';
import { CrawlerProcess, Spider } from 'lycosa';

const [url, count, lease, machine, log] = process.argv.slice(2);
const settings = {
  REDIS_URL: url,
  SPIDER_COUNT: Number(count),
  FLEET_LEASE: Number(lease),
  FLEET_MACHINE: machine,
  EXTENSIONS: [[SpiderCountLimit, 500]],
  LOG_LEVEL: 'CRITICAL',
};
const spiders = {
  load: (name) =>
    class Nap extends Spider {
      static name = name;
      async *start() {
        appendFileSync(log, `begin ${name} ${process.pid} ${Date.now()}\n`);
        await new Promise((resolve) => setTimeout(resolve, 1500));
        appendFileSync(log, `end ${name} ${process.pid} ${Date.now()}\n`);
        yield* [];
      }
    },
};
const redis = await connectRedis({ url });
// The extension of the same process goes on with what was taken here.
process.env.LYCOSA_FLEET_OWNER = `${machine}/${process.pid}/worker`;
const sets = new SpiderSets(redis, {
  machine,
  limit: Number(count),
  leaseMs: Number(lease) * 1000,
  owner: process.env.LYCOSA_FLEET_OWNER,
});
const crawls = new CrawlerProcess({ settings, spiders });
// Whoever has nothing to do stays, as others may die.
while ((await sets.count('finished')) < 10) {
  await crawlPending(crawls, sets, { count: Number(count) });
  await new Promise((resolve) => setTimeout(resolve, 100));
}
await crawls.close();
await redis.close();
