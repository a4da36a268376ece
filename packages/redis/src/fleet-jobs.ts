import type { SlotReport, SpiderArgs } from 'lycosa';

import type { RedisConnection } from './connection.ts';
import type { RunRecord } from './reasons.ts';
import type { SpiderSets, SpiderState, SpiderTarget } from './spider-sets.ts';

/** One run of a job, from its claim to its end. */
export interface FleetRun extends Partial<Omit<RunRecord, 'spider' | 'at'>> {
  /** Counts the runs of the job, from 1 on. */
  readonly attempt: number;
  /** `machine/pid/id` of the agent. */
  readonly machine: string;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** Absent while it runs. */
  readonly endedAt?: number;
  /** Where the job went then; `pending` with the reason `lost` where its machine was not heard of any more. */
  readonly state?: SpiderTarget;
}

/** How far a run has come, as its machine said last. */
export interface FleetProgress {
  readonly items: number;
  readonly responses: number;
  readonly errors: number;
  readonly itemsPerMinute: number;
  readonly responsesPerMinute: number;
}

/** A spider with its arguments, that was ordered once or more. */
export interface FleetJob {
  /** The name in the sets: the spider's, with a mark of its arguments where it has some. */
  readonly name: string;
  readonly spider: string;
  readonly args: SpiderArgs;
  readonly state: SpiderState;
  readonly priority: number;
  readonly group?: string;
  /** The version of the project that it waits for. */
  readonly version?: string;
  /** When it came into its state, in milliseconds since the epoch. */
  readonly changedAt: number;
  /** Runs that have begun so far. */
  readonly attempts: number;
  /** What a run takes, by those before; absent where none has finished. */
  readonly expectedSeconds?: number;
  /** The run under way, or else the last one that is known. */
  readonly run?: FleetRun;
  /** Of the run under way. */
  readonly progress?: FleetProgress;
  /** Why it has failed, or what its last run failed with. */
  readonly error?: string;
}

/** A job with its runs, the last one first; about 20 are kept. */
export interface FleetJobHistory extends FleetJob {
  readonly runs: readonly FleetRun[];
}

export interface FleetJobQuery {
  /** All states if absent. */
  readonly state?: SpiderState;
  /** Only names that contain this text. */
  readonly search?: string;
  readonly offset?: number;
  /** 100 by default. */
  readonly limit?: number;
}

export interface FleetJobPage {
  /** Jobs that the query finds on all pages. */
  readonly total: number;
  readonly jobs: readonly FleetJob[];
}

/** The log of a run, as it is kept in Redis: its last lines. */
export interface FleetLog {
  readonly attempt: number;
  readonly lines: readonly string[];
}

/** A slot of a host that spiders visit, somewhere in the fleet. */
export interface FleetSlot extends SlotReport {
  /** `machine/pid/id` of the agent. */
  readonly machine: string;
}

/** @internal What an agent tells of what runs on it. */
export interface LiveReport {
  readonly slots: readonly SlotReport[];
  readonly runs: Readonly<Record<string, FleetProgress>>;
}

/** @internal What is kept of an order. */
export interface StoredOrder {
  readonly spider: string;
  readonly args: SpiderArgs;
  readonly priority: number;
  readonly group?: string;
  readonly version?: string;
}

const states = ['running', 'pending', 'failed', 'finished'] as const;
/** Seconds for which the log of a run is kept in Redis. */
const logSeconds = 7 * 86_400;

/** @internal What is known of jobs and their runs: reads it all from Redis. */
export class FleetRecords {
  readonly #redis: RedisConnection;
  readonly #sets: SpiderSets;
  readonly #prefix: string;

  constructor(redis: RedisConnection, sets: SpiderSets, prefix: string) {
    this.#redis = redis;
    this.#sets = sets;
    this.#prefix = prefix;
  }

