/**
 * One process of the plain way with three sets and no leases: `node naive-spider.mjs URL ORDER` crawls one spider, which
 * says in `running` and `finished` where it stands; `node naive-spider.mjs URL ORDERS LIMIT` is the script that starts them.
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { connectRedis } from '@lycosa/redis';
import { CrawlerProcess } from 'lycosa';

import { VisitSpider } from './project/spiders/visit.ts';

const [url, what, limit] = process.argv.slice(2);
const redis = await connectRedis({ url });

if (limit === undefined) {
  const args = JSON.parse(what);
  class ThreeSets {
    static fromCrawler({ signals }) {
      signals.connect('spider_opened', () => redis.call('SADD', 'running', args.n));
      signals.connect('spider_closed', async () => {
        await redis.call('SREM', 'running', args.n);
        await redis.call('SADD', 'finished', args.n);
      });
      return new ThreeSets();
    }
  }
  await using crawls = new CrawlerProcess({
    settings: {
      LOG_ENABLED: false,
      ROBOTSTXT_OBEY: false,
      ADDRESS_POLICY: 'any',
      EXTENSIONS: [[ThreeSets, 1]],
    },
  });
  await crawls.crawl(VisitSpider, args);
} else {
  const orders = JSON.parse(readFileSync(what, 'utf8'));
  const own = [...process.execArgv, fileURLToPath(import.meta.url), url];
  for (;;) {
    const name =
      Number(await redis.call('SCARD', 'running')) < Number(limit)
        ? await redis.call('SPOP', 'pending')
        : null;
    if (name === null) await new Promise((done) => setTimeout(done, 500));
    else spawn(process.execPath, [...own, JSON.stringify(orders[name])], { stdio: 'ignore' });
    // Not all at once, as the script would.
    await new Promise((done) => setTimeout(done, 100));
  }
}
await redis.close();
