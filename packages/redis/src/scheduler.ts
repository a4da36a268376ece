import {
  type Crawler,
  type CrawlerSlots,
  type MaybePromise,
  type Request,
  type Scheduler,
  type SchedulerHooks,
  toError,
} from 'lycosa';

import type { RedisConnection } from './connection.ts';
import { Acks } from './frontier-acks.ts';
import { Claims } from './frontier-claims.ts';
import { bytesOf, type Link, linkOf } from './frontier-entry.ts';
import { HostWatch } from './frontier-hosts.ts';
import { KnownUrls } from './frontier-known.ts';
import { Leases } from './frontier-leases.ts';
import { frontierSettings } from './frontier-settings.ts';
import { connectWatched, type FrontierWatch } from './frontier-watch.ts';
import { Account, type FrontierWorker, type RedisSchedulerHost } from './frontier-worker.ts';
import { Frontier, FrontierGoneError } from './frontier.ts';
import { RedisSpider } from './redis-spider.ts';

/** Milliseconds that a leased request may wait for its slot here before others get it. */
const patienceMs = 1000;
/** Milliseconds that the goodbye to a Redis that is away may take. */
const goodbyeMs = 5000;

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
  /** It looks itself. */
  readonly nextDue = undefined;
  readonly #host: RedisSchedulerHost;
  readonly #hooks: SchedulerHooks;
  readonly #worker: Omit<FrontierWorker, 'frontier'>;
  readonly #waiter = { slotReady: (): void => this.#hooks.onReady() };
  #redis: RedisConnection | undefined;
  #watch!: FrontierWatch;
  #frontier!: Frontier;
  #claims!: Claims;
  #acks!: Acks;
  #beatTimer: NodeJS.Timeout | undefined;
  /** Requests of `start()` and of extensions on their way. */
  readonly #adding = new Set<Promise<boolean>>();
  #startAttempt = '';
  /** Hosts that the others know of. */
  #namedCount = 0;
  #isBeating = false;
  #isClosing = false;
  #hasFailed = false;

  constructor(host: RedisSchedulerHost, hooks: SchedulerHooks) {
    this.#host = host;
    this.#hooks = hooks;
    const settings = frontierSettings(host.settings, host.spider.name);
    const leases = new Leases(settings.leaseMs);
    host.slots.dropJitter();
    this.#worker = {
      host,
      settings,
      leases,
      hosts: new HostWatch(
        host,
        (request) => leases.of(request) !== undefined,
        (key) => {
          if (this.#redis !== undefined && !this.#isClosing) this.#acks.hostChanged(key);
        },
      ),
      known: new KnownUrls(),
      account: new Account(host.stats),
      fail: (thrown) => this.#fail(thrown),
    };
  }

  async open(): Promise<void> {
    const { settings, known } = this.#worker;
    const { redis, watch } = await connectWatched(this.#host, () => {
      known.clear();
      this.#claims?.connectionLost();
    });
    this.#watch = watch;
    try {
      this.#frontier = await Frontier.open(redis, watch, {
        ...settings,
        order: this.#host.settings.get('SCHEDULER_MEMORY_QUEUE'),
        newHostDelayMs: 1000 * newHostDelay(this.#host),
        flush: settings.flushOnStart,
      });
      for (const warning of await redis.warnings()) this.#host.log.warn(warning);
    } catch (thrown) {
      watch.close();
      await redis.close();
      throw thrown;
    }
    this.#redis = redis;
    const worker = { ...this.#worker, frontier: this.#frontier };
    this.#claims = new Claims(worker, this.#hooks.onReady);
    this.#acks = new Acks(worker, () => this.#claims.changed());
    this.#beatTimer = setInterval(() => void this.#beat(), settings.leaseMs / 4);
    this.#tellOpened();
  }

  enqueue(request: Request, parent?: Request): MaybePromise<boolean> {
    const { account, known, leases, settings } = this.#worker;
    const isStart = isStartRequest(request);
    const { fingerprints, slots } = this.#host;
    if (!request.dontFilter && !isStart && fingerprints.isUrlEnough && known.has(request)) {
      this.#host.stats.inc('dupefilter/filtered');
      return false;
    }
    const link = linkOf(request, slots, isStart && this.#startAttempt !== '', fingerprints);
    if (bytesOf(link) > settings.maxEntryBytes) return this.#tooLong(link);
    if (parent === undefined) return this.#add(link);
    const lease = leases.of(parent);
    // Without one the page went to another worker, which finds the link as well.
    if (lease === undefined) account.handedOver(1);
    else lease.links.push(link);
    return true;
  }

  next(slots: CrawlerSlots): Request | undefined {
    const { account, leases } = this.#worker;
    for (const lease of leases.waiting()) {
      const key = slots.keyOf(lease.request);
      if (leases.isLate(lease)) {
        // It may be ours still, but not for certain. Given back, nobody has to wait for its end.
        account.lost();
        this.#acks.giveBack([lease]);
      } else if (slots.isReady(key)) {
        slots.reserve(key);
        leases.start(lease);
        account.taken();
        return lease.request;
      } else {
        const wait = slots.get(key).nextAt - performance.now();
        if (wait > patienceMs) this.#acks.giveBack([lease], wait);
        else slots.wait(key, this.#waiter);
      }
    }
    this.#claims.ask();
    return undefined;
  }

  done(request: Request): void {
    const lease = this.#worker.leases.of(request);
    if (lease !== undefined) this.#acks.done(lease);
  }

  release(request: Request): void {
    const { account, hosts, leases } = this.#worker;
    account.handedOver(1);
    const lease = leases.of(request);
    if (lease === undefined) return;
    account.handedOver(lease.links.length);
    this.#acks.giveBack([lease], hosts.restOf(lease.host));
  }

  /** Of the whole crawl; 1 as long as it is not certain that there is none. */
  get pending(): number {
    return this.#claims.isOver ? 0 : Math.max(1, this.#frontier.pending);
  }

  get leased(): number {
    return this.#worker.leases.started;
  }

  async claimStart(): Promise<boolean> {
    // Its start() takes what others have pushed, and every worker may.
    if (this.#host.spider instanceof RedisSpider) return true;
    while (!this.#isClosing && !this.#hasFailed) {
      const answer = await this.#frontier.claimStart().catch((thrown: unknown) => {
        this.#fail(thrown);
        return 'done' as const;
      });
      if (answer === 'done') return false;
      if (answer !== 'wait') {
        this.#startAttempt = answer.attempt;
        return true;
      }
      await new Promise((resolve) => {
        setTimeout(resolve, Math.min(500, this.#worker.settings.leaseMs / 4)).unref();
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
    this.#worker.hosts.close();
    if (this.#redis === undefined) return;
    clearInterval(this.#beatTimer);
    this.#claims.stop();
    const { promise: late, resolve: giveUp } = Promise.withResolvers<'late'>();
    const timer = setTimeout(() => giveUp('late'), goodbyeMs);
    const outcome = await Promise.race([this.#leave(reason), late]);
    clearTimeout(timer);
    this.#watch.close();
    if (outcome === 'late') {
      const { leases, settings } = this.#worker;
      this.#hasFailed = true;
      this.#host.log.error(
        `Redis at ${this.#redis.url} does not answer: ${leases.size} requests are not given back. The other workers get them when their leases end, in ${settings.leaseMs / 1000} s.`,
      );
    }
    await this.#redis.close();
  }

  async #leave(reason: string): Promise<void> {
    const { leases, settings } = this.#worker;
    try {
      await this.#claims.settled();
      await Promise.all(this.#adding);
      await this.#acks.settled();
      const left = [...leases.all()];
      if (left.length > 0) this.#acks.giveBack(left);
      await this.#acks.settled();
      await this.#frontier.leave(reason === 'finished' && !settings.persist);
    } catch (thrown) {
      this.#fail(thrown);
    }
  }

  /** A request that no page led to. It is in Redis before anybody hears that it is accepted. */
  #add(link: Link): Promise<boolean> {
    const adding = this.#claims
      .during(() => this.#addNow(link))
      .finally(() => this.#adding.delete(adding));
    this.#adding.add(adding);
    return adding;
  }

  async #addNow(link: Link): Promise<boolean> {
    const { account, known } = this.#worker;
    const { startHosts, stats } = this.#host;
    if (startHosts.size > this.#namedCount) {
      const hosts = [...startHosts].slice(this.#namedCount);
      this.#namedCount = startHosts.size;
      await this.#frontier.nameHosts(hosts);
    }
    const [duplicate] = await this.#frontier.add(link.args, this.#startAttempt);
    known.add(link.request);
    if (duplicate !== undefined) {
      stats.inc('dupefilter/filtered');
      return false;
    }
    account.accepted(1);
    this.#claims.changed();
    return true;
  }

  #tooLong(link: Link): true {
    const { request } = link;
    const most = this.#worker.settings.maxEntryBytes;
    const message = `${bytesOf(link)} bytes, and REDIS_MAX_ENTRY_SIZE is ${most}`;
    this.#host.log.warn(`${request.toString()} is too long for the frontier: ${message}.`);
    this.#host.stats.inc('security/blocked/REDIS_MAX_ENTRY_SIZE');
    this.#host.dropped(request, 'too-long', message);
    // It was dropped, but not as the duplicate that false would make of it.
    return true;
  }

  async #beat(): Promise<void> {
    const { leases, settings } = this.#worker;
    // Redis is away: the one that waits does.
    if (this.#isBeating) return;
    this.#isBeating = true;
    const sentAt = performance.now();
    const all = [...leases.all()];
    try {
      const lost = new Set(await this.#frontier.beat(all.map(({ token }) => token)));
      for (const lease of all) {
        if (!lost.has(lease.token)) lease.until = sentAt + settings.leaseMs;
        else if (leases.has(lease) && !leases.isSettled(lease)) this.#acks.lost(lease);
      }
    } catch (thrown) {
      this.#fail(thrown);
    } finally {
      this.#isBeating = false;
    }
  }

  #fail(thrown: unknown): void {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    if (thrown instanceof FrontierGoneError && thrown.isOver) {
      // We were away so long that the others have finished without us.
      for (const lease of this.#worker.leases.all()) this.#acks.lost(lease);
      this.#claims.end();
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
    if (others > 0 && this.#worker.settings.flushOnStart)
      log.warn(`SCHEDULER_FLUSH_ON_START is not followed: others are at work on ${name}.`);
  }
}

function isStartRequest({ meta }: Request): boolean {
  return meta.isStartRequest === true && !('retryTimes' in meta) && !('redirectTimes' in meta);
}

function newHostDelay({ settings }: RedisSchedulerHost): number {
  const delay = settings.get('DOWNLOAD_DELAY');
  if (!settings.get('AUTOTHROTTLE_ENABLED')) return delay;
  return Math.max(delay, settings.get('AUTOTHROTTLE_START_DELAY'));
}
