import type { Request } from 'lycosa';

import type { Link } from './frontier-entry.ts';

/** A request that this worker has leased. */
export interface Lease {
  readonly token: string;
  /** Whose queue it came from. */
  readonly host: string;
  readonly request: Request;
  /** Where its page leads to: they are added when it is done. */
  readonly links: Link[];
  /** When it ends unless it is renewed, on the clock of `performance.now()`. */
  until: number;
}

/** The leases of a worker: `waiting → started → settled`, each gone when Redis has heard of its end. */
export class Leases {
  readonly #waiting = new Set<Lease>();
  readonly #started = new Map<Request, Lease>();
  readonly #settled = new Set<Lease>();
  readonly #marginMs: number;

  constructor(leaseMs: number) {
    this.#marginMs = leaseMs / 10;
  }

  get size(): number {
    return this.#waiting.size + this.#started.size + this.#settled.size;
  }

  get started(): number {
    return this.#started.size;
  }

  /** The lease of a request that is under way. */
  of(request: Request): Lease | undefined {
    return this.#started.get(request);
  }

  has(lease: Lease): boolean {
    return this.#waiting.has(lease) || this.isSettled(lease) || this.of(lease.request) === lease;
  }

  isSettled(lease: Lease): boolean {
    return this.#settled.has(lease);
  }

  /** True where it must be taken for ended: nothing may be sent on it any more. */
  isLate(lease: Lease): boolean {
    return performance.now() > lease.until - this.#marginMs;
  }

  add(lease: Lease): void {
    this.#waiting.add(lease);
  }

  /** Those that are not under way yet. */
  waiting(): Iterable<Lease> {
    return this.#waiting;
  }

  *all(): Generator<Lease> {
    yield* this.#waiting;
    yield* this.#started.values();
    yield* this.#settled;
  }

  start(lease: Lease): void {
    this.#waiting.delete(lease);
    this.#started.set(lease.request, lease);
  }

  settle(lease: Lease): void {
    this.#started.delete(lease.request);
    this.#settled.add(lease);
  }

  end(lease: Lease): void {
    this.#waiting.delete(lease);
    this.#started.delete(lease.request);
    this.#settled.delete(lease);
  }
}
