import {
  type CallbackRef,
  type Json,
  Request,
  SettingsError,
  Spider,
  toError,
  UsageError,
} from 'lycosa';

import { flagOf, numberOf } from './connection.ts';
import { frontierSettings } from './frontier-settings.ts';
import { type StartType, StartUrls } from './frontier-start-urls.ts';
import { connectWatched } from './frontier-watch.ts';

declare module 'lycosa' {
  interface SettingsMap {
    /** Key that a RedisSpider takes its start URLs from; `%(name)s:start_urls` if absent. */
    REDIS_START_URLS_KEY: string | undefined;
    /** The key must be a set. */
    REDIS_START_URLS_AS_SET: boolean | undefined;
    /** The key must be a sorted set: the highest score comes first. */
    REDIS_START_URLS_AS_ZSET: boolean | undefined;
    /** Start URLs taken at a time; CONCURRENT_REQUESTS if absent. */
    REDIS_START_URLS_BATCH_SIZE: number | undefined;
    /** Seconds without work after which a RedisSpider closes; 0 or absent is never. */
    MAX_IDLE_TIME_BEFORE_CLOSE: number | undefined;
  }
}

/** Milliseconds between two looks at a key that is empty; it doubles from one to the other. */
const pollMs = [50, 1000] as const;

/**
 * A spider that waits for start URLs in Redis: a list, set or sorted set of URLs, or of JSON objects with `url`, and where
 * wanted `method`, `headers`, `body`, `meta`, `cbKwargs`, `callback`, `priority`. Any number of workers may wait at one
 * key. A URL stays in Redis until its request is in the frontier, so that none is lost with the worker that took it.
 *
 * @typeParam Item - What its callbacks yield beside requests.
 */
export class RedisSpider<Item = unknown> extends Spider<Item> {
  /** The key; `REDIS_START_URLS_KEY` if absent. */
  readonly redisKey?: string;
  /** Start URLs taken at a time; `REDIS_START_URLS_BATCH_SIZE` if absent. */
  readonly redisBatchSize?: number;
  /** Seconds without work after which it closes, 0 is never; `MAX_IDLE_TIME_BEFORE_CLOSE` if absent. */
  readonly maxIdleTime?: number;

  /** Goes on until the spider has been idle for `maxIdleTime`. */
  override async *start(): AsyncGenerator<Request, void, undefined> {
    const { settings, log } = this;
    const { leaseMs, maxEntryBytes } = frontierSettings(settings, this.name);
    const { key, type, batch, maxIdleMs } = this.#options();
    const { redis, watch } = await connectWatched(this.crawler);
    const urls = new StartUrls(redis, watch, key, { leaseMs, type });
    try {
      log.info(`Waiting for start URLs in ${key}`);
      let busyAt = performance.now();
      let wait: number = pollMs[0];
      while (maxIdleMs === 0 || performance.now() - busyAt < maxIdleMs) {
        const entries = await urls.take(batch);
        for (const entry of entries) {
          const made = this.#make(entry.text, maxEntryBytes);
          if (made instanceof Request) yield made;
          // Asked for the next one: this one is in the frontier.
          await urls.done(entry, typeof made === 'string' ? made : '');
        }
        if (entries.length > 0 || this.#isBusy) busyAt = performance.now();
        wait = entries.length > 0 ? pollMs[0] : Math.min(2 * wait, pollMs[1]);
        if (entries.length === 0) await sleep(wait);
      }
    } finally {
      watch.close();
      await urls.close().catch(() => {});
      await redis.close();
    }
  }

  /**
   * The request of a start URL, undefined for none. Override it for data of your own.
   *
   * @throws UsageError for what cannot be used: it is counted and goes to the list `<key>:dead`.
   */
  makeRequestFromData(data: string): Request | undefined {
    if (!data.startsWith('{')) return new Request(data.trim(), { dontFilter: true });
    const { url, ...options } = checkStart(data);
    return new Request(url, { dontFilter: true, ...options });
  }

  get #isBusy(): boolean {
    const { engine } = this.crawler;
    return engine !== undefined && engine.inFlight + engine.scheduler.pending > 0;
  }

