import { CloseSpider, type Crawler, type CrawlResult, type Extension, NotConfigured } from 'lycosa';

import { connectRedis, type RedisConnection, redisOptions } from './connection.ts';
import { type ReasonVerdicts, recordOf, verdictOf } from './reasons.ts';
import { type Claim, SpiderSets, spiderSetsOptions } from './spider-sets.ts';

declare module 'lycosa' {
  interface SettingsMap {
    /** Spiders that may run on one machine at once; 20 if absent, 0 is no limit. */
    SPIDER_COUNT: number | undefined;
    /** Spiders that may run at once on all machines together; no limit if absent. */
    FLEET_SPIDER_COUNT: number | undefined;
    /** Before the name of every key of the fleet in Redis; nothing if absent. */
    FLEET_PREFIX: string | undefined;
    /** What the limit per machine takes for one machine; the host name if absent. */
    FLEET_MACHINE: string | undefined;
    /** Seconds after which a running spider that nobody renews is pending again; 120 if absent. */
    FLEET_LEASE: number | undefined;
    /** What close reasons mean, over the built-in table: `{ banned: 'failed' }`, or a function of the result. */
    FLEET_REASONS: ReasonVerdicts | undefined;
  }
}

/** What the limit needs of a crawler. */
interface CountedCrawl {
  readonly signals: Crawler['signals'];
  readonly log: Crawler['log'];
  readonly engine: Pick<NonNullable<Crawler['engine']>, 'closeSpider'> | undefined;
}

interface SpiderCountLimitOptions {
  readonly open: () => Promise<RedisConnection>;
  readonly sets: (redis: RedisConnection) => SpiderSets;
  readonly reasons: ReasonVerdicts;
  /** Milliseconds that Redis gets for an answer. */
  readonly patienceMs: number;
}

/**
 * Keeps the sets `pending`, `running` and `finished` in Redis in step with the crawl, and closes a spider for which
 * there is no room. Redis may go and come: the crawl goes on.
 */
export class SpiderCountLimit implements Extension {
  static fromCrawler(crawler: Crawler): SpiderCountLimit {
    // The agent of a fleet counts for its hosts.
    if (process.env['LYCOSA_FLEET_HOST'] !== undefined) throw new NotConfigured();
    const { settings, log } = crawler;
    const redis = redisOptions(settings);
    const owner = process.env['LYCOSA_FLEET_OWNER'];
    const options = { ...spiderSetsOptions(settings), ...(owner && { owner }) };
    return new SpiderCountLimit(crawler, {
      open: () =>
        connectRedis({
          ...redis,
          onLost: (error) => log.warn(`Redis is lost: ${error.message}. The crawl goes on.`),
        }),
      sets: (connection) => new SpiderSets(connection, options),
      reasons: settings.get('FLEET_REASONS') ?? {},
      patienceMs: redis.timeoutMs ?? 5000,
    });
  }

  readonly #crawl: CountedCrawl;
  readonly #options: SpiderCountLimitOptions;
  #redis: RedisConnection | undefined;
  #sets: SpiderSets | undefined;
  #claim: Claim | undefined;
  #timer: NodeJS.Timeout | undefined;
  #name = '';
  /** A crawl that was refused leaves the sets alone. */
  #isRefused = false;
  #since = performance.now();

  constructor(crawl: CountedCrawl, options: SpiderCountLimitOptions) {
    this.#crawl = crawl;
    this.#options = options;
    const { signals } = crawl;
    signals.connect('spider_opened', ({ spider }) => this.#opened(spider.name));
    // Not spider_closed: only now are the feeds stored, and every other listener is done.
    signals.connect('crawl_ended', ({ result }) => this.#ended(result), { phase: 'after' });
  }

  async #opened(name: string): Promise<void> {
    this.#name = name;
    this.#since = performance.now();
    try {
      await this.#enter();
    } catch (error) {
      if (error instanceof CloseSpider) throw error;
      this.#crawl.log.warn(
        `${name} runs uncounted until Redis can be asked: ${(error as Error).message}`,
      );
    }
    this.#beat();
  }

  /** @throws CloseSpider where there is no room, or the spider runs elsewhere. */
  async #enter(): Promise<void> {
    const sets = await this.#connect();
    const claim = await this.#inTime(sets.claim(this.#name));
    if (typeof claim === 'object') {
      this.#claim = claim;
      return;
    }
    this.#isRefused = true;
    throw new CloseSpider(claim === 'limit' ? 'spider_count_limit' : 'spider_already_running');
  }

  async #connect(): Promise<SpiderSets> {
    this.#redis ??= await this.#options.open();
    return (this.#sets ??= this.#options.sets(this.#redis));
  }

  /** One renewal after the other, each in a fifth of the lease, never all spiders at the same moment. */
  #beat(): void {
    const { leaseMs = 5000 } = this.#sets ?? {};
    const delay = (leaseMs / 5) * (0.8 + 0.4 * Math.random());
    this.#timer = setTimeout(() => void this.#renew(), delay).unref();
  }

  async #renew(): Promise<void> {
    const timer = this.#timer;
    try {
      if (this.#claim === undefined) await this.#enter();
      else await this.#keep(this.#claim);
    } catch (error) {
      if (error instanceof CloseSpider) this.#crawl.engine?.closeSpider(error.reason);
      else this.#crawl.log.debug(`The lease was not renewed: ${(error as Error).message}`);
    }
    // The crawl may have ended meanwhile.
    if (this.#timer === timer && !this.#isRefused) this.#beat();
  }

  async #keep(claim: Claim): Promise<void> {
    const answer = await this.#inTime(this.#sets!.renew(claim));
    if (answer === undefined) return;
    if (answer !== 'lost') {
      this.#crawl.engine?.closeSpider('stopped', answer);
      return;
    }
    this.#isRefused = true;
    this.#crawl.log.warn(`The lease of ${claim.name} ended and it runs elsewhere: stopping.`);
    this.#crawl.engine?.closeSpider('lease_lost', 'fast');
  }

  async #ended(result: CrawlResult): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    try {
      if (!this.#isRefused) await this.#leave(result);
    } catch (error) {
      this.#crawl.log.error(
        `How ${result.spider} ended could not be told to Redis: ${(error as Error).message}. It is pending again when its lease ends.`,
      );
    }
    await this.#redis?.close();
  }

  async #leave(result: CrawlResult): Promise<void> {
    const verdict = verdictOf(result, this.#options.reasons);
    if (verdict === 'none') return;
    const sets = await this.#connect();
    // It could not start, or Redis was away all the time: this is the first that the sets hear of it.
    const claim = this.#claim ?? (await this.#inTime(sets.claim(result.spider)));
    if (typeof claim === 'string') return;
    const seconds = (performance.now() - this.#since) / 1000;
    const to = verdict === 'retry' ? 'failed' : verdict;
    const isOurs = await this.#inTime(sets.release(claim, to, recordOf(result, seconds)));
    if (!isOurs) {
      this.#crawl.log.warn(`${claim.name} ended here after a later run of it had begun.`);
    }
  }

  /** A Redis that is away must not hold the crawl. */
  async #inTime<T>(promise: Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error('Redis did not answer')), this.#options.patienceMs);
    });
    // What comes later is nobody's.
    promise.catch(() => {});
    try {
      return await Promise.race([promise, late]);
    } finally {
      clearTimeout(timer);
    }
  }
}
