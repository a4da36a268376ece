import { createHash } from 'node:crypto';

import { Queue } from 'bullmq';
import type { SpiderArgs } from 'lycosa';

import { clientOptions, connectRedis, type RedisConnection } from './connection.ts';
import { FleetCron, type FleetSchedule } from './fleet-cron.ts';
import {
  bareOrder,
  type FleetJobHistory,
  type FleetJobPage,
  type FleetJobQuery,
  type FleetLog,
  FleetRecords,
  type FleetSlot,
  type StoredOrder,
} from './fleet-jobs.ts';
import { type FleetMachine, FleetMachines } from './fleet-machines.ts';
import { FleetMirror } from './fleet-mirror.ts';
import { type FleetOptions, queueName, queuePrefix } from './fleet-settings.ts';
import { SpiderSets } from './spider-sets.ts';

/** A spider to run. */
export interface FleetOrder {
  readonly spider: string;
  readonly args?: SpiderArgs;
  /** The higher goes first; among equals, the spider that takes longest. 0 by default. */
  readonly priority?: number;
  /** Only so many of a group run at once: spiders of one site, or of one pool of proxies. */
  readonly group?: string;
  /** Runs only on machines with this version of the project; anywhere by default. */
  readonly version?: string;
}

/** @internal What a job of the queue carries. */
export interface QueuedRun extends StoredOrder {
  /** The name in the sets. */
  readonly member: string;
  readonly generation: number;
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

/** The longest first: parts of one step of priority. */
const step = 10_000;
const middle = 1_000_000;

const ewma = `
local old = redis.call('HGET', KEYS[1], ARGV[1])
local mean = old and old * 0.67 + ARGV[2] * 0.33 or ARGV[2]
redis.call('HSET', KEYS[1], ARGV[1], string.format('%.3f', mean))`;

/** The orders of a fleet: a BullMQ queue of spider runs, and the sets that show where each spider stands. */
export class Fleet implements AsyncDisposable {
  readonly sets: SpiderSets;
  /** @internal */
  readonly queue: Queue<QueuedRun>;
  /** @internal */
  readonly options: FleetOptions;
  /** @internal */
  readonly records: FleetRecords;
  /** @internal */
  readonly machines: FleetMachines;
  readonly #cron: FleetCron;
  readonly #redis: RedisConnection;
  readonly #prefix: string;

