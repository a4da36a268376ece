import { randomUUID } from 'node:crypto';

import type { RedisConnection } from './connection.ts';
import type { Claim, KnownSpider, SpiderSets, SpiderState } from './spider-sets.ts';

/** @internal What happened to the server since the last look. */
export type ServerEvent = 'same' | 'restarted' | 'emptied';

/** @internal A run of our own, of which the events may not have told us yet. */
export interface OwnRun {
  readonly claim: Claim;
  readonly state: SpiderState;
  readonly record?: object;
}

/**
 * @internal What an agent knows of all orders, so that a server that was killed and has lost some of them, or all, is told
 * again. A server that somebody has emptied by hand is left empty.
 */
export class FleetMirror {
  readonly #redis: RedisConnection;
  readonly #sets: SpiderSets;
  readonly #prefix: string;
  readonly #known = new Map<string, KnownSpider>();
  #limits: readonly string[] = [];
  #lastEvent = '0';
  /** What happened before is known; by the clock of `performance`. */
  #readAt = 0;
  /** Made up by each start of the server. */
  #runId: string | undefined;
  /** Made up by us; it is gone when the keys are. */
  #epoch = '';

  constructor(redis: RedisConnection, sets: SpiderSets, prefix: string) {
    this.#redis = redis;
    this.#sets = sets;
    this.#prefix = prefix;
  }

  get readAt(): number {
    return this.#readAt;
  }

  /** Looks what is new. When the server `restarted`, what it has lost is not looked at before `restore()`. */
  async follow(): Promise<ServerEvent> {
    const runId = await this.#serverId();
    if (this.#runId !== undefined && runId !== this.#runId) return 'restarted';
    const epoch = await this.#meet();
    const isFirst = this.#runId === undefined;
    const isEmptied = !isFirst && epoch !== this.#epoch;
    if (isFirst || isEmptied) {
      this.#known.clear();
      await this.#load();
    }
    this.#runId = runId;
    this.#epoch = epoch;
    await this.#read();
    this.#limits = (await this.#redis.call('HGETALL', this.#key('limits'))) as string[];
    return isEmptied ? 'emptied' : 'same';
  }

  /**
   * Tells the server what it may have lost; returns how many names that were.
   *
   * @param own - What has ended here and what runs here, the latest last.
   */
  async restore(own: readonly OwnRun[]): Promise<number> {
    for (const { claim, state, record } of own) {
      const { name, token, attempt } = claim;
      const known = this.#known.get(name);
      if (known && known.token > token) continue;
      const text = record ? JSON.stringify(record) : (known?.record ?? '');
      const order = known?.order ?? '';
      this.#known.set(name, { name, state, token, attempt, order, record: text });
    }
    const here = new Set(own.filter(({ state }) => state === 'running').map((o) => o.claim.name));
    const runId = await this.#serverId();
    // What it has not lost is not pending for want of a job: the queue is looked at a little later.
    await this.#redis.call('SET', this.#key('reconciler'), 1, 'PX', 3000);
    const count = await this.#sets.restore([...this.#known.values()], (name) => here.has(name));
    for (let i = 0; i < this.#limits.length; i += 2)
      await this.#redis.call('HSETNX', this.#key('limits'), ...this.#limits.slice(i, i + 2));
    this.#runId = runId;
    this.#epoch = await this.#meet();
    return count;
  }

  /** How many may run on all machines, as it was last said. */
  get fleetLimit(): number {
    const at = this.#limits.indexOf('*');
    return at < 0 ? 0 : Number(this.#limits[at + 1]);
  }

  async #serverId(): Promise<string> {
    const info = String(await this.#redis.call('INFO', 'server'));
    return /^run_id:(\w+)/m.exec(info)?.[1] ?? 'unknown';
  }

  async #meet(): Promise<string> {
    await this.#redis.call('SET', this.#key('epoch'), randomUUID(), 'NX');
    return String(await this.#redis.call('GET', this.#key('epoch')));
  }

  async #load(): Promise<void> {
    const [last] = (await this.#redis.call(
      'XREVRANGE',
      this.#key('events'),
      '+',
      '-',
      'COUNT',
      1,
    )) as [string, unknown][];
    this.#lastEvent = last?.[0] ?? '0';
    for (const state of ['pending', 'running', 'finished', 'failed'] as const) {
      const names = await this.#sets.names(state);
      const tokens = await this.#many('token', names);
      const attempts = await this.#many('attempts', names);
      await this.#learn(
        names.map((name, i) => ({
          name,
          state,
          token: Number(tokens[i] ?? 0),
          attempt: Number(attempts[i] ?? 0),
        })),
      );
    }
  }

  async #read(): Promise<void> {
    const askedAt = performance.now();
    const events = await this.#sets.events(this.#lastEvent);
    if (events.length > 0) {
      this.#lastEvent = events.at(-1)!.id;
      const latest = new Map(events.map((event) => [event.name, event]));
      await this.#learn([...latest.values()].map(({ to, ...event }) => ({ ...event, state: to })));
    }
    this.#readAt = askedAt;
  }

  async #learn(
    found: readonly { name: string; state: SpiderState; token: number; attempt: number }[],
  ): Promise<void> {
    const names = found.map(({ name }) => name);
    const orders = await this.#many('orders', names);
    const failed = names.filter((_, i) => found[i]!.state === 'failed');
    const records = new Map(
      (await this.#many('result', failed)).map((text, i) => [failed[i]!, text ?? '']),
    );
    for (const [i, { name, state, token, attempt }] of found.entries()) {
      const order = orders[i] ?? this.#known.get(name)?.order ?? '';
      const record = records.get(name) ?? '';
      this.#known.set(name, { name, state, token, attempt, order, record });
    }
  }

  async #many(key: string, names: readonly string[]): Promise<(string | null)[]> {
    const texts: (string | null)[] = [];
    for (let i = 0; i < names.length; i += 1000) {
      const some = names.slice(i, i + 1000);
      texts.push(...((await this.#redis.call('HMGET', this.#key(key), ...some)) as typeof texts));
    }
    return texts;
  }

  #key(name: string): string {
    return `${this.#prefix}fleet:${name}`;
  }
}
