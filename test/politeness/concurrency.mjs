// How many requests AutoThrottle keeps under way at a site that answers in 200 ms, for several targets.
//
//   node --conditions=lycosa-source test/politeness/concurrency.mjs
import { setTimeout as sleep } from 'node:timers/promises';

import { CrawlerProcess, createLogger, Request, Spider } from 'lycosa';

import { scriptedSite } from './scripted-site.mjs';

const warmUpSeconds = 8;
const seconds = 25;
const logger = createLogger({ level: 'ERROR' });

async function measure(target) {
  const site = await scriptedSite(() => ({ latencyMs: 200 }));
  class Load extends Spider {
    static name = `target-${target}`;
    *start() {
      for (let i = 0; ; i++) yield new Request(`${site.url}/${i}`);
    }
    parse() {}
  }
  await using process = new CrawlerProcess({
    settings: {
      AUTOTHROTTLE_ENABLED: true,
      AUTOTHROTTLE_START_DELAY: 1,
      AUTOTHROTTLE_TARGET_CONCURRENCY: target,
      ROBOTSTXT_OBEY: false,
      LOGSTATS_INTERVAL: 0,
    },
    logger,
  });
  const done = process.crawl(Load);
  await sleep(warmUpSeconds * 1000);
  const before = site.load();
  const start = performance.now();
  await sleep(seconds * 1000);
  const mean = (site.load() - before) / (performance.now() - start);
  process.stop('fast');
  await done;
  site.close();
  return mean;
}

const targets = [0.5, 1, 2, 4];
const means = await Promise.all(targets.map(measure));
targets.forEach((target, i) => {
  const off = ((means[i] / target - 1) * 100).toFixed(1);
  console.log(`target ${target}: ${means[i].toFixed(3)} under way on average (${off} %)`);
});