  /** @internal Use `Fleet.open()`. */
  constructor(redis: RedisConnection, options: FleetOptions) {
    this.options = options;
    this.#redis = redis;
    this.#prefix = options.sets.prefix ?? '';
    this.sets = new SpiderSets(redis, options.sets);
    this.records = new FleetRecords(redis, this.sets, this.#prefix);
    this.machines = new FleetMachines(redis, this.#prefix);
    this.#cron = new FleetCron(options);
    this.queue = new Queue<QueuedRun>(queueName, {
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

  /** Where Redis is, without the password. */
  get url(): string {
    return this.#redis.url;
  }

  /** What Redis should be set to and is not, in sentences. */
  warnings(): Promise<string[]> {
    return this.#redis.warnings();
  }

  /**
   * Orders runs of spiders. One that is pending or runs already is not ordered twice.
   *
   * @returns The names in the sets.
   */
  async add(orders: readonly FleetOrder[]): Promise<string[]> {
    const stored = orders.map((order) => storedOrder(order, this.options.version));
    const members = stored.map(({ spider, args }) => memberOf(spider, args));
    const texts = stored.map((order) => JSON.stringify(order));
    const generations = await this.sets.order(members, false, texts);
    await this.#enqueue(stored, members, generations);
    return members;
  }

  /** Orders at fixed times, from now on: `{ pattern: '0 3 * * *', tz: 'Europe/Paris' }`. One of the same id is replaced. */
  async schedule(id: string, schedule: Omit<FleetSchedule, 'id' | 'next'>): Promise<void> {
    await this.#cron.add(id, schedule);
  }

  async unschedule(id: string): Promise<boolean> {
    return this.#cron.remove(id);
  }

  async schedules(): Promise<FleetSchedule[]> {
    return this.#cron.list();
  }

  /** Jobs of a state, page by page: what runs longest first, what ended last first, what is next first. */
  async jobs(query: FleetJobQuery = {}): Promise<FleetJobPage> {
    return this.records.jobs(query, () => this.#waiting());
  }

  /** A job and its runs; `undefined` where nothing of that name was ordered. */
  async show(name: string): Promise<FleetJobHistory | undefined> {
    return this.records.show(name);
  }

  /** The last lines of the log of a run, the last run by default. All of it is on the machine that ran it, in `FLEET_DIR`. */
  async logs(
    name: string,
    options: { readonly attempt?: number; readonly tail?: number } = {},
  ): Promise<FleetLog> {
    return this.records.logs(name, options.attempt, options.tail ?? 200);
  }

  /** The slots that running spiders use, on all machines, with their delays and how these came about. */
  async slots(): Promise<FleetSlot[]> {
    return this.records.slots();
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
      machines: await this.machines.list(),
      spiders: Object.fromEntries(await this.sets.owners()),
      failures: Object.fromEntries(await this.sets.results(failedNames)),
    };
  }

  /** Orders again what has failed, or what is named and has failed or finished. How many. */
  async requeue(names?: readonly string[]): Promise<number> {
    const ended = new Set(await this.sets.names('failed'));
    if (names) for (const name of await this.sets.names('finished')) ended.add(name);
    const members = names ? names.filter((name) => ended.has(name)) : [...ended];
    for (const member of members) await this.crashed(member, 0);
    await this.#enqueue(await this.#orders(members), members, await this.sets.order(members));
    return members.length;
  }

  /**
   * Stops a spider wherever it runs, or takes it out of the queue. It has failed then, and `requeue` brings it back.
   *
   * @returns False where it neither runs nor waits.
   */
  async stop(name: string, options: { readonly fast?: boolean } = {}): Promise<boolean> {
    const found = await this.sets.cancel(name, options.fast ? 'fast' : 'graceful');
    if (found === 'pending') await this.queue.remove(jobIdOf(name));
    return found !== 'none';
  }

  /** Begins no further spider, anywhere or on one machine; what runs ends in peace. */
  async drain(machine?: string): Promise<void> {
    if (machine !== undefined) await this.machines.drain(machine, true);
    else await this.queue.pause();
  }

  /** Ends a drain. */
  async resume(machine?: string): Promise<void> {
    if (machine !== undefined) await this.machines.drain(machine, false);
    else await this.queue.resume();
  }

  /** Sets how many spiders may run at once on all machines together, or of a group, from now on; 0 is no limit. */
  async limit(count: number, group?: string): Promise<void> {
    await this.sets.limitGroup(count > 0 ? count : group === undefined ? 0 : 1e9, group);
    if (group !== undefined) return;
    if (count > 0) await this.queue.setGlobalConcurrency(count);
    else await this.queue.removeGlobalConcurrency();
  }

  /** Jobs that wait, are delayed or run. */
  async live(): Promise<number> {
    const counts = await this.queue.getJobCounts('waiting', 'prioritized', 'delayed', 'active');
    return Object.values(counts).reduce((sum, count) => sum + count, 0);
  }

  /**
   * Compares the sets with the queue: a name that was put into `pending` by hand is an order, and becomes a job. What has
   * waited too long goes to the front. Only one of the fleet does so at a time.
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
    const missing = await this.#withoutJob(pending);
    await this.#hurry();
    if (missing.length === 0) return 0;
    const generations = await this.sets.order(missing, true);
    await this.#enqueue(await this.#orders(missing), missing, generations);
    return generations.filter((generation) => generation > 0).length;
  }

  /** @internal For an agent, which keeps it up to date. */
  mirror(): FleetMirror {
    return new FleetMirror(this.#redis, this.sets, this.#prefix);
  }

  /** @internal Carries out what `schedule()` has ordered, until it is closed. */
  work(): { close(): Promise<void> } {
    return this.#cron.work((orders) => this.add(orders));
  }

  /** @internal A job of the group may begin now, where one waits aside. */
  async promote(group: string): Promise<void> {
    const key = this.#key(`aside:${group}`);
    for (;;) {
      const popped = (await this.#redis.call('ZPOPMIN', key)) as string[];
      if (popped.length === 0) return;
      const job = await this.queue.getJob(jobIdOf(popped[0]!));
      if (!job || !(await job.isDelayed())) continue;
      // Somebody else may have been quicker.
      await job.promote().catch(() => {});
      return;
    }
  }

  /** @internal A job waits until another of its group has ended. */
  async setAside(group: string, member: string, priority: number): Promise<void> {
    await this.#redis.call('ZADD', this.#key(`aside:${group}`), priority, member);
  }

  /** @internal Remembers how long a spider took, the latest counting a third. */
  async learn(member: string, seconds: number): Promise<void> {
    await this.#redis.call('EVAL', ewma, 1, this.#key('time'), member, seconds);
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

  async close(): Promise<void> {
    await this.#cron.close();
    await this.queue.close();
    await this.#redis.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #enqueue(
    orders: readonly StoredOrder[],
    members: readonly string[],
    generations: readonly number[],
  ): Promise<void> {
    const seconds = await this.#expected(members);
    const attempts = this.options.attempts ?? 3;
    const jobs = orders.flatMap((order, i) => {
      const generation = generations[i]!;
      if (generation === 0) return [];
      const member = members[i]!;
      return {
        name: order.spider,
        data: { ...order, member, generation },
        opts: {
          jobId: jobIdOf(member),
          priority: priorityOf(order.priority, seconds[i]!),
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

  /** What was ordered under these names. */
  async #orders(members: readonly string[]): Promise<StoredOrder[]> {
    const orders = await this.records.orders(members);
    return members.map((member) => orders.get(member) ?? bareOrder(member));
  }

  /** Seconds that each is expected to take: what it took before, or else the median of all that are known. */
  async #expected(members: readonly string[]): Promise<number[]> {
    const known: (number | undefined)[] = [];
    for (let i = 0; i < members.length; i += 1000) {
      const some = members.slice(i, i + 1000);
      const texts = (await this.#redis.call('HMGET', this.#key('time'), ...some)) as (
        | string
        | null
      )[];
      known.push(...texts.map((text) => (text === null ? undefined : Number(text))));
    }
    if (!known.includes(undefined)) return known as number[];
    const all = (await this.#redis.call('HVALS', this.#key('time'))) as string[];
    const sorted = all.map(Number).toSorted((a, b) => a - b);
    const median = sorted[Math.floor(sorted.length / 2)] ?? 0;
    return known.map((one) => one ?? median);
  }

  /** Names that the queue does not know. */
  async #withoutJob(names: readonly string[]): Promise<string[]> {
    const ids = new Set<string>();
    for (const set of ['prioritized', 'delayed'])
      for (const id of await this.#ids('ZRANGE', set)) ids.add(id);
    for (const list of ['wait', 'paused', 'active'])
      for (const id of await this.#ids('LRANGE', list)) ids.add(id);
    const missing: string[] = [];
    for (const name of names.filter((one) => !ids.has(jobIdOf(one)))) {
      // It may have been between two of them.
      if ((await this.queue.getJob(jobIdOf(name))) === undefined) missing.push(name);
    }
    return missing;
  }

  async #ids(command: 'ZRANGE' | 'LRANGE', set: string): Promise<string[]> {
    return (await this.#redis.call(command, this.queue.toKey(set), 0, -1)) as string[];
  }

  /** Against starvation: longest first would let a short spider wait for as long as longer ones are ordered. */
  async #hurry(): Promise<void> {
    const before = Date.now() - (this.options.maxWaitMs ?? 3_600_000);
    for (const job of await this.queue.getPrioritized(0, 9999)) {
      const front = priorityOf(job.data.priority, Infinity);
      if (job.timestamp < before && job.priority > front)
        await job.changePriority({ priority: front });
    }
  }

  /** Pending names as the queue will hand them out. */
  async #waiting(): Promise<string[]> {
    return (await this.#ids('ZRANGE', 'prioritized')).map(memberOfJob);
  }

  #key(name: string): string {
    return `${this.#prefix}fleet:${name}`;
  }
}

function storedOrder(order: FleetOrder, ownVersion: string | undefined): StoredOrder {
  const { spider, args = {}, priority = 0, group, version = ownVersion } = order;
  return {
    spider,
    args,
    priority,
    ...(group !== undefined && { group }),
    ...(version !== undefined && { version }),
  };
}

/** A spider's name alone says which run it is; arguments are part of it. */
function memberOf(spider: string, args: SpiderArgs): string {
  const entries = Object.entries(args).toSorted(([a], [b]) => (a < b ? -1 : 1));
  if (entries.length === 0) return spider;
  const mark = createHash('sha256').update(JSON.stringify(entries)).digest('hex').slice(0, 8);
  return `${spider}#${mark}`;
}

/** BullMQ takes no number and no colon as an id. */
function jobIdOf(member: string): string {
  return `s.${encodeURIComponent(member)}`;
}

function memberOfJob(id: string): string {
  return decodeURIComponent(id.slice(2));
}

/**
 * For BullMQ the lowest is first, from 1 on. Within a priority the longest is first: by the logarithm, so that tenths of
 * seconds differ and days do not reach the next priority.
 */
function priorityOf(priority: number, seconds: number): number {
  const longest = Math.min(step - 1, Math.round(500 * Math.log2(1 + seconds)));
  return Math.min(2_000_000, Math.max(1, middle - Math.round(priority) * step - longest));
}
