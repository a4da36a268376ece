import type { Crawler, ItemPipeline } from 'lycosa';

import type { RedisConnection } from './connection.ts';
import { connectWatched, type FrontierWatch } from './frontier-watch.ts';

declare module 'lycosa' {
  interface SettingsMap {
    /** List that `RedisPipeline` pushes items to; `%(spider)s:items` if absent. */
    REDIS_ITEMS_KEY: string | undefined;
  }
}

/** Pushes each item as JSON to the end of a list in Redis, and lets it go on when it is there. */
export class RedisPipeline<Item = unknown> implements ItemPipeline<Item> {
  static fromCrawler(crawler: Crawler): RedisPipeline {
    return new this(crawler);
  }

  readonly #crawler: Pick<Crawler, 'settings' | 'log' | 'spider'>;
  #redis: RedisConnection | undefined;
  #watch: FrontierWatch | undefined;

  constructor(crawler: Pick<Crawler, 'settings' | 'log' | 'spider'>) {
    this.#crawler = crawler;
  }

  async openSpider(): Promise<void> {
    const { redis, watch } = await connectWatched(this.#crawler);
    this.#redis = redis;
    this.#watch = watch;
  }

  async processItem(item: Item): Promise<Item> {
    const text = this.serialize(item);
    await this.#watch!.run(() => this.#redis!.call('RPUSH', this.itemKey(item), text));
    return item;
  }

  async closeSpider(): Promise<void> {
    this.#watch?.close();
    await this.#redis?.close();
  }

  /** The list of an item. */
  protected itemKey(_item: Item): string {
    const key = this.#crawler.settings.get('REDIS_ITEMS_KEY') || '%(spider)s:items';
    return key.replaceAll('%(spider)s', this.#crawler.spider.name);
  }

  /** An item as text. */
  protected serialize(item: Item): string {
    return JSON.stringify(item);
  }
}
