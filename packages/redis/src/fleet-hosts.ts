import { type HostEvents, HostProcess } from './fleet-host-process.ts';
import type { FleetProgress } from './fleet-jobs.ts';
import type { HostConfig } from './fleet-messages.ts';

/** @internal */
export interface HostPoolOptions {
  readonly config: HostConfig;
  /** Processes that spiders are spread over. */
  readonly hosts: number;
  readonly maxRuns: number;
  readonly maxMb: number;
  /** Folder for compiled code, so that the next host starts sooner. */
  readonly cache: string;
}

/** @internal The processes with spiders of one machine. */
export class HostPool {
  readonly #options: HostPoolOptions;
  readonly #events: HostEvents;
  readonly #hosts = new Set<HostProcess>();

  constructor(options: HostPoolOptions, events: HostEvents) {
    this.#options = options;
    this.#events = events;
  }

  get size(): number {
    return this.#hosts.size;
  }

  get rssMb(): number {
    return [...this.#hosts].reduce((sum, host) => sum + host.rssMb, 0);
  }

  /** Milliseconds that the latest event loop is late. */
  get lagMs(): number {
    return Math.max(0, ...[...this.#hosts].map((host) => Math.round(host.lagMs)));
  }

  get slots(): HostProcess['slots'] {
    return [...this.#hosts].flatMap((host) => host.slots);
  }

  get progress(): Map<number, FleetProgress> {
    return new Map([...this.#hosts].flatMap((host) => host.runs));
  }

  /** A host with room: the emptiest. */
  free(): HostProcess {
    const open = [...this.#hosts].filter((host) => !host.isAlone && !host.isSpent);
    if (open.length < this.#options.hosts) return this.#start(false);
    return open.reduce((least, host) => (host.size < least.size ? host : least));
  }

  /** A host for one run that has brought its process down before. */
  alone(): HostProcess {
    return this.#start(true);
  }

  /** A host that a run has left ends, where nothing further begins in it. */
  left(host: HostProcess): void {
    if (host.size === 0 && (host.isAlone || host.isSpent)) void host.exit();
  }

  check(blockMs: number): void {
    for (const host of this.#hosts) host.check(blockMs);
  }

  kill(): void {
    for (const host of this.#hosts) host.kill();
  }

  async exit(): Promise<void> {
    await Promise.all([...this.#hosts].map((host) => host.exit()));
  }

  #start(isAlone: boolean): HostProcess {
    const { config, maxRuns, maxMb, cache } = this.#options;
    const host = new HostProcess(
      config,
      { isAlone, maxRuns, maxMb, cache },
      {
        ...this.#events,
        gone: (why) => {
          this.#hosts.delete(host);
          this.#events.gone(why);
        },
      },
    );
    this.#hosts.add(host);
    return host;
  }
}
