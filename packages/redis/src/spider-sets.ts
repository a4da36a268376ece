import { createHash, randomUUID } from 'node:crypto';
import { hostname } from 'node:os';

import { type Settings, SettingsError } from 'lycosa';

import type { RedisConnection } from './connection.ts';
import { keyNames, type ScriptName, scripts } from './spider-sets-scripts.ts';

/** Where a spider's name may stand. It stands in one of them at a time. */
export type SpiderState = 'pending' | 'running' | 'finished' | 'failed';

export interface SpiderSetsOptions {
  /** Before the name of every key; nothing by default, so that `SMEMBERS pending` works in redis-cli. */
  readonly prefix?: string;
  /** The machine that the limit per machine counts for; the host name by default. */
  readonly machine?: string;
  /** Spiders that may run on this machine at once; 0 is no limit. */
  readonly limit?: number;
  /** Spiders that may run at once anywhere; 0 is no limit. */
  readonly fleetLimit?: number;
  /** Milliseconds after which a running spider that nobody renews is pending again. */
  readonly leaseMs?: number;
  /** Whoever claims; made up by default. A parent hands it to its child in `LYCOSA_FLEET_OWNER`. */
  readonly owner?: string;
}

/** A number that says which run of a fleet job this is: what an older run does is refused. */
export interface Fence {
  /** Counts the times that the spider was ordered. */
  readonly generation: number;
  /** Counts the starts since then. */
  readonly start: number;
}

/** A running spider of ours. `token` grows with each run of the spider. */
export interface Claim {
  readonly name: string;
  readonly token: number;
  readonly generation: number;
  /** Counts the runs of the spider, from 1 on: what is kept of a run is named by it. */
  readonly attempt: number;
}

/**
 * What became of a claim: `limit`: the machine or the fleet is full, and the name is pending again; `group`: as many of
 * its group run as may; `busy`: it runs elsewhere; `old`: a later run has begun; `done`: this order was carried out
 * already.
 */
export type ClaimRefusal = 'limit' | 'group' | 'busy' | 'old' | 'done';

/** What becomes of a running spider when its run has ended. */
export type SpiderTarget = Exclude<SpiderState, 'running'>;

/** One change of state, as `events()` tells it. */
export interface SpiderEvent {
  readonly id: string;
  readonly name: string;
  readonly to: SpiderState;
  readonly token: number;
  readonly owner: string;
  readonly attempt: number;
}

/** @internal What is known of a name, for a server that has lost it. */
export interface KnownSpider {
  readonly name: string;
  readonly state: SpiderState;
  readonly token: number;
  readonly attempt: number;
  /** JSON, or nothing. */
  readonly order: string;
  readonly record: string;
}

/** Tokens of one order: more starts than that do not happen. */
const startsPerGeneration = 1_000_000;

/**
 * The sets `pending`, `running`, `finished` and `failed` in Redis, plain sets of names. Every change is one script on the
 * server, by the server's clock: a name is never in two of them, and a limit is never passed. A running name has an owner
 * and a lease; an owner that is killed renews no more, and the name is pending again.
 */
export class SpiderSets {
  readonly owner: string;
  readonly leaseMs: number;
  readonly #redis: RedisConnection;
  readonly #keys: readonly string[];
  /** The machine's name, as owners begin with it. */
  readonly machine: string;
  readonly #limit: number;
  readonly #fleetLimit: number;

  constructor(redis: RedisConnection, options: SpiderSetsOptions = {}) {
    this.#redis = redis;
    this.#keys = keyNames.map((name) => (options.prefix ?? '') + name);
    // The machine is what stands before the first slash of an owner.
    this.machine = (options.machine ?? hostname()).replaceAll(/[/|]/g, '_');
    this.owner = options.owner ?? `${this.machine}/${process.pid}/${randomUUID().slice(0, 8)}`;
    this.#limit = options.limit ?? 0;
    this.#fleetLimit = options.fleetLimit ?? 0;
    this.leaseMs = options.leaseMs ?? 120_000;
  }

