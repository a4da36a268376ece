import { createHash } from 'node:crypto';

import { Queue } from 'bullmq';
import type { Settings, SpiderArgs } from 'lycosa';

import {
  clientOptions,
  connectRedis,
  type RedisConnection,
  type RedisConnectOptions,
  redisOptions,
} from './connection.ts';
import { countOf, SpiderSets, type SpiderSetsOptions, spiderSetsOptions } from './spider-sets.ts';

declare module 'lycosa' {
  interface SettingsMap {
    /** Times that a spider is started in all when it fails, with growing pauses; 3 if absent. */
    FLEET_ATTEMPTS: number | undefined;
    /** Seconds before the second attempt; doubled for each further one. 5 if absent. */
    FLEET_BACKOFF: number | undefined;
    /** Seconds between two looks for spiders whose machine is gone; 15 if absent. */
    FLEET_STALLED_INTERVAL: number | undefined;
    /** Seconds without a sign of life after which a process with spiders is killed; 60 if absent. */
    FLEET_BLOCK_LIMIT: number | undefined;
  }
}

/** A spider to run. */
export interface FleetOrder {
  readonly spider: string;
  readonly args?: SpiderArgs;
  /** The higher goes first; among equals, the spider that takes longest. 0 by default. */
  readonly priority?: number;
}

/** @internal What a job in the queue carries. */
export interface FleetJob {
  /** The name in the sets: the spider's, with a mark of its arguments where it has some. */
  readonly member: string;
  readonly spider: string;
  readonly args: SpiderArgs;
  readonly generation: number;
}

/** One machine that runs spiders. */
export interface FleetMachine {
  readonly id: string;
  readonly running: number;
  readonly count: number;
  readonly hosts: number;
  readonly rssMb: number;
  /** Milliseconds since the epoch, of the last word from it. */
  readonly at: number;
}

export interface FleetStatus {
  readonly pending: number;
  readonly running: number;
  readonly finished: number;
  readonly failed: number;
  readonly isDraining: boolean;
  readonly machines: readonly FleetMachine[];
  /** Name and owner of what runs now. */
  readonly spiders: Readonly<Record<string, string>>;
  /** Why the failed ones failed. */
  readonly failures: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

export interface FleetOptions {
  readonly redis: RedisConnectOptions;
  readonly sets: SpiderSetsOptions;
  /** 3 by default. */
  readonly attempts?: number;
  /** 5000 by default. */
  readonly backoffMs?: number;
}

/** The longest first: seconds that count, and what one step of priority is worth. */
const maxSeconds = 9999;
const middle = 1_000_000;

/** The orders of a fleet: a BullMQ queue of spider runs, and the sets that show where each spider stands. */
export class Fleet implements AsyncDisposable {
  readonly sets: SpiderSets;
  /** @internal */
  readonly queue: Queue<FleetJob>;
  /** @internal */
  readonly options: FleetOptions;
  readonly #redis: RedisConnection;
  readonly #prefix: string;

  /** @internal Use `Fleet.open()`. */
  constructor(redis: RedisConnection, options: FleetOptions) {
    this.options = options;
    this.#redis = redis;
    this.#prefix = options.sets.prefix ?? '';
    this.sets = new SpiderSets(redis, options.sets);
    this.queue = new Queue<FleetJob>(queueName, {
      connection: clientOptions(options.redis),
      prefix: queuePrefix(this.#prefix),
    });
    // Said by the connection of the sets; without a listener it would end the process.
    this.queue.on('error', () => {});
  }

  /** @throws RedisConnectionError when Redis cannot be reached. */
  static async open(options: FleetOptions): Promise<Fleet> {
    return new Fleet(await connectRedis(options.redis), options);
  }

  /**
   * Orders runs of spiders. One that is pending or runs already is not ordered twice.
   *
   * @returns The names in the sets.
   */
  async add(orders: readonly FleetOrder[]): Promise<string[]> {
    const members = orders.map(({ spider, args = {} }) => memberOf(spider, args));
    const generations = await this.sets.order(members);
    await this.#enqueue(orders, members, generations);
    return members;
  }

  async #enqueue(
    orders: readonly FleetOrder[],
    members: readonly string[],
    generations: readonly number[],
  ): Promise<void> {
    const seconds = await this.#expected(members);
    const attempts = this.options.attempts ?? 3;
    const jobs = orders.flatMap(({ spider, args = {}, priority = 0 }, i) => {
      const generation = generations[i]!;
      if (generation === 0) return [];
      const member = members[i]!;
      return {
        name: spider,
        data: { member, spider, args, generation },
        opts: {
          jobId: jobIdOf(member),
          priority: priorityOf(priority, seconds[i]!),
          attempts,
          backoff: { type: 'exponential', delay: this.options.backoffMs ?? 5000 },
          // Where a spider stands is in the sets; a job that stayed would keep its name from being ordered again.
          removeOnComplete: true,
          removeOnFail: true,
        },
      };
    });
    for (let i = 0; i < jobs.length; i += 1000) await this.queue.addBulk(jobs.slice(i, i + 1000));
  }

