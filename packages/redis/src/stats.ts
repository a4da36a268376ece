import { randomUUID } from 'node:crypto';

import { type Crawler, StatsCollector, type StatValue } from 'lycosa';

import type { RedisConnection } from './connection.ts';
import { frontierName } from './frontier-settings.ts';
import { connectWatched, type FrontierWatch } from './frontier-watch.ts';
import { frontierKey } from './frontier.ts';

/** Milliseconds between two writes, and for the last one. */
const flushMs = 2000;
const goodbyeMs = 5000;

// Each write of a worker has a number: one that is sent twice, as its answer was lost, counts once.
const script = `
local key, writes = KEYS[1], KEYS[2]
if tonumber(redis.call('HGET', writes, ARGV[1]) or 0) >= tonumber(ARGV[2]) then return 0 end
redis.call('HSET', writes, ARGV[1], ARGV[2])
for i = 3, #ARGV, 3 do
  local what, name, value = ARGV[i], ARGV[i + 1], ARGV[i + 2]
  if what == 'inc' then redis.call('HINCRBYFLOAT', key, name, value)
  else
    local old = tonumber(redis.call('HGET', key, name) or '')
    local new = tonumber(value)
    if what == 'set' or not old or (what == 'max' and new > old) or (what == 'min' and new < old) then
      redis.call('HSET', key, name, value)
    end
  end
end
return 1`;

/**
 * Stats of a crawl by many workers: what each counts is added up in the hash `{crawl}:stats` in Redis, every two seconds
 * and at the end. `get()` and the log tell of this worker alone.
 */
export class RedisStatsCollector extends StatsCollector {
  static fromCrawler(crawler: Crawler): RedisStatsCollector {
    return new RedisStatsCollector(crawler);
  }

  readonly #crawler: Pick<Crawler, 'settings' | 'log'>;
  readonly #keys: readonly string[];
  readonly #worker = randomUUID();
  #added = new Map<string, number>();
  readonly #changed = new Map<string, 'set' | 'max' | 'min'>();
  #redis: RedisConnection | undefined;
  #watch: FrontierWatch | undefined;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();
  #writes = 0;

  constructor(crawler: Pick<Crawler, 'settings' | 'log' | 'spiderClass' | 'signals'>) {
    super();
    this.#crawler = crawler;
    const name = frontierName(crawler.settings, crawler.spiderClass.name);
    this.#keys = [frontierKey(name, 'stats'), frontierKey(name, 'stats:writes')];
    crawler.signals.connect('spider_opened', () => this.#open());
    // The last of all: whoever hears of the end before may count.
    crawler.signals.connect('crawl_ended', () => this.#close());
  }

  override set(key: string, value: StatValue): void {
    super.set(key, value);
    // A number that is set says how much there is, not how much more.
    this.#added.delete(key);
    this.#changed.set(key, 'set');
  }

  override inc(key: string, count = 1, start = 0): void {
    super.inc(key, count, start);
    this.#added.set(key, (this.#added.get(key) ?? start) + count);
  }

  override max(key: string, value: number): void {
    super.max(key, value);
    this.#changed.set(key, 'max');
  }

  override min(key: string, value: number): void {
    super.min(key, value);
    this.#changed.set(key, 'min');
  }

  async #open(): Promise<void> {
    const { redis, watch } = await connectWatched(this.#crawler);
    this.#redis = redis;
    this.#watch = watch;
    this.#timer = setInterval(() => {
      this.#writing = this.#writing.then(() => this.#write());
    }, flushMs).unref();
  }

  async #close(): Promise<void> {
    clearInterval(this.#timer);
    const redis = this.#redis;
    if (redis === undefined) return;
    // A Redis that is away is not waited for: the log has the stats.
    const timer = setTimeout(() => {
      this.#watch!.close();
      void redis.close();
    }, goodbyeMs);
    this.#writing = this.#writing.then(() => this.#write());
    await this.#writing;
    clearTimeout(timer);
    this.#watch!.close();
    await redis.close();
  }

  async #write(): Promise<void> {
    const args: string[] = [];
    for (const [name, count] of this.#added) args.push('inc', name, String(count));
    for (const [name, how] of this.#changed) args.push(how, name, textOf(this.get(name)));
    if (args.length === 0) return;
    this.#added = new Map();
    this.#changed.clear();
    const numbered = [this.#worker, String(++this.#writes), ...args];
    try {
      await this.#watch!.run(() =>
        this.#redis!.call('EVAL', script, this.#keys.length, ...this.#keys, ...numbered),
      );
    } catch (thrown) {
      this.#crawler.log.error(
        `Stats could not be written to Redis: ${(thrown as Error).message}. The log has those of this worker.`,
      );
    }
  }
}

function textOf(value: StatValue | undefined): string {
  return value instanceof Date ? value.toISOString() : String(value ?? '');
}