  /** Takes any pending spider, which then runs; `undefined` where none is pending, `limit` where no more may run. */
  async take(): Promise<Claim | 'limit' | undefined> {
    const [answer, token, attempt, name] = await this.#run('take', [
      this.owner,
      this.machine,
      this.#limit,
      this.#fleetLimit,
    ]);
    if (answer === 'limit') return answer;
    if (answer !== 'ok') return undefined;
    return { name: String(name), token: Number(token), generation: 0, attempt: Number(attempt) };
  }

  /**
   * Makes a spider one that runs here. One that was taken by this owner stays the same run.
   *
   * @param fence - Which run it is, where somebody else counts them.
   * @param group - Only so many of a group run at once, as `limitGroup()` says; one if it was never said.
   */
  async claim(name: string, fence?: Fence, group = ''): Promise<Claim | ClaimRefusal> {
    const given = fence ? fence.generation * startsPerGeneration + fence.start : 0;
    const generation = fence?.generation ?? 0;
    const [answer, token, attempt] = await this.#run('claim', [
      name,
      this.owner,
      this.machine,
      this.#limit,
      this.#fleetLimit,
      given,
      generation,
      group,
    ]);
    if (answer !== 'ok') return answer as ClaimRefusal;
    return { name, token: Number(token), generation, attempt: Number(attempt) };
  }

  /** Puts the end of the lease off. `lost` where it ended and the spider went elsewhere; else how it shall stop, if it shall. */
  async renew(claim: Claim): Promise<'lost' | 'graceful' | 'fast' | undefined> {
    const { name, token, generation } = claim;
    const [answer, stop] = await this.#run('renew', [name, this.owner, token, generation]);
    if (answer !== 'ok') return 'lost';
    return stop === 'graceful' || stop === 'fast' ? stop : undefined;
  }

  /** False if a later run has begun: what this one made must not take the place of what that one makes. */
  async holds(claim: Claim): Promise<boolean> {
    const { name, token, generation } = claim;
    const [answer] = await this.#run('holds', [name, this.owner, token, generation]);
    return answer === 'ok';
  }

  /**
   * Ends a run.
   *
   * @param record - What `results()` shall say of it.
   * @param owner - Whose claim it was; ours by default.
   * @returns False, and nothing is changed, if a later run has begun. Said again, it is true and changes nothing.
   */
  async release(
    claim: Claim,
    to: SpiderTarget,
    record?: object,
    owner: string = this.owner,
  ): Promise<boolean> {
    const [answer] = await this.#run('release', [
      claim.name,
      owner,
      claim.token,
      keyNames.indexOf(to) + 1,
      claim.generation,
      record === undefined ? '' : JSON.stringify(record),
    ]);
    return answer === 'ok';
  }

  /**
   * Makes spiders pending that do not run. Gives each order a number, 0 for one that runs and for a name that
   * `onlyPending` left out.
   *
   * @param orders - What is kept of each order, as JSON; what was kept before by default.
   */
  async order(
    names: readonly string[],
    onlyPending = false,
    orders: readonly string[] = [],
  ): Promise<number[]> {
    const numbers: number[] = [];
    for (let i = 0; i < names.length; i += 1000) {
      const some = names.slice(i, i + 1000).flatMap((name, j) => [name, orders[i + j] ?? '']);
      const answers = await this.#run('order', [onlyPending ? 'pending' : 'all', ...some]);
      numbers.push(...answers.map(Number));
    }
    return numbers;
  }

  /** Asks the owner of a running spider to stop it; a pending one has failed at once. */
  async cancel(name: string, mode: 'graceful' | 'fast'): Promise<'running' | 'pending' | 'none'> {
    const record = JSON.stringify({ spider: name, reason: 'stopped', at: Date.now() });
    const [answer] = await this.#run('cancel', [name, mode, record]);
    return answer as 'running' | 'pending' | 'none';
  }

  /** Makes spiders pending whose owner has not renewed in time. How many. */
  async reap(): Promise<number> {
    return Number(await this.#evaluate('reap', []));
  }

  /**
   * @internal Tells a server that was started anew what it may have lost. What it knows better stands.
   *
   * @param isOurs - Whether a run goes on here.
   * @returns How many names it had to be told of.
   */
  async restore(known: readonly KnownSpider[], isOurs: (name: string) => boolean): Promise<number> {
    let count = 0;
    for (let i = 0; i < known.length; i += 500) {
      const args = known
        .slice(i, i + 500)
        .flatMap(({ name, state, token, attempt, order, record }) => [
          name,
          state,
          token,
          attempt,
          order,
          record,
          isOurs(name) ? 1 : 0,
        ]);
      count += Number(await this.#evaluate('restore', [this.owner, ...args]));
    }
    return count;
  }

  /** How many spiders of a group may run at once; all together where no group is named. `undefined` takes it back. */
  async limitGroup(count: number | undefined, group = '*'): Promise<void> {
    const key = this.#key('fleet:limits');
    if (count === undefined) await this.#redis.call('HDEL', key, group);
    else await this.#redis.call('HSET', key, group, count);
  }

  async names(state: SpiderState): Promise<string[]> {
    return (await this.#redis.call('SMEMBERS', this.#key(state))) as string[];
  }

  async count(state: SpiderState): Promise<number> {
    return Number(await this.#redis.call('SCARD', this.#key(state)));
  }

  /** Who runs what. */
  async owners(): Promise<Map<string, string>> {
    const flat = (await this.#redis.call('HGETALL', this.#key('fleet:owner'))) as string[];
    return new Map(pairs(flat).map(([name, owner]) => [name, owner.replace(/\|.$/, '')]));
  }

  /** How runs ended, by the name. */
  async results(names: readonly string[]): Promise<Map<string, Record<string, unknown>>> {
    if (names.length === 0) return new Map();
    const texts = (await this.#redis.call('HMGET', this.#key('fleet:result'), ...names)) as (
      | string
      | null
    )[];
    return new Map(
      texts.flatMap((text, i) =>
        text === null ? [] : [[names[i]!, JSON.parse(text) as Record<string, unknown>] as const],
      ),
    );
  }

  /** The changes of state since `after`, oldest first; about the last 20,000 are kept. */
  async events(after = '0'): Promise<SpiderEvent[]> {
    const from = after === '0' ? '-' : `(${after}`;
    const rows = (await this.#redis.call('XRANGE', this.#key('fleet:events'), from, '+')) as [
      string,
      string[],
    ][];
    return rows.map(([id, flat]) => {
      const event = Object.fromEntries(pairs(flat)) as Record<keyof SpiderEvent, string>;
      return {
        ...event,
        id,
        to: event.to as SpiderState,
        token: Number(event.token),
        attempt: Number(event.attempt),
      };
    });
  }

  #key(name: (typeof keyNames)[number]): string {
    return this.#keys[keyNames.indexOf(name)]!;
  }

  async #run(name: ScriptName, args: readonly (string | number)[]): Promise<unknown[]> {
    return (await this.#evaluate(name, args)) as unknown[];
  }

  /** By its hash, which the server knows after the first time. */
  async #evaluate(name: ScriptName, args: readonly (string | number)[]): Promise<unknown> {
    const rest = [this.#keys.length, ...this.#keys, this.leaseMs, ...args];
    try {
      return await this.#redis.call('EVALSHA', hashes[name], ...rest);
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
      return this.#redis.call('EVAL', scripts[name], ...rest);
    }
  }
}

const hashes = Object.fromEntries(
  Object.entries(scripts).map(([name, text]) => [
    name,
    createHash('sha1').update(text).digest('hex'),
  ]),
) as Record<ScriptName, string>;

/** The sets as `SPIDER_COUNT`, `FLEET_SPIDER_COUNT`, `FLEET_PREFIX`, `FLEET_MACHINE` and `FLEET_LEASE` describe them. */
export function spiderSetsOptions(settings: Pick<Settings, 'get'>): SpiderSetsOptions {
  const machine = settings.get('FLEET_MACHINE');
  return {
    prefix: settings.get('FLEET_PREFIX') ?? '',
    ...(machine && { machine }),
    limit: countOf('SPIDER_COUNT', settings.get('SPIDER_COUNT') ?? 20),
    fleetLimit: countOf('FLEET_SPIDER_COUNT', settings.get('FLEET_SPIDER_COUNT') ?? 0),
    leaseMs: Math.max(50, countOf('FLEET_LEASE', settings.get('FLEET_LEASE') ?? 120) * 1000),
  };
}

/** Text from a command line becomes a number here: the core does not know these settings. */
export function countOf(name: string, value: unknown): number {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof number === 'number' && number >= 0 && number < Infinity) return number;
  throw new SettingsError(`${name} must be a number ≥ 0, got ${JSON.stringify(value)}.`);
}

function pairs(flat: readonly string[]): [string, string][] {
  return Array.from({ length: flat.length / 2 }, (_, i) => [flat[2 * i]!, flat[2 * i + 1]!]);
}
