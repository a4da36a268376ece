import { EventEmitter } from 'eventemitter3';

import { Control, toError } from '../errors.js';
const nothing = Object.freeze([]);
/** Sends signals. What a listener throws is reported and returned in its place, never thrown to the sender. */
export class SignalManager {
  #emitter = new EventEmitter();
  /** Takes what listeners throw, but for what they throw to steer. */
  onError = () => {};
  /** Calls `listener` on every `name`. Returns a function that disconnects it. */
  connect(name, listener, options = {}) {
    const event = eventOf(name, options.phase ?? 'normal');
    const call = (value, results) => {
      try {
        const result = listener(value);
        results.push(
          result instanceof Promise ? result.catch((thrown) => this.#thrown(thrown, name)) : result,
        );
      } catch (thrown) {
        results.push(this.#thrown(thrown, name));
      }
    };
    this.#emitter.on(event, call);
    return () => {
      this.#emitter.off(event, call);
    };
  }
  /** True if somebody listens; for signals that are sent once a request. */
  has(name) {
    return (
      this.#emitter.listenerCount(name) > 0 ||
      this.#emitter.listenerCount(eventOf(name, 'before')) > 0 ||
      this.#emitter.listenerCount(eventOf(name, 'after')) > 0
    );
  }
  /** Calls the listeners now; what they return or throw, in their order. A promise among it is looked after, not awaited. */
  send(name, event) {
    if (!this.has(name)) return nothing;
    const results = [];
    for (const phase of phases) this.#emitter.emit(eventOf(name, phase), event, results);
    return results;
  }
  /** As `send`, and waits for what listeners promise; no promise where nothing waits. */
  sendAwaited(name, event) {
    if (!this.has(name)) return nothing;
    const results = [];
    for (const [i, phase] of phases.entries()) {
      this.#emitter.emit(eventOf(name, phase), event, results);
      if (results.some((result) => result instanceof Promise))
        return this.#rest(name, event, results, i + 1);
    }
    return results;
  }
  async #rest(name, event, first, from) {
    const results = await Promise.all(first);
    for (const phase of phases.slice(from)) {
      const next = [];
      this.#emitter.emit(eventOf(name, phase), event, next);
      results.push(...(await Promise.all(next)));
    }
    return results;
  }
  /** The next `name`. */
  waitFor(name, signal) {
    return new Promise((resolve, reject) => {
      const disconnect = this.connect(name, (event) => {
        disconnect();
        resolve(event);
      });
      signal?.addEventListener('abort', () => {
        disconnect();
        reject(toError(signal.reason));
      });
    });
  }
  clear() {
    this.#emitter.removeAllListeners();
  }
  #thrown(thrown, name) {
    const error = toError(thrown);
    if (!(error instanceof Control)) this.onError(error, name);
    return error;
  }
}
const phases = ['before', 'normal', 'after'];
function eventOf(name, phase) {
  return phase === 'normal' ? name : `${name}:${phase}`;
}
//# sourceMappingURL=signal-manager.js.map
