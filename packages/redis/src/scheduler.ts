import {
  type Crawler,
  type CrawlerSlots,
  type MaybePromise,
  type Request,
  type Scheduler,
  type SchedulerHooks,
  type Spider,
  toError,
} from 'lycosa';

import type { RedisConnection } from './connection.ts';
import { bytesOf, type Link, linkOf, readEntry } from './frontier-entry.ts';
import { HostWatch } from './frontier-hosts.ts';
import { KnownUrls } from './frontier-known.ts';
import { type Lease, Leases } from './frontier-leases.ts';
import { type FrontierSettings, frontierSettings } from './frontier-settings.ts';
import { connectWatched, type FrontierWatch } from './frontier-watch.ts';
import { type Claimed, Frontier, FrontierGoneError } from './frontier.ts';
import { RedisSpider } from './redis-spider.ts';

/** Most requests leased in one go. */
const maxBatch = 100;
/** Milliseconds between two looks into a frontier that has nothing for us now; it doubles from one to the other. */
const pollMs = [20, 500] as const;
/** Milliseconds that a leased request may wait for its slot here before others get it. */
const patienceMs = 1000;
/** Links in one script. */
const maxLinks = 2000;
/** Milliseconds that the goodbye to a Redis that is away may take. */
const goodbyeMs = 5000;

/** What the scheduler needs of a crawler. */
export type RedisSchedulerHost = Pick<
  Crawler,
  | 'settings'
  | 'slots'
  | 'stats'
  | 'log'
  | 'signals'
  | 'startHosts'
  | 'dropped'
  | 'flushFeeds'
  | 'spider'
>;

/**
 * A scheduler over Redis: any number of workers on any number of machines crawl as one. A request is leased, and
 * forgotten only when it is done, in the same step in which the links of its page are added; so whatever is killed,
 * nothing is lost. A host is held until its answer is in, so that its delay holds over all workers.
 */
export class RedisScheduler implements Scheduler {
  static fromCrawler(crawler: Crawler, hooks: SchedulerHooks): RedisScheduler {
    return new RedisScheduler(crawler, hooks);
  }

  readonly isShared = true;
  readonly #host: RedisSchedulerHost;
  readonly #hooks: SchedulerHooks;
  readonly #settings: FrontierSettings;
  readonly #concurrency: number;
  readonly #leases: Leases;
  readonly #hosts: HostWatch;
  readonly #known = new KnownUrls();
  readonly #waiter = { slotReady: (): void => this.#hooks.onReady() };
  #redis: RedisConnection | undefined;
  #watch: FrontierWatch | undefined;
  #frontier!: Frontier;
  #spider: Spider | undefined;
  /** Commands under way that may bring work. */
  readonly #adding = new Set<Promise<unknown>>();
  readonly #acking = new Set<Promise<void>>();
  #settled: Lease[] = [];
  #settling: Promise<void> | undefined;
  #asking: Promise<void> | undefined;
  #pollTimer: NodeJS.Timeout | undefined;
  #beatTimer: NodeJS.Timeout | undefined;
  #emptyPolls = 0;
  /** Since when nothing waits and nothing is leased anywhere. */
  #overSince: number | undefined;
  #startAttempt = '';
  #named = 0;
  #namedHere = 0;
  #isClosing = false;
  #hasFailed = false;
  #asideCount = 0;

  constructor(host: RedisSchedulerHost, hooks: SchedulerHooks) {
    this.#host = host;
    this.#hooks = hooks;
    this.#settings = frontierSettings(host.settings, host.spider.name);
    this.#concurrency = host.settings.get('CONCURRENT_REQUESTS') || Infinity;
    this.#leases = new Leases(this.#settings.leaseMs);
    this.#hosts = new HostWatch(host);
  }

