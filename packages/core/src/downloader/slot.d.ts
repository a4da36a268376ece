/** What one crawler wishes of a slot. The strictest wish of all open crawlers holds. */
export interface SlotWish {
  /** Most transfers at once. */
  readonly concurrency: number;
  /** Shortest gap between two dispatches, in seconds. */
  readonly delay: number;
  /** Spread of the delay: 0.5 draws from 0.5 to 1.5 of it; 0 is exact. */
  readonly jitter: number;
  /** True where AutoThrottle may raise the delay. */
  readonly adaptive: boolean;
}
/** Whoever waits for a slot that may not send now. */
export interface SlotWaiter {
  slotReady(): void;
}
/** One site's queue: how many transfers at once, and how far apart. Shared by all crawlers of a process. */
export declare class Slot {
  #private;
  readonly key: string;
  /** Transfers now. */
  transferring: number;
  /** Requests taken from a scheduler that have not reached the wire yet. */
  reserved: number;
  /** Not before this time, on the clock of `performance.now()`. */
  pausedUntil: number;
  constructor(key: string);
  get concurrency(): number;
  /** Seconds between two dispatches, before jitter. */
  get delay(): number;
  /** What AutoThrottle has learnt. It never goes below what a crawler asked for. */
  set delay(seconds: number);
  get learnt(): number | undefined;
  /** Requests that wait here for their turn. */
  get queued(): number;
  /** No transfer, nobody waiting. */
  get isIdle(): boolean;
  get isUnused(): boolean;
  /** When the next dispatch may happen, on the clock of `performance.now()`. */
  get nextAt(): number;
  /** True if a request taken from a scheduler now could be sent at once. */
  get isReady(): boolean;
  /** Sets when this slot may send again; `-Infinity` ends the pause. */
  pauseUntil(time: number): void;
  addWish(wish: SlotWish): void;
  removeWish(wish: SlotWish): void;
  /** Waits for a turn on the wire: undefined if it is now, a promise of false if it was cancelled. */
  enter(owner: object): Promise<boolean> | undefined;
  /** A transfer has ended. */
  leave(): void;
  /** Sends away all of `owner` that wait in the queue. */
  cancel(owner: object): void;
  /** Calls `waiter` once, when this slot may send. */
  wait(waiter: SlotWaiter): void;
  forget(waiter: SlotWaiter): void;
  /** Sends whoever may go now, then tells those that wait outside. */
  wake(): void;
  close(): void;
}
//# sourceMappingURL=slot.d.ts.map
