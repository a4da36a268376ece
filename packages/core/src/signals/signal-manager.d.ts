import type { SignalMap } from './signal-map.ts';
export type SignalName = keyof SignalMap;
export type Listener<N extends SignalName> = (event: SignalMap[N]) => unknown;
/** When a listener of an awaited signal runs: all of one phase together, phases one after the other. */
export type Phase = 'before' | 'normal' | 'after';
/** Sends signals. What a listener throws is reported and returned in its place, never thrown to the sender. */
export declare class SignalManager {
  #private;
  /** Takes what listeners throw, but for what they throw to steer. */
  onError: (error: Error, name: SignalName) => void;
  /** Calls `listener` on every `name`. Returns a function that disconnects it. */
  connect<N extends SignalName>(
    name: N,
    listener: Listener<N>,
    options?: {
      phase?: Phase;
    },
  ): () => void;
  /** True if somebody listens; for signals that are sent once a request. */
  has(name: SignalName): boolean;
  /** Calls the listeners now; what they return or throw, in their order. A promise among it is looked after, not awaited. */
  send<N extends SignalName>(name: N, event: SignalMap[N]): readonly unknown[];
  /** As `send`, and waits for what listeners promise; no promise where nothing waits. */
  sendAwaited<N extends SignalName>(
    name: N,
    event: SignalMap[N],
  ): readonly unknown[] | Promise<readonly unknown[]>;
  /** The next `name`. */
  waitFor<N extends SignalName>(name: N, signal?: AbortSignal): Promise<SignalMap[N]>;
  clear(): void;
}
//# sourceMappingURL=signal-manager.d.ts.map
