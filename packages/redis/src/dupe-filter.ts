import type { Crawler, DupeFilter, Request } from 'lycosa';

import type { RedisConnection } from './connection.ts';
import { KnownUrls } from './frontier-known.ts';
import { frontierName } from './frontier-settings.ts';
import { connectWatched, type FrontierWatch } from './frontier-watch.ts';
import { frontierKey } from './frontier.ts';

/**
 * Knows in Redis which requests have been seen: a set of 16-byte fingerprints that any number of crawls share, each with
 * a queue of its own. What is seen by a crawl that is killed before it made it stays seen; `RedisScheduler` has its own
 * filter, which does not lose it.
 */
export class RedisDupeFilter implements DupeFilter {
  static fromCrawler(crawler: Crawler): RedisDupeFilter {
    return new RedisDupeFilter(crawler);
  }

  readonly #crawler: Pick<Crawler, 'settings' | 'log' | 'fingerprints'>;
  readonly #key: string;
  readonly #known = new KnownUrls();
  #redis: RedisConnection | undefined;
  #watch: FrontierWatch | undefined;
  /** Requests that this crawl has seen first. */
  size = 0;

  constructor(crawler: Pick<Crawler, 'settings' | 'log' | 'spider' | 'fingerprints'>) {
    this.#crawler = crawler;
    this.#key = frontierKey(frontierName(crawler.settings, crawler.spider.name), 'seen');
  }

  async open(): Promise<void> {
    const { redis, watch } = await connectWatched(this.#crawler, () => this.#known.clear());
    this.#redis = redis;
    this.#watch = watch;
  }

  async requestSeen(request: Request): Promise<boolean> {
    const { fingerprints } = this.#crawler;
    if (fingerprints.isUrlEnough && this.#known.has(request)) return true;
    const print = fingerprints.of(request);
    const isNew = await this.#watch!.run(() => this.#redis!.call('SADD', this.#key, print));
    this.#known.add(request);
    this.size += Number(isNew);
    return isNew === 0;
  }

  async close(): Promise<void> {
    this.#watch?.close();
    await this.#redis?.close();
  }
}
