import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

import { LycosaError, type SlotReport } from 'lycosa';

import type { FleetProgress } from './fleet-jobs.ts';
import type { FromHost, HostConfig, ToHost } from './fleet-messages.ts';
import type { ReasonVerdict, RunRecord } from './reasons.ts';

/** The process of a spider ended under it. Code `ERR_FLEET_HOST`. */
export class FleetHostError extends LycosaError {
  constructor(message: string) {
    super('ERR_FLEET_HOST', message);
  }
}

/** @internal How a run ended, as its host tells it. */
export interface Ended {
  readonly verdict: ReasonVerdict;
  readonly record: RunRecord;
}

/** @internal */
export interface HostLimits {
  /** For one run that may bring the process down. */
  readonly isAlone: boolean;
  readonly maxRuns: number;
  readonly maxMb: number;
  readonly cache: string;
}

/** @internal What the agent hears of a host. */
export interface HostEvents {
  /** `why` where it was not asked to go. */
  gone(why?: string): void;
  /** Whether the run is still the latest of its job. */
  holds(id: number): Promise<boolean>;
  log(id: number, lines: readonly string[]): void;
}

interface Waiter {
  resolve(ended: Ended): void;
  reject(error: Error): void;
}

/** Milliseconds that a host may take to start, on a busy machine. */
const startMs = 120_000;

/** @internal A child process with spiders, as its agent sees it. */
export class HostProcess {
  readonly isAlone: boolean;
  rssMb = 0;
  slots: readonly SlotReport[] = [];
  runs: readonly (readonly [id: number, progress: FleetProgress])[] = [];
  readonly #child: ChildProcess;
  readonly #limits: HostLimits;
  readonly #events: HostEvents;
  readonly #waiters = new Map<number, Waiter>();
  readonly #gone: Promise<void>;
  #count = 0;
  #lagMs = 0;
  #lastBeat = performance.now();
  #hasSpoken = false;
  #isLeaving = false;
  #killedFor: string | undefined;

  constructor(config: HostConfig, limits: HostLimits, events: HostEvents) {
    this.isAlone = limits.isAlone;
    this.#limits = limits;
    this.#events = events;
    this.#child = fork(hostFile(), [], {
      cwd: config.root,
      env: {
        NODE_COMPILE_CACHE: limits.cache,
        ...process.env,
        LYCOSA_FLEET_HOST: JSON.stringify(config),
      },
      // stdout is for people who pipe what the agent prints.
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    this.#child.on('message', (message: FromHost) => this.#hear(message));
    this.#child.on('error', () => {});
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#gone = promise;
    this.#child.once('exit', (code, signal) => {
      this.#end(signal ? `by ${signal}` : `with code ${code}`);
      resolve();
    });
  }

  get size(): number {
    return this.#waiters.size;
  }

  /** True if nothing further shall begin in it. */
  get isSpent(): boolean {
    const { maxRuns, maxMb } = this.#limits;
    return this.#isLeaving || this.#count >= maxRuns || this.rssMb > maxMb;
  }

  /** Milliseconds that its event loop is late, or was in the last half second. */
  get lagMs(): number {
    if (!this.#hasSpoken) return 0;
    // Half a second between two beats is what they take.
    return Math.max(this.#lagMs, performance.now() - this.#lastBeat - 1000);
  }

  /** Rejects with a FleetHostError when the process ends first. */
  run(message: Extract<ToHost, { type: 'run' }>): Promise<Ended> {
    this.#count++;
    return new Promise((resolve, reject) => {
      if (!this.#child.connected) return reject(new FleetHostError('The host process has ended'));
      this.#waiters.set(message.id, { resolve, reject });
      this.say(message);
    });
  }

  say(message: ToHost): void {
    // One that cannot hear has ended, or will in a moment; `exit` says so.
    if (this.#child.connected) this.#child.send(message, () => {});
  }

  /** Kills a host that gives no sign of life: a callback of its holds all the others. */
  check(blockMs: number): void {
    const mayBeSilentMs = this.#hasSpoken ? blockMs : Math.max(blockMs, startMs);
    if (performance.now() - this.#lastBeat <= mayBeSilentMs) return;
    this.#killedFor = `after its event loop was blocked for more than ${blockMs / 1000} s (FLEET_BLOCK_LIMIT)`;
    this.kill();
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }

  async exit(): Promise<void> {
    this.#isLeaving = true;
    this.say({ type: 'exit' });
    const timer = setTimeout(() => this.kill(), 5000);
    await this.#gone;
    clearTimeout(timer);
  }

  #end(how: string): void {
    const why = `A host process ended ${this.#killedFor ?? how} under ${this.#waiters.size} spiders`;
    this.#events.gone(this.#isLeaving && this.#waiters.size === 0 ? undefined : why);
    this.#isLeaving = true;
    for (const { reject } of this.#waiters.values()) reject(new FleetHostError(why));
    this.#waiters.clear();
  }

  #hear(message: FromHost): void {
    this.#lastBeat = performance.now();
    this.#hasSpoken = true;
    if (message.type === 'beat') {
      this.rssMb = message.rssMb;
      this.#lagMs = message.lagMs;
      this.slots = message.slots ?? this.slots;
      this.runs = message.runs ?? this.runs;
    } else if (message.type === 'log') {
      this.#events.log(message.id, message.lines);
    } else if (message.type === 'holds') {
      const { id } = message;
      void this.#events.holds(id).then((holds) => this.say({ type: 'holds', id, holds }));
    } else {
      this.#waiters.get(message.id)?.resolve(message);
      this.#waiters.delete(message.id);
    }
  }
}

/** Beside this file, in the sources and in the build. */
function hostFile(): string {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  return fileURLToPath(new URL(`./fleet-host.${extension}`, import.meta.url));
}
