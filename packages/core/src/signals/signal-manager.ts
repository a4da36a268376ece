import { EventEmitter } from 'eventemitter3';

import { Control, toError } from '../errors.ts';
import type { SignalMap } from './signal-map.ts';

export type SignalName = keyof SignalMap;
export type Listener<N extends SignalName> = (event: SignalMap[N]) => unknown;

/** When a listener of an awaited signal runs: all of one phase together, phases one after the other. */
export type Phase = 'before' | 'normal' | 'after';

const nothing: readonly unknown[] = Object.freeze([]);

/** Sends signals. What a listener throws is reported and returned in its place, never thrown to the sender. */
export class SignalManager {
  readonly #emitter = new EventEmitter();
  /** Of each signal that somebody listens to, the phases with listeners, by their event. Asked once a request. */
  readonly #heard = new Map<SignalName, readonly string[]>();
  /** Takes what listeners throw, but for what they throw to steer. */
  onError: (error: Error, name: SignalName) => void = () => {};

  /** Calls `listener` on every `name`. Returns a function that disconnects it. */
  connect<N extends SignalName>(
    name: N,
    listener: Listener<N>,
    options: { phase?: Phase } = {},
  ): () => void {
    const event = eventOf(name, options.phase ?? 'normal');
    const call = (value: SignalMap[N], results: unknown[]): void => {
      try {
        const result = listener(value);
        results.push(
          result instanceof Promise
            ? result.catch((thrown: unknown) => this.#thrown(thrown, name))
            : result,
        );
      } catch (thrown) {
        results.push(this.#thrown(thrown, name));
      }
    };
    this.#emitter.on(event, call);
    this.#listen(name);
    return () => {
      this.#emitter.off(event, call);
      this.#listen(name);
    };
  }

  #listen(name: SignalName): void {
    const heard = phases
      .map((phase) => eventOf(name, phase))
      .filter((event) => this.#emitter.listenerCount(event) > 0);
    if (heard.length > 0) this.#heard.set(name, heard);
    else this.#heard.delete(name);
  }

  /** True if somebody listens; for signals that are sent once a request. */
  has(name: SignalName): boolean {
    return this.#heard.has(name);
  }

  /** Calls the listeners now; what they return or throw, in their order. A promise among it is looked after, not awaited. */
  send<N extends SignalName>(name: N, event: SignalMap[N]): readonly unknown[] {
    const heard = this.#heard.get(name);
    if (heard === undefined) return nothing;
    const results: unknown[] = [];
    for (const phase of heard) this.#emitter.emit(phase, event, results);
    return results;
  }

  /** As `send`, and waits for what listeners promise; no promise where nothing waits. */
  sendAwaited<N extends SignalName>(
    name: N,
    event: SignalMap[N],
  ): readonly unknown[] | Promise<readonly unknown[]> {
    const heard = this.#heard.get(name);
    if (heard === undefined) return nothing;
    const results: unknown[] = [];
    for (const [i, phase] of heard.entries()) {
      this.#emitter.emit(phase, event, results);
      if (results.some((result) => result instanceof Promise))
        return this.#rest(heard.slice(i + 1), event, results);
    }
    return results;
  }

  async #rest(heard: readonly string[], event: unknown, first: unknown[]): Promise<unknown[]> {
    const results = await Promise.all(first);
    for (const phase of heard) {
      const next: unknown[] = [];
      this.#emitter.emit(phase, event, next);
      results.push(...(await Promise.all(next)));
    }
    return results;
  }

  /** The next `name`; rejects with the reason of `signal` when that is aborted first. */
  waitFor<N extends SignalName>(name: N, signal?: AbortSignal): Promise<SignalMap[N]> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(toError(signal.reason));
      const stop = (): void => {
        disconnect();
        reject(toError(signal?.reason));
      };
      const disconnect = this.connect(name, (event) => {
        disconnect();
        signal?.removeEventListener('abort', stop);
        resolve(event);
      });
      signal?.addEventListener('abort', stop, { once: true });
    });
  }

  clear(): void {
    this.#emitter.removeAllListeners();
    this.#heard.clear();
  }

  #thrown(thrown: unknown, name: SignalName): Error {
    const error = toError(thrown);
    if (!(error instanceof Control)) this.onError(error, name);
    return error;
  }
}

const phases = ['before', 'normal', 'after'] as const;

function eventOf(name: SignalName, phase: Phase): string {
  return phase === 'normal' ? name : `${name}:${phase}`;
}
