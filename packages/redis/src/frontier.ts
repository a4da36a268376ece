import { randomUUID } from 'node:crypto';

import type { Redis } from 'ioredis';
import { LycosaError, UsageError } from 'lycosa';

import type { RedisConnection } from './connection.ts';
import {
  frontierFormat,
  frontierKeys,
  type FrontierScript,
  frontierScripts,
} from './frontier-scripts.ts';
import type { FrontierWatch } from './frontier-watch.ts';

export interface FrontierOptions {
  /** Name of the crawl; its keys are `{name}:…`, all in one hash slot. */
  readonly name: string;
  readonly leaseMs: number;
  readonly maxEntryBytes: number;
  /** Which of two requests of equal priority and host goes first: the last that came or the first. */
  readonly order: 'lifo' | 'fifo';
  /** Milliseconds between two requests to a host of which nothing is known yet. */
  readonly newHostDelayMs: number;
  readonly flush: boolean;
}

/** A request that was leased. */
export interface Claimed {
  /** Grows with each lease; the lease is this number's, whatever became of its holder. */
  readonly token: string;
  readonly host: string;
  /** What the workers have learnt of the host, in milliseconds; undefined if it is new. */
  readonly delayMs: number | undefined;
  /** The request as text. */
  readonly text: string;
}

/** What a worker has seen of a host when it is done with a request; milliseconds. */
export interface HostReport {
  /** Since the last answer of the host; undefined if it was not asked. */
  readonly sinceMs: number | undefined;
  readonly delayMs: number;
  readonly concurrency: number;
  /** What the site has pushed back to. */
  readonly backoffMs: number;
  /** Nothing may be sent for so long. */
  readonly pauseMs: number;
}

/** The frontier is that of another run: this one is over, or Redis has lost it. Code `ERR_FRONTIER_GONE`. */
export class FrontierGoneError extends LycosaError {
  /** The other workers have finished it. */
  readonly isOver: boolean;

  constructor(name: string, isOver: boolean) {
    super(
      'ERR_FRONTIER_GONE',
      isOver
        ? `The crawl ${name} is over.`
        : `Redis has lost the crawl ${name}: its keys were deleted, or it came back without its data. Set appendonly yes, and start the crawl anew.`,
    );
    this.isOver = isOver;
  }
}

/**
 * The requests of one crawl in Redis, for all its workers, with the verbs of URL Frontier. Each is one script on the
 * server, by the server's clock: what it changes is changed whole or not at all.
 */
export class Frontier {
  /** Whoever leases. */
  readonly worker: string = randomUUID();
  readonly name: string;
  readonly leaseMs: number;
  /** Requests that wait, leases of all workers, as of the last answer. */
  pending = 0;
  leases = 0;
  /** True as of the last answer if a host has something to give, now or later. */
  hasWork = true;
  /** Milliseconds from the last answer until something is due; undefined if nothing waits. */
  dueMs: number | undefined;
  /** How many hosts `start()` of any worker has named, as of the last answer. */
  namedCount = 0;
  /** Workers beside this one when it came, and requests known then. */
  others = 0;
  seen = 0;
  readonly #keys: readonly string[];
  readonly #client: Redis;
  readonly #watch: FrontierWatch;
  readonly #options: FrontierOptions;
  #run: string = randomUUID();

  /** @throws UsageError when a newer Lycosa wrote the keys. */
  static async open(
    redis: RedisConnection,
    watch: FrontierWatch,
    options: FrontierOptions,
  ): Promise<Frontier> {
    const frontier = new Frontier(redis, watch, options);
    await frontier.#open();
    return frontier;
  }

  private constructor(redis: RedisConnection, watch: FrontierWatch, options: FrontierOptions) {
    this.name = options.name;
    this.leaseMs = options.leaseMs;
    this.#keys = frontierKeys.map((key) => frontierKey(options.name, key));
    this.#client = redis.client;
    this.#watch = watch;
    this.#options = options;
    for (const [name, lua] of Object.entries(frontierScripts))
      this.#client.defineCommand(`frontier_${name}`, { lua, numberOfKeys: frontierKeys.length });
  }

