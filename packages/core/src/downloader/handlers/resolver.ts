import { lookup, type LookupAddress } from 'node:dns';

import { LruMap } from './lru-map.ts';

/** Milliseconds that addresses are kept for, and that a failure is. */
const keptFor = 300_000;
const failureKeptFor = 5000;

type Answer = (error: Error | null, addresses: readonly LookupAddress[]) => void;
/** Asks the system for all addresses of a name. */
export type SystemLookup = (host: string, answer: Answer) => void;

interface Entry {
  readonly error: Error | null;
  readonly addresses: readonly LookupAddress[];
  readonly until: number;
}

/** Names to addresses: each name is asked for once at a time, and not again while its answer is fresh. */
export class Resolver {
  readonly #cache: LruMap<Entry> | undefined;
  readonly #timeoutMs: number;
  readonly #system: SystemLookup;
  readonly #asked = new Map<string, Answer[]>();
  readonly #queue: string[] = [];
  #active = 0;

  /** @param cacheSize - Names that are remembered; 0 is none. */
  constructor(cacheSize: number, timeoutMs: number, system: SystemLookup = systemLookup) {
    this.#cache = cacheSize > 0 ? new LruMap(cacheSize) : undefined;
    this.#timeoutMs = timeoutMs;
    this.#system = system;
  }

  resolve(host: string, answer: Answer): void {
    const known = this.#cache?.get(host);
    if (known !== undefined && known.until > performance.now()) {
      // Never before resolve() has returned: a socket is not ready for it.
      process.nextTick(answer, known.error, known.addresses);
      return;
    }
    const asking = this.#asked.get(host);
    if (asking !== undefined) {
      asking.push(answer);
      return;
    }
    this.#asked.set(host, [answer]);
    this.#queue.push(host);
    this.#next();
  }

  #next(): void {
    while (this.#active < mostLookups && this.#queue.length > 0) this.#ask(this.#queue.shift()!);
  }

  #ask(host: string): void {
    this.#active++;
    let isAnswered = false;
    const done = (error: Error | null, addresses: readonly LookupAddress[]): void => {
      if (isAnswered) return;
      isAnswered = true;
      clearTimeout(timer);
      const until = performance.now() + (error ? failureKeptFor : keptFor);
      this.#cache?.set(host, { error, addresses, until });
      const waiting = this.#asked.get(host) ?? [];
      this.#asked.delete(host);
      for (const answer of waiting) answer(error, addresses);
    };
    const timer = setTimeout(() => {
      done(
        Object.assign(new Error(`no answer within ${this.#timeoutMs / 1000} s (DNS_TIMEOUT)`), {
          code: 'EAI_AGAIN',
        }),
        [],
      );
    }, this.#timeoutMs);
    this.#system(host, (error, addresses) => {
      // A lookup that took too long holds its thread until now.
      this.#active--;
      done(error, addresses ?? []);
      this.#next();
    });
  }
}

/** Lookups wait in libuv's threads, and one is left for files. */
const mostLookups = Math.max(1, (Number(process.env['UV_THREADPOOL_SIZE']) || 4) - 1);

function systemLookup(host: string, answer: Answer): void {
  lookup(host, { all: true }, answer);
}