  /** @param waiting - Pending names in the order in which they will be taken, as far as it is known. */
  async jobs(query: FleetJobQuery, waiting: () => Promise<string[]>): Promise<FleetJobPage> {
    const { state, search, offset = 0, limit = 100 } = query;
    const found: (readonly [name: string, state: SpiderState])[] = [];
    for (const one of state === undefined ? states : [state]) {
      const names = await this.#ordered(one, waiting);
      for (const name of names)
        if (search === undefined || name.includes(search)) found.push([name, one]);
    }
    return { total: found.length, jobs: await this.#load(found.slice(offset, offset + limit)) };
  }

  async show(name: string): Promise<FleetJobHistory | undefined> {
    for (const state of states) {
      if (!(await this.#redis.call('SISMEMBER', this.#key(state), name))) continue;
      const [job] = await this.#load([[name, state]]);
      const past = historyOf(await this.#redis.call('HGET', this.#key('fleet:history'), name));
      const isNew = job!.run !== undefined && job!.run.attempt !== past[0]?.attempt;
      return { ...job!, runs: isNew ? [job!.run!, ...past] : past };
    }
    return undefined;
  }

  async logs(name: string, attempt: number | undefined, tail: number): Promise<FleetLog> {
    const last = Number(await this.#redis.call('HGET', this.#key('fleet:attempts'), name));
    const number = attempt ?? last;
    const key = this.#logKey(name, number);
    return {
      attempt: number,
      lines: (await this.#redis.call('LRANGE', key, -tail, -1)) as string[],
    };
  }

  async appendLog(name: string, attempt: number, lines: readonly string[], keep: number) {
    const key = this.#logKey(name, attempt);
    await this.#redis.call('RPUSH', key, ...lines);
    await this.#redis.call('LTRIM', key, -keep, -1);
    await this.#redis.call('EXPIRE', key, logSeconds);
  }

  async orders(names: readonly string[]): Promise<Map<string, StoredOrder>> {
    const texts = await this.#many('fleet:orders', names);
    return new Map(
      names.flatMap((name, i) =>
        texts[i] ? [[name, JSON.parse(texts[i]) as StoredOrder] as const] : [],
      ),
    );
  }

  /** Says what runs on a machine, for as long as it keeps saying so. */
  async report(machine: string, report: LiveReport, seconds: number): Promise<void> {
    const key = this.#key(`fleet:live:${machine}`);
    await this.#redis.call('SET', key, JSON.stringify(report), 'EX', Math.ceil(seconds));
  }

  async slots(): Promise<FleetSlot[]> {
    const slots: FleetSlot[] = [];
    for (const [machine, report] of await this.#reports()) {
      for (const { pausedUntil, ...slot } of report.slots) {
        // JSON knows no infinity.
        slots.push({
          ...slot,
          concurrency: slot.concurrency ?? Infinity,
          pausedUntil: pausedUntil === null ? Infinity : pausedUntil,
          machine,
        });
      }
    }
    return slots.toSorted((a, b) => (a.key < b.key ? -1 : 1));
  }

  async #reports(): Promise<Map<string, LiveReport>> {
    const ids = (await this.#redis.call('SMEMBERS', this.#key('fleet:machines'))) as string[];
    if (ids.length === 0) return new Map();
    const keys = ids.map((id) => this.#key(`fleet:live:${id}`));
    const texts = (await this.#redis.call('MGET', ...keys)) as (string | null)[];
    return new Map(
      ids.flatMap((id, i) => (texts[i] ? [[id, JSON.parse(texts[i]) as LiveReport] as const] : [])),
    );
  }

  /** The longest running first, the latest ended first, the next first. */
  async #ordered(state: SpiderState, waiting: () => Promise<string[]>): Promise<string[]> {
    const names = await this.#sets.names(state);
    if (names.length === 0) return names;
    const times = (await this.#redis.call('ZMSCORE', this.#key('fleet:at'), ...names)) as (
      | string
      | null
    )[];
    const at = new Map(names.map((name, i) => [name, Number(times[i] ?? 0)]));
    const newestFirst = state === 'finished' || state === 'failed' ? -1 : 1;
    const byTime = names.toSorted(
      (a, b) => newestFirst * (at.get(a)! - at.get(b)!) || (a < b ? -1 : 1),
    );
    if (state !== 'pending') return byTime;
    const queued = (await waiting()).filter((name) => at.has(name));
    return [...new Set([...queued, ...byTime])];
  }

  async #load(found: readonly (readonly [string, SpiderState])[]): Promise<FleetJob[]> {
    if (found.length === 0) return [];
    const names = found.map(([name]) => name);
    const [orders, runs, past, attempts, times, seconds, at, results, live] = await Promise.all([
      this.orders(names),
      this.#many('fleet:run', names),
      this.#many('fleet:history', names),
      this.#many('fleet:attempts', names),
      this.#redis.call('ZMSCORE', this.#key('fleet:at'), ...names) as Promise<(string | null)[]>,
      this.#many('fleet:time', names),
      this.#redis.call('TIME') as Promise<[string, string]>,
      this.#sets.results(names),
      this.#reports(),
    ]);
    const progress = new Map([...live.values()].flatMap((one) => Object.entries(one.runs)));
    return found.map(([name, state], i) => {
      const order = orders.get(name) ?? bareOrder(name);
      const text = runs[i];
      const run = text ? (JSON.parse(text) as FleetRun) : historyOf(past[i])[0];
      const error = state === 'running' ? undefined : (results.get(name)?.['error'] ?? run?.error);
      const current = state === 'running' ? progress.get(name) : undefined;
      return {
        name,
        ...order,
        state,
        changedAt: Number(times[i] ?? Number(at[0]) * 1000),
        attempts: Number(attempts[i] ?? 0),
        ...(seconds[i] && { expectedSeconds: Number(seconds[i]) }),
        ...(run && { run }),
        ...(current && { progress: current }),
        ...(error !== undefined && { error: error as string }),
      };
    });
  }

  async #many(key: string, names: readonly string[]): Promise<(string | null)[]> {
    const texts: (string | null)[] = [];
    for (let i = 0; i < names.length; i += 1000) {
      const some = names.slice(i, i + 1000);
      texts.push(...((await this.#redis.call('HMGET', this.#key(key), ...some)) as typeof texts));
    }
    return texts;
  }

  #logKey(name: string, attempt: number): string {
    return this.#key(`fleet:log:${name}:${attempt}`);
  }

  #key(name: string): string {
    return this.#prefix + name;
  }
}

/** A name that was put into `pending` by hand. */
export function bareOrder(name: string): StoredOrder {
  return { spider: name, args: {}, priority: 0 };
}

function historyOf(text: unknown): FleetRun[] {
  if (typeof text !== 'string') return [];
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as FleetRun);
}
