// How many sockets, pools and bytes 5,000 origins leave behind: node --expose-gc --conditions=lycosa-source
// test/bench/origins.mjs [ORIGINS]
import { createServer } from 'node:http';

import { Crawler, createLogger, Request, Settings, SlotRegistry, Spider } from 'lycosa';

const origins = Number(process.argv[2] ?? 5000);
let open = 0;
let most = 0;
const server = createServer((_, response) => {
  response.setHeader('content-type', 'text/html');
  response.end('<p>ok</p>');
});
server.keepAliveTimeout = 60_000;
server.on('connection', (socket) => {
  most = Math.max(most, ++open);
  socket.on('close', () => open--);
});
await new Promise((resolve) => server.listen(0, '0.0.0.0', resolve));
const { port } = server.address();

let done = 0;
class Origins extends Spider {
  static name = 'origins';
  *start() {
    for (let i = 0; i < origins; i++)
      yield new Request(`http://127.${1 + (i >> 16)}.${(i >> 8) & 255}.${i & 255}:${port}/`);
  }
  parse() {
    if (++done % (origins / 10) === 0) print();
  }
}

const settings = new Settings();
for (const [name, value] of Object.entries({
  CONCURRENT_REQUESTS: 100,
  ROBOTSTXT_OBEY: false,
  STATS_DUMP: false,
}))
  settings.set(name, value);
const log = createLogger({ level: 'ERROR' });
const crawler = new Crawler(Origins, settings, { log, slots: new SlotRegistry() });

function print() {
  globalThis.gc?.();
  const { heapUsed, rss } = process.memoryUsage();
  const mib = (bytes) => (bytes / 1_048_576).toFixed(1).padStart(7);
  process.stdout.write(
    `${String(done).padStart(6)} ${String(open).padStart(7)} ${String(crawler.engine.downloader.pools).padStart(6)} ${mib(heapUsed)} ${mib(rss)}\n`,
  );
}

process.stdout.write('origins sockets  pools heapMiB  rssMiB\n');
await crawler.crawl();
process.stdout.write(`most sockets at once: ${most}; after the crawl: `);
await new Promise((resolve) => setTimeout(resolve, 100));
process.stdout.write(`${open}; done ${done} of ${origins}\n`);
server.closeAllConnections();
server.close();
process.exitCode = done === origins && open === 0 ? 0 : 1;
