// How many requests a second each of 200 hosts gets with a delay of 1 s and 16 places (CONCURRENT_REQUESTS), of Lycosa
// and beside it of Debian's Scrapy (apt-get install python3-scrapy) with both of its queues. The requests come from
// start(), one for each host in turn, or are the links of one page of each host. The hosts are addresses of the loopback interface; the server counts.
//
//   node --conditions=lycosa-source test/politeness/hosts.mjs
import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const hostCount = 200;
const seconds = 20;
const addresses = Array.from({ length: hostCount }, (_, i) => `127.0.1.${i + 1}`);
const settings = {
  DOWNLOAD_DELAY: 1,
  CONCURRENT_REQUESTS: 16,
  CONCURRENT_REQUESTS_PER_DOMAIN: 8,
  RETRY_ENABLED: false,
};

/** One server on all addresses, which notes when each was asked; robots.txt counts. */
async function recordingServer() {
  const times = new Map(addresses.map((address) => [address, []]));
  const answer = (request, response) => {
    times.get(request.socket.localAddress)?.push(performance.now());
    const isRobots = request.url === '/robots.txt';
    response.writeHead(200, { 'content-type': isRobots ? 'text/plain' : 'text/html' });
    response.end(isRobots ? 'User-agent: *\nAllow: /' : 'page');
  };
  let port = 0;
  const servers = [];
  for (const address of addresses) {
    const server = createServer(answer);
    await new Promise((resolve) => server.listen(port, address, resolve));
    ({ port } = server.address());
    servers.push(server);
  }
  const firsts = addresses.map((address) => `http://${address}:${port}/`);
  const close = () => {
    for (const server of servers) {
      server.close();
      server.closeAllConnections();
    }
  };
  return { times, firsts, close };
}

/** What each host got in the `seconds` since the first request of all. */
function ratesOf(times) {
  const start = Math.min(...[...times.values()].flat());
  const within = [...times.values()].map((all) =>
    all.filter((time) => time < start + seconds * 1000),
  );
  const gaps = within.flatMap((all) => all.slice(1).map((time, i) => time - all[i]));
  const rates = within.map((all) => all.length / seconds).toSorted((a, b) => a - b);
  return {
    total: rates.reduce((a, b) => a + b),
    least: rates[0],
    median: rates[hostCount / 2],
    most: rates.at(-1),
    shortestGap: Math.min(...gaps),
  };
}

const python = `
import json, sys, scrapy
from scrapy.crawler import CrawlerProcess
job = json.load(sys.stdin)
class Hosts(scrapy.Spider):
    name = 'hosts'
    start_urls = [f'{url}{n}' for n in range(job['starts']) for url in job['firsts']]
    def parse(self, response):
        for n in range(job['links']):
            yield response.follow(f'/link/{n}', self.ignore)
    def ignore(self, response): pass
p = CrawlerProcess(job['settings'])
p.crawl(Hosts)
p.start()
`;
const commands = {
  lycosa: [process.execPath, [...process.execArgv, fileURLToPath(import.meta.url), 'crawl']],
  scrapy: ['/usr/bin/python3', ['-c', python]],
};

/** The crawl of Lycosa, in a process of its own, so that the server does not wait for it. */
async function crawl() {
  const { CrawlerProcess, Request, Spider } = await import('lycosa');
  const job = await json(process.stdin);
  class Hosts extends Spider {
    static name = 'hosts';
    *start() {
      for (let n = 0; n < job.starts; n++)
        for (const url of job.firsts) yield new Request(`${url}${n}`);
    }
    *parse(response) {
      for (let n = 0; n < job.links; n++)
        yield response.follow(`/link/${n}`, { callback: this.ignore });
    }
    ignore() {}
  }
  await new CrawlerProcess({ settings: job.settings }).crawl(Hosts);
}

async function measure(who, pages, own) {
  const { times, firsts, close } = await recordingServer();
  const child = spawn(...commands[who], { stdio: ['pipe', 'inherit', 'inherit'] });
  const ended = new Promise((resolve) => child.on('close', resolve));
  child.stdin.end(
    JSON.stringify({ firsts, ...pages, settings: { ...settings, ...own, LOG_LEVEL: 'CRITICAL' } }),
  );
  const until = performance.now() + 15_000;
  while (![...times.values()].some((all) => all.length > 0) && performance.now() < until)
    await sleep(50);
  await sleep((seconds + 1) * 1000);
  child.kill('SIGKILL');
  await ended;
  close();
  return ratesOf(times);
}

const free = { ROBOTSTXT_OBEY: false };
const obeying = { ROBOTSTXT_OBEY: true };
const downloaderAware = {
  ...free,
  SCHEDULER_PRIORITY_QUEUE: 'scrapy.pqueues.DownloaderAwarePriorityQueue',
};

async function main() {
  const enough = seconds + 10;
  const orders = {
    'from start(), in turn': { starts: enough, links: 0 },
    'links of a page of each': { starts: 1, links: enough },
  };
  for (const [order, pages] of Object.entries(orders)) {
    const runs = {
      Lycosa: measure('lycosa', pages, free),
      'Lycosa, obeying robots.txt': measure('lycosa', pages, obeying),
      Scrapy: measure('scrapy', pages, free),
      'Scrapy, downloader-aware queue': measure('scrapy', pages, downloaderAware),
    };
    const table = {};
    for (const [name, run] of Object.entries(runs)) {
      const { total, least, median, most, shortestGap } = await run;
      table[name] = {
        'requests/s': total.toFixed(1),
        'per host: least': least.toFixed(2),
        median: median.toFixed(2),
        most: most.toFixed(2),
        'shortest gap, ms': Math.round(shortestGap),
      };
    }
    console.log(`${hostCount} hosts, delay 1 s, 16 places, ${seconds} s, ${order}:`);
    console.table(table);
  }
}

await (process.argv[2] === 'crawl' ? crawl() : main());