  /** Seconds that each is expected to take: what it took before, or else the median of those that are known. */
  async #expected(members: readonly string[]): Promise<number[]> {
    if (members.length === 0) return [];
    const known: (number | undefined)[] = [];
    for (let i = 0; i < members.length; i += 1000) {
      const some = members.slice(i, i + 1000);
      const texts = (await this.#redis.call('HMGET', this.#key('time'), ...some)) as (
        | string
        | null
      )[];
      known.push(...texts.map((text) => (text === null ? undefined : Number(text))));
    }
    const sorted = known.filter((one) => one !== undefined).toSorted((a, b) => a - b);
    const median = sorted[Math.floor(sorted.length / 2)] ?? 0;
    return known.map((one) => one ?? median);
  }

  /** @internal Remembers how long a spider took, the latest counting a third. */
  async learn(member: string, seconds: number): Promise<void> {
    const old = await this.#redis.call('HGET', this.#key('time'), member);
    const mean = old === null ? seconds : Number(old) * 0.67 + seconds * 0.33;
    await this.#redis.call('HSET', this.#key('time'), member, mean.toFixed(3));
  }

  /** @internal Counts a crash of the host that a spider ran in; how many now. 0 forgets them. */
  async crashed(member: string, by: 0 | 1): Promise<number> {
    if (by === 0) {
      await this.#redis.call('HDEL', this.#key('crashes'), member);
      return 0;
    }
    return Number(await this.#redis.call('HINCRBY', this.#key('crashes'), member, by));
  }

  /** @internal */
  async crashes(member: string): Promise<number> {
    return Number((await this.#redis.call('HGET', this.#key('crashes'), member)) ?? 0);
  }

  /** @internal Says that a machine is there, for as long as it keeps saying so. */
  async announce(machine: FleetMachine, seconds: number): Promise<void> {
    const key = this.#key(`machine:${machine.id}`);
    await this.#redis.call('SET', key, JSON.stringify(machine), 'EX', Math.ceil(seconds));
    await this.#redis.call('SADD', this.#key('machines'), machine.id);
  }

  async status(): Promise<FleetStatus> {
    const [pending, running, finished, failed] = await Promise.all(
      (['pending', 'running', 'finished', 'failed'] as const).map((set) => this.sets.count(set)),
    );
    const failedNames = await this.sets.names('failed');
    return {
      pending: pending!,
      running: running!,
      finished: finished!,
      failed: failed!,
      isDraining: await this.queue.isPaused(),
      machines: await this.#machines(),
      spiders: Object.fromEntries(await this.sets.owners()),
      failures: Object.fromEntries(await this.sets.results(failedNames)),
    };
  }

  async #machines(): Promise<FleetMachine[]> {
    const ids = (await this.#redis.call('SMEMBERS', this.#key('machines'))) as string[];
    const machines: FleetMachine[] = [];
    for (const id of ids.toSorted()) {
      const key = this.#key(`machine:${id}`);
      const text = (await this.#redis.call('GET', key)) as string | null;
      if (text === null) await this.#redis.call('SREM', this.#key('machines'), id);
      else machines.push(JSON.parse(text) as FleetMachine);
    }
    return machines;
  }

  /** Orders spiders again that have failed, or those of them that are named. How many. */
  async requeue(names?: readonly string[]): Promise<number> {
    const failed = new Set(await this.sets.names('failed'));
    const members = names ? names.filter((name) => failed.has(name)) : [...failed];
    for (const member of members) await this.crashed(member, 0);
    const records = await this.sets.results(members);
    const orders = members.map((member) => orderOf(member, records.get(member)));
    await this.#enqueue(orders, members, await this.sets.order(members));
    return members.length;
  }

  /** Stops a spider wherever it runs, or takes it out of the queue. It has failed then, and `requeue` brings it back. */
  async stop(name: string, mode: 'graceful' | 'fast' = 'graceful'): Promise<boolean> {
    const found = await this.sets.cancel(name, mode);
    if (found === 'pending') await this.queue.remove(jobIdOf(name));
    return found !== 'none';
  }

  /** Begins no further spider anywhere; what runs ends in peace. */
  async drain(): Promise<void> {
    await this.queue.pause();
  }

  /** Ends a drain. */
  async resume(): Promise<void> {
    await this.queue.resume();
  }

  /** Sets how many spiders may run at once on all machines together, from now on; 0 is no limit. */
  async limit(count: number): Promise<void> {
    if (count > 0) await this.queue.setGlobalConcurrency(count);
    else await this.queue.removeGlobalConcurrency();
  }

  /** Jobs that wait, are delayed or run. */
  async live(): Promise<number> {
    const counts = await this.queue.getJobCounts('waiting', 'prioritized', 'delayed', 'active');
    return Object.values(counts).reduce((sum, count) => sum + count, 0);
  }

  /**
   * Compares the sets with the queue: a name that was put into `pending` by hand is an order, and becomes a job. Only one
   * of the fleet does so at a time.
   *
   * @returns How many orders were found.
   */
  async reconcile(everyMs = 1000): Promise<number> {
    const mayRun = await this.#redis.call('SET', this.#key('reconciler'), 1, 'NX', 'PX', everyMs);
    if (mayRun === null) return 0;
    await this.sets.reap();
    // First the names, then the jobs: a job that ends in between has left `pending` before.
    const pending = await this.sets.names('pending');
    if (pending.length === 0) return 0;
    const missing: string[] = [];
    for (let i = 0; i < pending.length; i += 500) {
      const some = pending.slice(i, i + 500);
      const found = await Promise.all(some.map((member) => this.queue.getJob(jobIdOf(member))));
      missing.push(...some.filter((_, at) => found[at] === undefined));
    }
    if (missing.length === 0) return 0;
    const generations = await this.sets.order(missing, true);
    const records = await this.sets.results(missing);
    await this.#enqueue(
      missing.map((member) => orderOf(member, records.get(member))),
      missing,
      generations,
    );
    return generations.filter((generation) => generation > 0).length;
  }

  async close(): Promise<void> {
    await this.queue.close();
    await this.#redis.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #key(name: string): string {
    return `${this.#prefix}fleet:${name}`;
  }
}

/** The fleet as the settings describe it. */
export function fleetOptions(settings: Pick<Settings, 'get'>): FleetOptions {
  return {
    redis: redisOptions(settings),
    // How many run on a machine is its agent's to say: it starts anew where its lost runs still have a lease.
    sets: { ...spiderSetsOptions(settings), limit: 0 },
    attempts: Math.max(1, countOf('FLEET_ATTEMPTS', settings.get('FLEET_ATTEMPTS') ?? 3)),
    backoffMs: countOf('FLEET_BACKOFF', settings.get('FLEET_BACKOFF') ?? 5) * 1000,
  };
}

/** How an agent works, as the settings describe it. */
export function agentOptions(settings: Pick<Settings, 'get'>): {
  count: number;
  lockMs: number;
  stalledMs: number;
  blockMs: number;
  graceMs: number;
} {
  const { limit = 20, leaseMs = 120_000 } = spiderSetsOptions(settings);
  const stalled = settings.get('FLEET_STALLED_INTERVAL') ?? 15;
  const block = settings.get('FLEET_BLOCK_LIMIT') ?? 60;
  return {
    // BullMQ knows no lack of a limit.
    count: limit || 1000,
    lockMs: leaseMs,
    stalledMs: Math.max(100, countOf('FLEET_STALLED_INTERVAL', stalled) * 1000),
    blockMs: countOf('FLEET_BLOCK_LIMIT', block) * 1000,
    graceMs: settings.get('SHUTDOWN_TIMEOUT') * 1000,
  };
}

/** @internal */
export const queueName = 'spiders';

/** @internal The keys of the queue stand apart from the sets. */
export function queuePrefix(prefix: string): string {
  return `${prefix}fleet:queue`;
}

/** A spider's name alone says which run it is; arguments are part of it. */
function memberOf(spider: string, args: SpiderArgs): string {
  const entries = Object.entries(args).toSorted(([a], [b]) => (a < b ? -1 : 1));
  if (entries.length === 0) return spider;
  const mark = createHash('sha256').update(JSON.stringify(entries)).digest('hex').slice(0, 8);
  return `${spider}#${mark}`;
}

/** What a member of the sets orders; its arguments are in the record of its last run. */
function orderOf(
  member: string,
  record: Readonly<Record<string, unknown>> | undefined,
): FleetOrder {
  const spider = member.replace(/#[0-9a-f]{8}$/, '');
  return { spider, args: (record?.['args'] as SpiderArgs | undefined) ?? {} };
}

/** BullMQ takes no number and no colon as an id. */
function jobIdOf(member: string): string {
  return `s.${encodeURIComponent(member)}`;
}

/** For BullMQ the lowest is first, from 1 on. */
function priorityOf(priority: number, seconds: number): number {
  const longest = Math.round(Math.min(seconds, maxSeconds));
  return Math.min(
    2_000_000,
    Math.max(1, middle - Math.round(priority) * (maxSeconds + 1) - longest),
  );
}
