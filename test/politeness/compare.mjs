// AutoThrottle of Lycosa beside that of Debian's Scrapy (apt-get install python3-scrapy), against a server whose
// latency and status go by the number of the request. Prints both series of delays.
//
//   node --conditions=lycosa-source test/politeness/compare.mjs
import { spawn } from 'node:child_process';

import { CrawlerProcess, createLogger, Request, Spider } from 'lycosa';

import { scriptedSite } from './scripted-site.mjs';

const script = [
  [100, 200],
  [100, 200],
  [400, 200],
  [50, 503],
  [20, 404],
  [100, 200],
  [100, 200],
  [900, 200],
  [300, 500],
  [100, 200],
  [100, 200],
  [50, 200],
  [50, 200],
  [50, 200],
  [50, 200],
  [1500, 429],
  [50, 200],
  [50, 200],
  [50, 200],
  [50, 200],
];
const settings = {
  AUTOTHROTTLE_ENABLED: true,
  AUTOTHROTTLE_DEBUG: true,
  AUTOTHROTTLE_START_DELAY: 0.5,
  AUTOTHROTTLE_MAX_DELAY: 1.2,
  AUTOTHROTTLE_TARGET_CONCURRENCY: 1.5,
  DOWNLOAD_DELAY: 0.1,
  RANDOMIZE_DOWNLOAD_DELAY: false,
  CONCURRENT_REQUESTS_PER_DOMAIN: 1,
  CONCURRENT_REQUESTS: 1,
  ROBOTSTXT_OBEY: false,
  RETRY_ENABLED: false,
  LOG_LEVEL: 'INFO',
};
const answer = (number) => ({ latencyMs: script[number]?.[0], status: script[number]?.[1] });
const delays = (text) =>
  [...text.matchAll(/delay:\s*(\d+) ms .*?latency:\s*(\d+) ms/g)].map(([, delay]) => Number(delay));

async function lycosa() {
  const site = await scriptedSite(answer);
  let text = '';
  const logger = createLogger({ level: 'INFO', destination: { write: (line) => (text += line) } });
  class Compare extends Spider {
    static name = 'compare';
    start() {
      return script.map((_, i) => new Request(`${site.url}/${i}`));
    }
    parse() {}
  }
  await using process = new CrawlerProcess({
    settings: { ...settings, BACKOFF_ENABLED: false },
    logger,
  });
  await process.crawl(Compare);
  site.close();
  return { delays: delays(text), requests: site.requests };
}

async function scrapy() {
  const site = await scriptedSite(answer);
  const python = `
import json, sys, scrapy
from scrapy.crawler import CrawlerProcess
class Compare(scrapy.Spider):
    name = 'compare'
    handle_httpstatus_all = True
    start_urls = [f'${site.url}/{i}' for i in range(${script.length})]
    def parse(self, response): pass
p = CrawlerProcess(json.loads(sys.argv[1]))
p.crawl(Compare)
p.start()
`;
  const child = spawn('/usr/bin/python3', ['-c', python, JSON.stringify(settings)]);
  let text = '';
  child.stderr.on('data', (chunk) => (text += chunk));
  await new Promise((resolve) => child.on('close', resolve));
  site.close();
  return { delays: delays(text), requests: site.requests };
}

const [ours, theirs] = await Promise.all([lycosa(), scrapy()]);
console.log('request  latency  status   Lycosa   Scrapy  (delay afterwards, ms)');
script.forEach(([latencyMs, status], i) => {
  const columns = [i + 1, latencyMs, status, ours.delays[i], theirs.delays[i]];
  console.log(columns.map((value, at) => String(value).padStart([7, 8, 7, 8, 8][at])).join(' '));
});
const most = Math.max(...ours.delays.map((delay, i) => Math.abs(delay - theirs.delays[i])));
console.log(`Largest difference: ${most} ms.`);
