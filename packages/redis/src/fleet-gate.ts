/** @internal Why a machine begins no further spider. */
export type GateReason = 'memory' | 'lag' | 'drain' | 'failing';

/** Starts that fail one after the other, after which the fault is likely the machine's. */
const maxFailedStarts = 20;
/** Milliseconds for which it then begins nothing. */
const failingMs = 30_000;

/** @internal Decides whether a machine may begin another spider. */
export class ResourceGate {
  readonly #minFreeMb: number;
  readonly #maxLagMs: number;
  #failedStarts = new Set<string>();
  #failingUntil = 0;

  /** @param minFreeMb - 0 is no limit, as for `maxLagMs`. */
  constructor(minFreeMb: number, maxLagMs: number) {
    this.#minFreeMb = minFreeMb;
    this.#maxLagMs = maxLagMs;
  }

  reason(freeMb: number, lagMs: number, isDrained: boolean): GateReason | undefined {
    if (isDrained) return 'drain';
    if (performance.now() < this.#failingUntil) return 'failing';
    if (freeMb < this.#minFreeMb) return 'memory';
    return this.#maxLagMs > 0 && lagMs > this.#maxLagMs ? 'lag' : undefined;
  }

  /** A run has ended; spiders that cannot start one after the other are a fault of the machine. */
  ended(spider: string, couldStart: boolean): void {
    if (couldStart) this.#failedStarts.clear();
    else this.#failedStarts.add(spider);
    if (this.#failedStarts.size < maxFailedStarts) return;
    this.#failedStarts.clear();
    this.#failingUntil = performance.now() + failingMs;
  }
}
