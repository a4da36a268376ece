import type { FleetMachine } from '../fleet-machines.ts';
import type { Fleet } from '../fleet.ts';
import type { SpiderEvent } from '../spider-sets.ts';
import type { Ended, Machine, Overview, Row, Slot, State } from './page/api.ts';
import { failures, isStopped, rowOf } from './rows.ts';

/** All of a fleet at one moment. */
interface Snapshot {
  readonly takenAt: number;
  readonly rows: readonly Row[];
  readonly machines: readonly FleetMachine[];
  readonly slots: readonly Slot[];
  readonly isDraining: boolean;
}

/** No snapshot is younger than this when the next one is taken, in milliseconds. */
const minAgeMs = 1500;
/** Nor takes reading more than one part in so many of the time: thousands of spiders are much to read. */
const duty = 8;
/** Redis that does not answer for so long is away. */
const answerMs = 4000;
const sampleMs = 5000;
const samples = 120;
const bucketMs = 30_000;
const buckets = 60;

/** What operators see of a fleet: read from Redis at most every other second, however many look on. */
export class FleetView implements Disposable {
  readonly #fleet: Fleet;
  readonly #timer: NodeJS.Timeout;
  /** Spiders that were asked to stop here, and in which run. */
  readonly #stopping = new Map<string, number>();
  readonly #cpus = new Map<string, number[]>();
  #ended: Ended[] = [];
  #lastEvent = '';
  #snapshot: Snapshot | undefined;
  #reading: Promise<void> | undefined;
  #loading: Promise<Snapshot> | undefined;
  #isSampling = false;
  #readAt = -Infinity;
  #costMs = 0;
  #error: string | undefined;
  #warnings: readonly string[] = [];

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
    this.#timer = setInterval(() => void this.#sample(), sampleMs);
    this.#timer.unref();
  }

  /** @throws Error where Redis never answered. */
  async overview(hasToken: boolean): Promise<Overview> {
    const { rows, machines, takenAt, isDraining } = await this.snapshot();
    const counts: Record<State, number> = { pending: 0, running: 0, finished: 0, failed: 0 };
    for (const { state } of rows) counts[state]++;
    return {
      now: Date.now(),
      takenAt,
      redis: { url: this.#fleet.url, ...(this.#error !== undefined && { error: this.#error }) },
      hasToken,
      counts,
      isDraining,
      retrying: rows.filter(({ state, error }) => state === 'pending' && error !== undefined)
        .length,
      stopped: rows.filter(isStopped).length,
      failures: failures(rows),
      machines: machines.map((machine) => this.#machine(machine)),
      ended: this.#lastBuckets(),
      warnings: this.#warnings,
    };
  }

  /** The last one that could be had. */
  async snapshot(): Promise<Snapshot> {
    const wait = Math.max(minAgeMs, duty * this.#costMs);
    if (performance.now() - this.#readAt >= wait) await (this.#reading ??= this.#read());
    if (this.#snapshot === undefined) throw new Error(this.#error);
    return this.#snapshot;
  }

  /** In which run each spider is. */
  async attempts(names: readonly string[]): Promise<Map<string, number>> {
    const wanted = new Set(names);
    const { rows } = await this.snapshot();
    return new Map(
      rows.filter(({ name }) => wanted.has(name)).map(({ name, attempts }) => [name, attempts]),
    );
  }

  /** What was changed is seen by the next who asks. */
  expire(stopped: ReadonlyMap<string, number> = new Map()): void {
    for (const [name, attempt] of stopped) this.#stopping.set(name, attempt);
    this.#readAt = -Infinity;
    this.#costMs = 0;
  }

  /** @throws Error where Redis is away: then nothing may be sent that it would carry out when it is back. */
  async needRedis(): Promise<void> {
    await inTime(this.#fleet.sets.count('running'), answerMs / 2);
  }

  /** As `promise`, but not for longer than Redis has to answer. */
  ask<T>(promise: Promise<T>): Promise<T> {
    return inTime(promise, answerMs);
  }

  get stopping(): ReadonlyMap<string, number> {
    return this.#stopping;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  async #read(): Promise<void> {
    const begin = performance.now();
    try {
      // One that is late is waited for, not asked for again: Redis would have all of them to answer when it is back.
      this.#loading ??= this.#load().finally(() => {
        this.#loading = undefined;
      });
      this.#snapshot = await inTime(this.#loading, answerMs);
      this.#error = undefined;
    } catch (error) {
      this.#error = (error as Error).message;
    }
    this.#readAt = performance.now();
    this.#costMs = this.#error === undefined ? this.#readAt - begin : 0;
    this.#reading = undefined;
  }

  async #load(): Promise<Snapshot> {
    const fleet = this.#fleet;
    const takenAt = Date.now();
    const from = this.#lastEvent || `${takenAt - buckets * bucketMs}-0`;
    const [{ jobs }, machines, slots, isDraining, events, warnings] = await Promise.all([
      fleet.jobs({ limit: Infinity }),
      fleet.machines.list(),
      fleet.slots(),
      fleet.queue.isPaused(),
      fleet.sets.events(from),
      fleet.warnings(),
    ]);
    this.#warnings = warnings;
    this.#count(events);
    for (const { name, state, attempts } of jobs) {
      if (state !== 'running' || this.#stopping.get(name) !== attempts) this.#stopping.delete(name);
    }
    return {
      takenAt,
      rows: jobs.map((job) => rowOf(job, this.#stopping)),
      machines,
      // JSON makes `null` of what is infinite.
      slots: slots as unknown as Slot[],
      isDraining,
    };
  }

  #count(events: readonly SpiderEvent[]): void {
    this.#lastEvent = events.at(-1)?.id ?? this.#lastEvent;
    for (const { id, to } of events) {
      if (to !== 'finished' && to !== 'failed') continue;
      const at = Math.floor(Number(id.split('-')[0]) / bucketMs) * bucketMs;
      const last = this.#ended.at(-1);
      if (last?.at === at) this.#ended[this.#ended.length - 1] = { ...last, [to]: last[to] + 1 };
      else this.#ended.push({ at, finished: 0, failed: 0, [to]: 1 });
    }
    this.#ended = this.#ended.slice(-buckets);
  }

  /** Empty ones included. */
  #lastBuckets(): Ended[] {
    const known = new Map(this.#ended.map((one) => [one.at, one]));
    const last = Math.floor(Date.now() / bucketMs) * bucketMs;
    return Array.from({ length: buckets }, (_, i) => {
      const at = last - (buckets - 1 - i) * bucketMs;
      return known.get(at) ?? { at, finished: 0, failed: 0 };
    });
  }

  #machine(machine: FleetMachine): Machine {
    return { ...machine, cpus: this.#cpus.get(machine.id) ?? [] };
  }

  async #sample(): Promise<void> {
    if (this.#isSampling) return;
    this.#isSampling = true;
    const machines = await this.#fleet.machines.list().catch(() => []);
    this.#isSampling = false;
    if (machines.length === 0) return;
    for (const { id, cpu } of machines) {
      this.#cpus.set(id, [...(this.#cpus.get(id) ?? []), cpu].slice(-samples));
    }
    for (const id of this.#cpus.keys()) {
      if (!machines.some((one) => one.id === id)) this.#cpus.delete(id);
    }
  }
}

async function inTime<T>(promise: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`Redis has not answered for ${ms / 1000} s`)), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
