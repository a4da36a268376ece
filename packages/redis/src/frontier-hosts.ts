import type { Crawler, Request } from 'lycosa';

import type { HostReport } from './frontier.ts';

/** Hosts whose last answer is remembered: far more than are under way at a time. */
const maxHosts = 1000;
/** Why a delay changes that no answer tells: AutoThrottle's changes come with the page. */
const words: ReadonlySet<string> = new Set(['robots.txt', 'set by hand']);

/** What this worker sees of hosts, for the others: when they last answered, and what delay they are given. */
export class HostWatch {
  readonly #host: Pick<Crawler, 'settings' | 'slots' | 'signals'>;
  readonly #answers = new Map<string, number>();
  readonly #disconnect: (() => void)[];
  readonly #isAdaptive: boolean;
  readonly #isLeased: (request: Request) => boolean;

  /**
   * @param isLeased - Tells requests of the frontier from robots.txt and what callbacks fetch on the side.
   * @param onWord - A host has asked for a delay or a pause, or somebody has set it.
   */
  constructor(
    host: Pick<Crawler, 'settings' | 'slots' | 'signals'>,
    isLeased: (request: Request) => boolean,
    onWord: (key: string) => void,
  ) {
    this.#host = host;
    this.#isLeased = isLeased;
    this.#isAdaptive = host.settings.get('AUTOTHROTTLE_ENABLED');
    const answered = ({ request }: { request: Request }): void => this.#answered(request);
    this.#disconnect = [
      host.signals.connect('response_downloaded', answered),
      host.signals.connect('download_failed', answered),
      host.signals.connect('slot_changed', ({ key, change: { cause } }) => {
        if (this.#pauseOf(key) > 0 || words.has(cause)) onWord(key);
      }),
    ];
  }

  /** The delay that AutoThrottle goes on from is the one that all workers have learnt together. */
  learn(key: string, delayMs: number): void {
    if (this.#isAdaptive) this.#host.slots.get(key).learn(delayMs / 1000, 'shared frontier');
  }

  report(key: string): HostReport {
    const slot = this.#host.slots.get(key);
    const now = performance.now();
    const answeredAt = this.#answers.get(key);
    return {
      sinceMs: answeredAt === undefined ? undefined : now - answeredAt,
      delayMs: slot.throttledDelay * 1000,
      concurrency: slot.concurrency,
      backoffMs: slot.backoff * 1000,
      pauseMs: this.#pauseOf(key),
    };
  }

  /** Milliseconds that a host rests after a request that was broken off, or put off. */
  restOf(key: string): number {
    const slot = this.#host.slots.get(key);
    return Math.max(slot.delay * 1000, slot.nextAt - performance.now(), 0);
  }

  #pauseOf(key: string): number {
    const pause = this.#host.slots.get(key).pausedUntil - performance.now();
    return pause > 0 && pause < Infinity ? pause : 0;
  }

  close(): void {
    for (const disconnect of this.#disconnect) disconnect();
  }

  #answered(request: Request): void {
    const key = this.#host.slots.keyOf(request);
    const now = performance.now();
    this.#answers.delete(key);
    this.#answers.set(key, now);
    if (!this.#isLeased(request)) {
      // The page that follows waits here, and counts from the answer too.
      const slot = this.#host.slots.get(key);
      if (slot.delay > 0) slot.pausedUntil = Math.max(slot.pausedUntil, now + slot.delay * 1000);
    }
    if (this.#answers.size > maxHosts) this.#answers.delete(this.#answers.keys().next().value!);
  }
}
