import type { RedisConnection } from './connection.ts';

/** One machine that runs spiders, as it said last. */
export interface FleetMachine {
  /** `machine/pid/id` of the agent. */
  readonly id: string;
  readonly running: number;
  /** How many may run on it at once. */
  readonly count: number;
  /** Its processes with spiders. */
  readonly hosts: number;
  /** Megabytes of the agent and its hosts. */
  readonly rssMb: number;
  /** Megabytes that are free on the machine, or in its container. */
  readonly freeMb: number;
  readonly totalMb: number;
  /** Processors at work, by all that runs on the machine: 0 to 1. */
  readonly cpu: number;
  /** Milliseconds that the latest event loop with spiders was late in the last second. */
  readonly lagMs: number;
  /**
   * Why it begins no further spider now: too little memory, an event loop that is late, a drain of this machine, or many
   * spiders one after the other that could not start.
   */
  readonly closedBy?: 'memory' | 'lag' | 'drain' | 'failing';
  /** The version of the project on it. */
  readonly version?: string;
  /** When its agent was started, in milliseconds since the epoch. */
  readonly since: number;
  /** Milliseconds since the epoch, of the last word from it. */
  readonly at: number;
}

/** @internal The machines of a fleet: each says that it is there, for as long as it keeps saying so. */
export class FleetMachines {
  readonly #redis: RedisConnection;
  readonly #prefix: string;

  constructor(redis: RedisConnection, prefix: string) {
    this.#redis = redis;
    this.#prefix = prefix;
  }

  async announce(machine: FleetMachine, seconds: number): Promise<void> {
    const key = this.#key(`machine:${machine.id}`);
    await this.#redis.call('SET', key, JSON.stringify(machine), 'EX', Math.ceil(seconds));
    await this.#redis.call('SADD', this.#key('machines'), machine.id);
  }

  async list(): Promise<FleetMachine[]> {
    const ids = (await this.#redis.call('SMEMBERS', this.#key('machines'))) as string[];
    if (ids.length === 0) return [];
    const sorted = ids.toSorted();
    const keys = sorted.map((id) => this.#key(`machine:${id}`));
    const texts = (await this.#redis.call('MGET', ...keys)) as (string | null)[];
    const gone = sorted.filter((_, i) => texts[i] === null);
    if (gone.length > 0) await this.#redis.call('SREM', this.#key('machines'), ...gone);
    return texts.flatMap((text) => (text === null ? [] : [JSON.parse(text) as FleetMachine]));
  }

  /** @param machine - Its name: what stands before the first slash of its id. */
  async drain(machine: string, isDrained: boolean): Promise<void> {
    await this.#redis.call(isDrained ? 'SADD' : 'SREM', this.#key('drained'), machine);
  }

  async isDrained(machine: string): Promise<boolean> {
    return (await this.#redis.call('SISMEMBER', this.#key('drained'), machine)) === 1;
  }

  /** A machine that goes in peace leaves the list at once. */
  async leave(id: string): Promise<void> {
    await this.#redis.call('SREM', this.#key('machines'), id);
    await this.#redis.call('DEL', this.#key(`machine:${id}`), this.#key(`live:${id}`));
  }

  #key(name: string): string {
    return `${this.#prefix}fleet:${name}`;
  }
}