  /** The request, or why there is none. */
  #make(text: string, maxBytes: number): Request | string | undefined {
    try {
      if (Buffer.byteLength(text) > maxBytes)
        throw new UsageError(`It has more than ${maxBytes} bytes (REDIS_MAX_ENTRY_SIZE).`);
      const request = this.makeRequestFromData(text);
      if (request !== undefined && !/^https?:/i.test(request.url))
        throw new UsageError(`It is no URL of http or https.`);
      return request;
    } catch (thrown) {
      const { message } = toError(thrown);
      this.crawler.stats.inc('redis_spider/bad_start_count');
      this.log.warn(`The start URL ${JSON.stringify(text.slice(0, 200))} is not used: ${message}`);
      return message;
    }
  }

  #options(): { key: string; type: StartType | undefined; batch: number; maxIdleMs: number } {
    const { settings } = this;
    const isSet = flagOf(
      'REDIS_START_URLS_AS_SET',
      settings.get('REDIS_START_URLS_AS_SET') ?? false,
    );
    const isZset = flagOf(
      'REDIS_START_URLS_AS_ZSET',
      settings.get('REDIS_START_URLS_AS_ZSET') ?? false,
    );
    if (isSet && isZset) {
      throw new SettingsError(
        'REDIS_START_URLS_AS_SET and REDIS_START_URLS_AS_ZSET are both true. Leave one of them out.',
      );
    }
    const key = this.redisKey ?? settings.get('REDIS_START_URLS_KEY') ?? '%(name)s:start_urls';
    const batch =
      this.redisBatchSize ??
      settings.get('REDIS_START_URLS_BATCH_SIZE') ??
      (settings.get('CONCURRENT_REQUESTS') || 16);
    const maxIdle = this.maxIdleTime ?? settings.get('MAX_IDLE_TIME_BEFORE_CLOSE') ?? 0;
    return {
      key: key.replaceAll('%(name)s', this.name),
      type: isSet ? 'set' : isZset ? 'zset' : undefined,
      batch: numberOf('REDIS_START_URLS_BATCH_SIZE', batch, 1, 10_000),
      maxIdleMs: 1000 * numberOf('MAX_IDLE_TIME_BEFORE_CLOSE', maxIdle, 0, 1e7),
    };
  }
}

type StartFields = {
  url: string;
  method?: string;
  headers?: Record<string, string>;
  body?: string;
  meta?: Record<string, Json>;
  cbKwargs?: Record<string, Json>;
  callback?: CallbackRef;
  priority?: number;
};

const isText = (value: unknown): boolean => typeof value === 'string';
const isObject = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  !Object.hasOwn(value, '__proto__');

const checks: Record<keyof StartFields, (value: unknown) => boolean> = {
  url: isText,
  method: isText,
  headers: (value) => isObject(value) && Object.values(value as object).every(isText),
  body: isText,
  meta: isObject,
  cbKwargs: isObject,
  callback: isText,
  priority: Number.isFinite,
};

/** @throws UsageError that names the field that is wrong. */
function checkStart(data: string): StartFields {
  let fields: unknown;
  try {
    fields = JSON.parse(data);
  } catch {
    throw new UsageError('It is not JSON.');
  }
  if (!isObject(fields) || !Object.hasOwn(fields as object, 'url'))
    throw new UsageError('It has no url.');
  for (const [name, value] of Object.entries(fields as object)) {
    const fits = Object.hasOwn(checks, name) ? checks[name as keyof StartFields] : undefined;
    if (fits === undefined)
      throw new UsageError(
        `It has a field ${JSON.stringify(name.slice(0, 50))}; known are ${Object.keys(checks).join(', ')}.`,
      );
    if (!fits(value)) throw new UsageError(`Its field ${name} is of the wrong type.`);
  }
  return fields as StartFields;
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