  async #open(): Promise<void> {
    const [status, run, others, seen] = await this.#call('open', this.#options.flush ? '1' : '0');
    if (status === 'format') {
      throw new UsageError(
        `The frontier ${this.name} in Redis has format ${String(run)}, this Lycosa knows ${frontierFormat}. Update Lycosa, or name another one with FRONTIER_KEY.`,
      );
    }
    this.#run = String(run);
    this.others = Number(others);
    this.seen = Number(seen);
  }

  /**
   * Leases up to `most` requests: of each host that is due, as many as it may have at once.
   *
   * @returns Them, and how many entries were set aside because they cannot be used.
   */
  async claim(most: number): Promise<{ claimed: Claimed[]; buried: number }> {
    const [, buried, flat] = (await this.#call('claim', most)) as [string, number, string[]];
    const claimed: Claimed[] = [];
    for (let i = 0; i < flat.length; i += 4) {
      const delay = flat[i + 2]!;
      claimed.push({
        token: flat[i]!,
        host: flat[i + 1]!,
        delayMs: delay === '' ? undefined : Number(delay),
        text: flat[i + 3]!,
      });
    }
    return { claimed, buried };
  }

  /**
   * A request is done; in the same step the links that it led to are added.
   *
   * @returns The places of links that were known; undefined, and nothing has happened, if the lease had ended.
   */
  async ack(
    token: string,
    host: HostReport,
    links: readonly (string | Buffer)[],
  ): Promise<number[] | undefined> {
    const [status, dups] = await this.#call(
      'ack',
      token,
      host.sinceMs === undefined ? '' : Math.floor(host.sinceMs),
      Math.ceil(host.delayMs),
      Math.min(host.concurrency, 1e6),
      Math.ceil(host.backoffMs),
      Math.ceil(host.pauseMs),
      ...links,
    );
    return status === 'late' ? undefined : (dups as number[]);
  }

  /**
   * Adds requests that no other one led to.
   *
   * @param attempt - Which attempt at `start()` they come from.
   * @returns The places of those that were known.
   */
  async add(links: readonly (string | Buffer)[], attempt = ''): Promise<number[]> {
    const [, dups] = await this.#call('add', attempt, ...links);
    return dups as number[];
  }

  /** Gives leases back, and lets their hosts rest for so long. */
  async nack(tokens: readonly string[], pauseMs = 0): Promise<void> {
    await this.#call('nack', Math.ceil(pauseMs), ...tokens);
  }

  /** Renews leases. Those that had ended. */
  async beat(tokens: readonly string[]): Promise<string[]> {
    const [, lost] = await this.#call('beat', ...tokens);
    return (lost as (string | number)[]).map(String);
  }

  /**
   * Gives back what this worker has leased but for these: where the connection breaks between a claim and its answer,
   * nobody else knows of the leases.
   *
   * @returns How many.
   */
  async holdOnly(tokens: readonly string[]): Promise<number> {
    const [, back] = await this.#call('holdOnly', ...tokens);
    return Number(back);
  }

  /** Puts a request that cannot be used on the list `dead`. */
  async bury(token: string, reason: string): Promise<void> {
    await this.#call('bury', token, reason);
  }

  /** Lets nobody ask a host for so long. */
  async block(host: string, ms: number): Promise<void> {
    await this.#call('block', host, Math.ceil(ms));
  }

  /** Sets the delay of a host for all workers. */
  async setDelay(host: string, ms: number): Promise<void> {
    await this.#call('setDelay', host, Math.ceil(ms));
  }

  /** Tells the others which hosts `start()` has named: they may be inside addresses. */
  async nameHosts(hosts: readonly string[]): Promise<void> {
    for (let i = 0; i < hosts.length; i += 1000)
      await this.#call('name', ...hosts.slice(i, i + 1000));
  }

  async namedHosts(): Promise<string[]> {
    const key = frontierKey(this.name, 'named');
    return (await this.#watch.run(() => this.#client.smembers(key))) as string[];
  }

  /** The number of an attempt at `start()` that is ours now; `wait` while another worker is at it, `done` when it is over. */
  async claimStart(): Promise<{ attempt: string } | 'wait' | 'done'> {
    const [status, attempt] = await this.#call('claimStart');
    return status === 'ok' ? { attempt: String(attempt) } : (status as 'wait' | 'done');
  }

  async endStart(isComplete: boolean): Promise<void> {
    await this.#call('endStart', isComplete ? '1' : '0');
  }

  /** @param mayClear - Forget the crawl if nothing is left of it and nobody else is there. */
  async leave(mayClear: boolean): Promise<void> {
    await this.#call('leave', mayClear ? '1' : '0');
  }

  /** @throws FrontierGoneError when the crawl in Redis is another one. */
  async #call(
    script: FrontierScript,
    ...args: readonly (string | number | Buffer)[]
  ): Promise<unknown[]> {
    const { newHostDelayMs, leaseMs, maxEntryBytes, order } = this.#options;
    const common = [
      this.#run,
      this.worker,
      Math.ceil(newHostDelayMs),
      leaseMs,
      maxEntryBytes,
      order,
    ];
    const commands = this.#client as unknown as Record<
      string,
      (...args: readonly (string | number | Buffer)[]) => Promise<unknown[]>
    >;
    const reply = (await this.#watch.run(() =>
      commands[`frontier_${script}`]!(...this.#keys, ...common, ...args),
    )) as unknown[];
    const [status, pending, leases, hosts, dueMs, named, ...rest] = reply;
    if (status === 'gone' || status === 'over')
      throw new FrontierGoneError(this.name, status === 'over');
    if (status === 'format') return [status, pending];
    this.pending = Math.max(0, Number(pending));
    this.leases = Number(leases);
    this.hasWork = Number(hosts) > 0;
    this.dueMs = Number(dueMs) < 0 ? undefined : Number(dueMs);
    this.namedCount = Number(named);
    return [status, ...rest];
  }
}

/** Keys of one crawl are in one hash slot. */
export function frontierKey(name: string, key: string): string {
  return `{${name}}:${key}`;
}