  async open(spider: Spider): Promise<void> {
    this.#spider = spider;
    const { settings, log } = this.#host;
    const { redis, watch } = await connectWatched(this.#host, () => this.#known.clear());
    this.#watch = watch;
    try {
      this.#frontier = await Frontier.open(redis, watch, {
        ...this.#settings,
        order: settings.get('SCHEDULER_MEMORY_QUEUE'),
        newHostDelayMs: 1000 * newHostDelay(this.#host),
        flush: this.#settings.flushOnStart,
      });
      for (const warning of await redis.warnings()) log.warn(warning);
    } catch (thrown) {
      await redis.close();
      throw thrown;
    }
    this.#redis = redis;
    this.#tellOpened();
    const beatMs = this.#settings.leaseMs / 4;
    this.#beatTimer = setInterval(() => void this.#beat(), beatMs);
  }

  enqueue(request: Request, parent?: Request): MaybePromise<boolean> {
    const { stats } = this.#host;
    const isStart = this.#isStart(request);
    if (!request.dontFilter && !isStart && this.#known.has(request)) {
      stats.inc('dupefilter/filtered');
      return false;
    }
    const link = linkOf(request, this.#host.slots, isStart && this.#startAttempt !== '');
    if (bytesOf(link) > this.#settings.maxEntryBytes) return this.#tooLong(link);
    if (parent === undefined) return this.#add(link);
    const lease = this.#leases.of(parent);
    // The page went to another worker, which finds the link as well.
    if (lease === undefined) this.#handedOver(1);
    else lease.links.push(link);
    return true;
  }

  next(slots: CrawlerSlots): Request | undefined {
    for (const lease of this.#leases.waiting()) {
      const key = slots.keyOf(lease.request);
      if (this.#leases.isLate(lease)) {
        // It may be ours still, but not for certain: then nobody has to wait for its end.
        this.#host.stats.inc('scheduler/lease_lost');
        void this.#giveBack([lease], 0);
      } else if (slots.isReady(key)) {
        slots.reserve(key);
        this.#leases.start(lease);
        const { stats } = this.#host;
        // Now it is ours to account for.
        stats.inc('account/scheduled');
        stats.inc('scheduler/dequeued');
        stats.inc('scheduler/dequeued/redis');
        return lease.request;
      } else {
        const wait = slots.get(key).nextAt - performance.now();
        if (wait > patienceMs) void this.#giveBack([lease], wait);
        else slots.wait(key, this.#waiter);
      }
    }
    if (this.#pollTimer === undefined) this.#ask();
    return undefined;
  }

  done(request: Request): void {
    const lease = this.#leases.of(request);
    if (lease === undefined) return;
    this.#leases.settle(lease);
    this.#settled.push(lease);
    this.#settling ??= this.#settle();
  }

  release(request: Request): void {
    this.#handedOver(1);
    const lease = this.#leases.of(request);
    if (lease === undefined) return;
    this.#handedOver(lease.links.length);
    void this.#giveBack([lease], this.#hosts.restOf(lease.host));
  }

  /** Of the whole crawl; 1 as long as it is not certain that there is none. */
  get pending(): number {
    const since = this.#overSince;
    if (since !== undefined && performance.now() - since >= this.#settings.idleMs) return 0;
    return Math.max(1, this.#frontier.pending);
  }

  get leased(): number {
    return this.#leases.started;
  }

  /** It looks itself. */
  readonly nextDue = undefined;

  async claimStart(): Promise<boolean> {
    // Its start() takes what others have pushed, and every worker may.
    if (this.#spider instanceof RedisSpider) return true;
    while (!this.#isClosing && !this.#hasFailed) {
      const answer = await this.#frontier.claimStart().catch((thrown: unknown) => {
        this.#failed(thrown);
        return 'done' as const;
      });
      if (answer === 'done') return false;
      if (answer !== 'wait') {
        this.#startAttempt = answer.attempt;
        return true;
      }
      await new Promise((resolve) => {
        setTimeout(resolve, Math.min(500, this.#settings.leaseMs / 4)).unref();
      });
    }
    return false;
  }

  async startEnded(isComplete: boolean): Promise<void> {
    if (this.#startAttempt === '' || this.#isClosing) return;
    this.#startAttempt = '';
    await this.#frontier.endStart(isComplete);
  }

  /** Gives back what is leased. From then on the others have it all. */
  async close(reason: string): Promise<void> {
    this.#isClosing = true;
    clearInterval(this.#beatTimer);
    clearTimeout(this.#pollTimer);
    this.#hosts.close();
    if (this.#redis === undefined) return;
    const { promise: late, resolve: giveUp } = Promise.withResolvers<'late'>();
    const timer = setTimeout(() => giveUp('late'), goodbyeMs);
    const outcome = await Promise.race([this.#leave(reason), late]);
    clearTimeout(timer);
    this.#watch!.close();
    if (outcome === 'late') {
      this.#hasFailed = true;
      this.#host.log.error(
        `Redis at ${this.#redis.url} does not answer: ${this.#leases.size} requests are not given back. The other workers get them when their leases end, in ${this.#settings.leaseMs / 1000} s.`,
      );
    }
    await this.#redis.close();
  }

  async #leave(reason: string): Promise<void> {
    try {
      await this.#asking;
      await this.#settling;
      await Promise.all([...this.#acking, ...this.#adding]);
      const left = [...this.#leases.all()];
      if (left.length > 0) await this.#giveBack(left, 0);
      await this.#frontier.leave(reason === 'finished' && !this.#settings.persist);
    } catch (thrown) {
      this.#failed(thrown);
    }
  }

  #isStart({ meta }: Request): boolean {
    return meta.isStartRequest === true && !('retryTimes' in meta) && !('redirectTimes' in meta);
  }

  /** A request that no page led to. It waits in Redis before anybody hears that it is accepted. */
  #add(link: Link): Promise<boolean> {
    const adding = this.#addNow(link);
    this.#adding.add(adding);
    return adding.finally(() => this.#adding.delete(adding));
  }

  async #addNow(link: Link): Promise<boolean> {
    this.#overSince = undefined;
    const { startHosts, stats } = this.#host;
    if (startHosts.size > this.#namedHere) {
      const hosts = [...startHosts].slice(this.#namedHere);
      this.#namedHere = startHosts.size;
      await this.#frontier.nameHosts(hosts);
    }
    const [duplicate] = await this.#frontier.add(link.args, this.#startAttempt);
    this.#known.add(link.request);
    if (duplicate !== undefined) {
      stats.inc('dupefilter/filtered');
      return false;
    }
    this.#accepted(1);
    this.#look();
    return true;
  }

  /** They are in the frontier, and in the account of whoever takes them. */
  #accepted(count: number): void {
    this.#handedOver(count);
    this.#host.stats.inc('scheduler/enqueued', count);
    this.#host.stats.inc('scheduler/enqueued/redis', count);
  }

  #handedOver(count: number): void {
    if (count > 0) this.#host.stats.inc('account/scheduled', -count);
  }

  #tooLong(link: Link): true {
    const { request } = link;
    const message = `${bytesOf(link)} bytes, and REDIS_MAX_ENTRY_SIZE is ${this.#settings.maxEntryBytes}`;
    this.#host.log.warn(`${request.toString()} is too long for the frontier: ${message}.`);
    this.#host.stats.inc('security/blocked/REDIS_MAX_ENTRY_SIZE');
    this.#host.dropped(request, 'too-long', message);
    // It was dropped, but not as the duplicate that false would make of it.
    return true;
  }

  /** Looks for work, unless it is known when there will be some. */
  #ask(): void {
    const room = this.#concurrency - this.#leases.size;
    if (this.#asking !== undefined || this.#isClosing || this.#hasFailed || room <= 0) return;
    this.#asking = this.#askNow(Math.min(room, maxBatch)).then(
      () => {
        this.#asking = undefined;
        this.#hooks.onReady();
      },
      (thrown: unknown) => {
        this.#asking = undefined;
        this.#failed(thrown);
      },
    );
  }

  async #askNow(most: number): Promise<void> {
    const frontier = this.#frontier;
    const askedAt = performance.now();
    const { claimed, buried } = await frontier.claim(most);
    if (buried > 0) this.#setAside('too long, or not in the place of one', buried);
    if (frontier.namedCount !== this.#named) {
      this.#named = frontier.namedCount;
      for (const host of await frontier.namedHosts()) this.#host.startHosts.add(host);
      this.#namedHere = this.#host.startHosts.size;
    }
    for (const entry of claimed) await this.#take(entry, askedAt);
    const isBusy =
      frontier.leases > 0 || frontier.hasWork || this.#leases.size > 0 || this.#adding.size > 0;
    if (isBusy) this.#overSince = undefined;
    else this.#overSince ??= performance.now();
    if (claimed.length > 0) this.#emptyPolls = 0;
    else this.#pollLater();
  }

  async #take({ token, host, delayMs, text }: Claimed, askedAt: number): Promise<void> {
    const { slots } = this.#host;
    let request: Request;
    try {
      request = readEntry(text, this.#spider!);
    } catch (thrown) {
      const { message } = toError(thrown);
      this.#setAside(message, 1);
      return this.#frontier.bury(token, message);
    }
    // By address the slot is known only when the name is.
    await slots.resolve(request);
    if (delayMs !== undefined) this.#hosts.learn(slots.keyOf(request), delayMs);
    this.#leases.add({ token, host, request, links: [], until: askedAt + this.#settings.leaseMs });
  }

  #setAside(reason: string, count: number): void {
    const { stats, log } = this.#host;
    stats.inc('scheduler/set_aside', count);
    // The rest are most likely the same mistake; the list dead has them all.
    log[this.#asideCount++ === 0 ? 'warn' : 'debug'](
      `${count} entries of the frontier ${this.#settings.name} were set aside: ${reason}`,
    );
  }

  #pollLater(): void {
    clearTimeout(this.#pollTimer);
    if (this.#isClosing) return;
    const { dueMs } = this.#frontier;
    const idle = Math.min(pollMs[0] * 2 ** this.#emptyPolls++, pollMs[1]);
    // A little apart from one another, so that not all workers come in the same millisecond.
    const wait = Math.min(dueMs === undefined ? idle : Math.max(dueMs, 1), pollMs[1]);
    this.#pollTimer = setTimeout(
      () => {
        this.#pollTimer = undefined;
        this.#hooks.onReady();
      },
      wait + Math.random() * Math.min(wait / 2, 10),
    );
  }

  /** Something has changed: looks at once if there is anything due, or nothing at all any more. */
  #look(): void {
    const { dueMs, hasWork, leases } = this.#frontier;
    if (this.#isClosing) return;
    this.#emptyPolls = 0;
    if (this.#pollTimer !== undefined && dueMs !== 0 && (hasWork || leases > 0))
      return this.#pollLater();
    clearTimeout(this.#pollTimer);
    this.#pollTimer = undefined;
    this.#hooks.onReady();
  }

  /** Makes sure that what done requests have yielded is in the feeds, then tells the frontier that they are done. */
  async #settle(): Promise<void> {
    while (this.#settled.length > 0) {
      const settled = this.#settled;
      this.#settled = [];
      try {
        if (!(await this.#host.flushFeeds()))
          throw new Error('A feed has failed: what its items come from is not done.');
        for (const lease of settled) {
          const acking = this.#ack(lease);
          this.#acking.add(acking);
          void acking.finally(() => this.#acking.delete(acking));
        }
      } catch (thrown) {
        this.#failed(thrown);
        break;
      }
    }
    this.#settling = undefined;
  }

  async #ack(lease: Lease): Promise<void> {
    const { token, host, links } = lease;
    try {
      // So many that they would hold Redis up go before the rest; what is added twice is a duplicate.
      while (links.length > maxLinks) {
        const some = links.splice(0, maxLinks);
        this.#added(some, await this.#frontier.add(argsOf(some)));
      }
      const known = await this.#frontier.ack(token, this.#hosts.report(host), argsOf(links));
      this.#leases.end(lease);
      if (known === undefined) return this.#late(lease);
      this.#added(links, known);
      this.#look();
    } catch (thrown) {
      this.#failed(thrown);
    }
  }

  #added(links: readonly Link[], duplicates: readonly number[]): void {
    for (const { request } of links) this.#known.add(request);
    for (const place of duplicates) {
      this.#host.stats.inc('dupefilter/filtered');
      this.#host.dropped(links[place]!.request, 'duplicate');
    }
    this.#accepted(links.length - duplicates.length);
  }

  async #giveBack(leases: readonly Lease[], pauseMs: number): Promise<void> {
    for (const lease of leases) this.#leases.end(lease);
    const giving = this.#frontier
      .nack(
        leases.map(({ token }) => token),
        pauseMs === Infinity ? patienceMs : pauseMs,
      )
      .catch((thrown: unknown) => this.#failed(thrown));
    this.#acking.add(giving);
    await giving;
    this.#acking.delete(giving);
    this.#look();
  }

  async #beat(): Promise<void> {
    const sentAt = performance.now();
    const leases = [...this.#leases.all()];
    try {
      const lost = new Set(await this.#frontier.beat(leases.map(({ token }) => token)));
      for (const lease of leases) {
        if (!lost.has(lease.token)) lease.until = sentAt + this.#settings.leaseMs;
        else if (this.#leases.has(lease) && !this.#leases.isSettled(lease)) this.#forget(lease);
      }
    } catch (thrown) {
      this.#failed(thrown);
    }
  }

  /** Its lease has ended: another worker has it, with the links of its page. */
  #forget(lease: Lease): void {
    this.#leases.end(lease);
    this.#late(lease);
  }

  #late({ request, links }: Lease): void {
    this.#handedOver(links.length);
    this.#host.stats.inc('scheduler/lease_lost');
    this.#host.log.debug(`The lease of ${request.toString()} had ended; another worker makes it`);
  }

  #failed(thrown: unknown): void {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    if (thrown instanceof FrontierGoneError && thrown.isOver) {
      // We were away so long that the others have finished without us.
      for (const lease of this.#leases.all()) this.#forget(lease);
      this.#overSince = -Infinity;
      this.#hooks.onReady();
    } else if (this.#isClosing) {
      const error = toError(thrown);
      this.#host.log.error(`The frontier could not be closed: ${error.message}`, { error });
    } else {
      this.#hooks.onError(thrown);
    }
  }

  #tellOpened(): void {
    const { name, pending, seen, others } = this.#frontier;
    const { log } = this.#host;
    if (others > 0) log.info(`Joined the crawl ${name}, ${others} workers beside this one`);
    else if (seen > 0)
      log.info(`Resuming the crawl ${name}: ${pending} requests pending, ${seen} seen`);
    if (others > 0 && this.#settings.flushOnStart)
      log.warn(`SCHEDULER_FLUSH_ON_START is not followed: others are at work on ${name}.`);
  }
}

function argsOf(links: readonly Link[]): (string | Buffer)[] {
  return links.flatMap(({ args }) => args);
}

function newHostDelay({ settings }: RedisSchedulerHost): number {
  const delay = settings.get('DOWNLOAD_DELAY');
  if (!settings.get('AUTOTHROTTLE_ENABLED')) return delay;
  return Math.max(delay, settings.get('AUTOTHROTTLE_START_DELAY'));
}
