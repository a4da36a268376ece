// Many spiders of five small pages each in one process: node test/bench/many.ts [spiders]
import { fork } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { CrawlerProcess, type Response, Spider, type SpiderClass, type SpiderOutput } from 'lycosa';

// The site is a process of its own: what it takes is not the crawls'.
if (process.send) {
  const server = createServer((request, response) => {
    const [, name, page] = (request.url ?? '').split('/');
    response.setHeader('content-type', 'text/html');
    response.end(
      Number(page) < 5 ? `<a href="/${name}/${Number(page) + 1}">next</a>` : '<p>end</p>',
    );
  }).listen(0, '127.0.0.1', () => process.send!((server.address() as AddressInfo).port));
  process.once('disconnect', () => process.exit());
  await new Promise(() => {});
}

const count = Number(process.argv[2] ?? 1000);
const site = fork(import.meta.filename);
const port = await new Promise((resolve) => site.once('message', resolve));
const url = `http://127.0.0.1:${String(port)}`;

function spiderOf(name: string): SpiderClass {
  return class extends Spider {
    static override readonly name = name;
    override readonly startUrls = [`${url}/${name}/1`];
    override *parse(response: Response): SpiderOutput {
      yield { url: response.url };
      yield* response.followAll('a');
    }
  };
}

const start = performance.now();
const cpu = process.cpuUsage();
await using crawls = new CrawlerProcess({
  settings: { ROBOTSTXT_OBEY: false, LOG_LEVEL: 'ERROR', CONCURRENT_REQUESTS_PER_DOMAIN: 100 },
});
const results = await Promise.all(
  Array.from({ length: count }, (_, i) => crawls.crawl(spiderOf(`s${i}`))),
);
const { user, system } = process.cpuUsage(cpu);
console.log({
  spiders: count,
  ok: results.filter((result) => result.ok && result.stats.item_scraped_count === 5).length,
  seconds: Number(((performance.now() - start) / 1000).toFixed(2)),
  cpuSeconds: Number(((user + system) / 1e6).toFixed(2)),
  mostRssMiB: Math.round(process.resourceUsage().maxRSS / 1024),
  rssMiB: Math.round(process.memoryUsage.rss() / 2 ** 20),
});
site.disconnect();
