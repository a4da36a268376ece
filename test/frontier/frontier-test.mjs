/**
 * One crawl by many workers under kills: `pnpm frontier-test --workers 10 --kills 102`. What holds is read from the
 * requests that the site has received, never from what the workers count. `--redis-kills 3` kills Redis as well. Exit
 * code 1 where something does not hold.
 */
import { parseArgs } from 'node:util';

import { frontierKillTest } from './kill.ts';

const { values } = parseArgs({
  options: {
    workers: { type: 'string', default: '10' },
    kills: { type: 'string', default: '102' },
    pages: { type: 'string', default: '20000' },
    hosts: { type: 'string', default: '100' },
    concurrency: { type: 'string', default: '16' },
    delay: { type: 'string', default: '0.1' },
    lease: { type: 'string', default: '10' },
    'redis-kills': { type: 'string', default: '0' },
    timeout: { type: 'string', default: '900' },
    seed: { type: 'string', default: String((Date.now() % 100_000) + 1) },
  },
});
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(130));
const number = (name) => Number(values[name]);
console.log(
  `${values.workers} workers × ${values.concurrency}, ${values.pages} pages on ${values.hosts} hosts with a delay of ${values.delay} s, ${values.kills} kills, ${values['redis-kills']} of Redis, leases of ${values.lease} s, seed ${values.seed}`,
);
const report = await frontierKillTest({
  workers: number('workers'),
  kills: number('kills'),
  pages: number('pages'),
  hosts: number('hosts'),
  concurrency: number('concurrency'),
  delay: number('delay'),
  lease: number('lease'),
  redisKills: number('redis-kills'),
  onProgress: (text) => console.log(text),
  timeoutMs: number('timeout') * 1000,
  seed: number('seed'),
});
const checks = {
  'all workers came to their end': report.isFinished && report.failures === 0,
  'no page was lost': report.lost === 0,
  'the item of every page is in a feed': report.lostItems === 0,
  'no more pages were fetched again than a killed worker had under way':
    report.refetched <= report.kills * number('concurrency'),
  'no more pages were done twice than fetched again': report.doubledItems <= report.refetched,
  'no two requests to a host closer than its delay': report.shortGaps === 0,
  'nothing waits or is leased in Redis': report.left === 0,
};
console.log(
  `${report.seconds.toFixed(1)} s, ${report.kills} kills; lost ${report.lost}, fetched again ${report.refetched}, items twice ${report.doubledItems}, shortest gap ${report.shortestGap.toFixed(1)} ms, short gaps ${report.shortGaps}`,
);
for (const [what, holds] of Object.entries(checks))
  console.log(`${holds ? 'holds' : 'BROKEN'}: ${what}`);
process.exit(Object.values(checks).every(Boolean) ? 0 : 1);
