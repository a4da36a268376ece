import { once } from 'node:events';
/** Watches a fleet from outside: a site that spiders visit and whose log says what ran, and the sets in Redis. */
import { createServer } from 'node:http';

/** The site: `/run?n=7&ms=500` answers after half a second. Its log has a row for each visit. */
export async function startSite() {
  const visits = [];
  let open = 0;
  let most = 0;
  const server = createServer((request, response) => {
    const url = new URL(request.url, 'http://site');
    if (url.pathname !== '/run') return response.writeHead(404).end();
    const visit = { n: url.searchParams.get('n'), begin: performance.now(), end: undefined };
    visits.push(visit);
    most = Math.max(most, ++open);
    const timer = setTimeout(() => response.end('ok'), Number(url.searchParams.get('ms')));
    response.once('close', () => {
      clearTimeout(timer);
      open--;
      visit.end = performance.now();
      visit.isWhole = response.writableFinished;
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    visits,
    get open() {
      return open;
    },
    get most() {
      return most;
    },
    /** Whole visits of each `n`. */
    whole() {
      const counts = new Map();
      for (const { n, isWhole } of visits) if (isWhole) counts.set(n, (counts.get(n) ?? 0) + 1);
      return counts;
    },
    /** Visits of the same `n` at the same time. */
    overlaps() {
      let count = 0;
      for (const of of Map.groupBy(visits, ({ n }) => n).values()) {
        const sorted = of.toSorted((a, b) => a.begin - b.begin);
        for (let i = 1; i < sorted.length; i++) {
          if ((sorted[i - 1].end ?? Infinity) > sorted[i].begin) count++;
        }
      }
      return count;
    },
    close() {
      server.closeAllConnections();
      return new Promise((done) => server.close(done));
    },
  };
}

const look = `
local twice = 0
for i = 1, 4 do for j = i + 1, 4 do twice = twice + #redis.call('SINTER', KEYS[i], KEYS[j]) end end
local sizes = {}
for i = 1, 4 do sizes[i] = redis.call('SCARD', KEYS[i]) end
return {twice, #redis.call('SUNION', unpack(KEYS)), unpack(sizes)}`;

/** The four sets, looked at again and again. */
export class SetsWatch {
  samples = 0;
  /** Names in two sets at once, and in none, over all samples. */
  twice = 0;
  missing = 0;
  mostRunning = 0;
  mostOfOne = 0;
  /** The longest time, in seconds, that fewer than the limit were running while others were pending. */
  longestUnder = 0;
  now = { pending: -1, running: -1, finished: -1, failed: -1 };
  #redis;
  #total;
  #limit;
  #underSince;

  constructor(redis, total, limit = 0) {
    this.#redis = redis;
    this.#total = total;
    this.#limit = limit;
  }

  async sample() {
    const keys = ['pending', 'running', 'finished', 'failed'];
    const [twice, all, ...sizes] = await this.#redis.call('EVAL', look, 4, ...keys);
    this.samples++;
    this.twice += twice;
    this.missing += Math.max(0, this.#total - all);
    this.now = Object.fromEntries(keys.map((key, i) => [key, sizes[i]]));
    this.mostRunning = Math.max(this.mostRunning, this.now.running);
    this.#lookUnder();
    const owners = await this.#redis.call('HVALS', 'fleet:owner');
    for (const of of Map.groupBy(owners, (owner) => owner.split('|')[0]).values())
      this.mostOfOne = Math.max(this.mostOfOne, of.length);
  }

  /** From the first time on that the limit was reached: before that the machines start. */
  #lookUnder() {
    const { pending, running } = this.now;
    if (this.#limit === 0 || this.mostRunning < this.#limit) return;
    const isUnder = running < this.#limit && pending > 0;
    const now = performance.now();
    this.#underSince = isUnder ? (this.#underSince ?? now) : undefined;
    if (isUnder) this.longestUnder = Math.max(this.longestUnder, (now - this.#underSince) / 1000);
  }

  get line() {
    const { pending, running, finished, failed } = this.now;
    return `pending ${pending} running ${running} finished ${finished} failed ${failed}`;
  }
}

/** Numbers that are the same for the same seed. */
export function randomOf(seed) {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
}

/** Spiders as they are to be tested: of a hundred two cannot be built, and one ends its process. */
export function ordersOf(count, random, site, ms) {
  return Array.from({ length: count }, (_, n) => {
    const mode = n % 50 === 7 ? 'broken' : n % 100 === 13 ? 'crash' : 'good';
    return { spider: 'visit', args: { n: String(n), ms: String(ms(random)), mode, site } };
  });
}

export const sleep = (ms) =>
  new Promise((done) => {
    setTimeout(done, ms);
  });
