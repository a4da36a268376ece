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
export class Slot {
  readonly key: string;
  /** Transfers now. */
  transferring = 0;
  /** Requests taken from a scheduler that have not reached the wire yet. */
  reserved = 0;
  /** Not before this time, on the clock of `performance.now()`. */
  pausedUntil: number = -Infinity;
  #wishes: SlotWish[] = [];
  #concurrency = 1;
  #floor = 0;
  #jitter = 0;
  #adaptive = false;
  #learnt: number | undefined;
  #lastDispatch = -Infinity;
  #factor = 1;
  #queue: { readonly owner: object; readonly go: (turn: boolean) => void }[] = [];
  #waiters = new Set<SlotWaiter>();
  #timer: NodeJS.Timeout | undefined;

  constructor(key: string) {
    this.key = key;
  }

  get concurrency(): number {
    return this.#concurrency;
  }

  /** Seconds between two dispatches, before jitter. */
  get delay(): number {
    return this.#adaptive && this.#learnt !== undefined
      ? Math.max(this.#learnt, this.#floor)
      : this.#floor;
  }

  /** What AutoThrottle has learnt. It never goes below what a crawler asked for. */
  set delay(seconds: number) {
    this.#learnt = seconds;
    this.#rearm();
  }

  get learnt(): number | undefined {
    return this.#learnt;
  }

  /** Requests that wait here for their turn. */
  get queued(): number {
    return this.#queue.length;
  }

  /** No transfer, nobody waiting. */
  get isIdle(): boolean {
    return (
      this.transferring === 0 &&
      this.reserved === 0 &&
      this.#queue.length === 0 &&
      this.#waiters.size === 0
    );
  }

  get isUnused(): boolean {
    return this.#wishes.length === 0;
  }

  /** When the next dispatch may happen, on the clock of `performance.now()`. */
  get nextAt(): number {
    return Math.max(this.#lastDispatch + this.delay * 1000 * this.#factor, this.pausedUntil);
  }

  /** True if a request taken from a scheduler now could be sent at once. */
  get isReady(): boolean {
    const busy = this.transferring + this.reserved + this.#queue.length;
    if (busy >= this.#concurrency) return false;
    if (this.delay === 0 && this.pausedUntil === -Infinity) return true;
    return this.reserved === 0 && this.#queue.length === 0 && performance.now() >= this.nextAt;
  }

  /** Sets when this slot may send again; `-Infinity` ends the pause. */
  pauseUntil(time: number): void {
    this.pausedUntil = time;
    this.#rearm();
  }

  addWish(wish: SlotWish): void {
    this.#wishes.push(wish);
    if (wish.adaptive && this.#learnt !== undefined) this.#learnt = Math.max(this.#learnt, 0);
    this.#settle();
  }

  removeWish(wish: SlotWish): void {
    const index = this.#wishes.indexOf(wish);
    if (index >= 0) this.#wishes.splice(index, 1);
    this.#settle();
  }

  #settle(): void {
    const wishes = this.#wishes;
    this.#concurrency = wishes.length ? Math.min(...wishes.map((wish) => wish.concurrency)) : 1;
    this.#floor = Math.max(0, ...wishes.map((wish) => wish.delay));
    this.#jitter = wishes.length ? Math.min(...wishes.map((wish) => wish.jitter)) : 0;
    this.#adaptive = wishes.some((wish) => wish.adaptive);
    this.#rearm();
  }

  /** Waits for a turn on the wire: undefined if it is now, a promise of false if it was cancelled. */
  enter(owner: object): Promise<boolean> | undefined {
    if (this.#queue.length === 0 && this.#maySend()) {
      this.#dispatched();
      return undefined;
    }
    return new Promise((go) => {
      this.#queue.push({ owner, go });
      this.#arm();
    });
  }

  /** A transfer has ended. */
  leave(): void {
    this.transferring--;
    this.wake();
  }

  /** Sends away all of `owner` that wait in the queue. */
  cancel(owner: object): void {
    const leaving = this.#queue.filter((place) => place.owner === owner);
    this.#queue = this.#queue.filter((place) => place.owner !== owner);
    for (const place of leaving) place.go(false);
    this.wake();
  }

  /** Calls `waiter` once, when this slot may send. */
  wait(waiter: SlotWaiter): void {
    this.#waiters.add(waiter);
    this.#arm();
  }

  forget(waiter: SlotWaiter): void {
    this.#waiters.delete(waiter);
  }

  /** Sends whoever may go now, then tells those that wait outside. */
  wake(): void {
    while (this.#queue.length > 0 && this.#maySend()) {
      this.#dispatched();
      this.#queue.shift()!.go(true);
    }
    // A waiter that is told may take the place at once; the next one is told only if there is still room.
    for (const waiter of this.#waiters) {
      if (!this.isReady) break;
      this.#waiters.delete(waiter);
      waiter.slotReady();
    }
    this.#arm();
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#waiters.clear();
  }

  #maySend(): boolean {
    return (
      this.transferring < this.#concurrency &&
      ((this.delay === 0 && this.pausedUntil === -Infinity) || performance.now() >= this.nextAt)
    );
  }

  #dispatched(): void {
    this.transferring++;
    this.#lastDispatch = performance.now();
    // Drawn once for each dispatch, so that the mean gap is the delay.
    this.#factor = this.#jitter === 0 ? 1 : 1 + this.#jitter * (2 * Math.random() - 1);
  }

  #arm(): void {
    if (this.#timer !== undefined) return;
    if (this.#queue.length === 0 && this.#waiters.size === 0) return;
    const now = performance.now();
    const { nextAt } = this;
    // With time up it is a transfer that is waited for: leave() wakes.
    if (nextAt <= now || nextAt === Infinity) return;
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined;
        this.wake();
      },
      // A timer may fire up to a millisecond early.
      Math.min(nextAt - now + 1, 2 ** 31 - 1),
    );
  }

  #rearm(): void {
    if (this.#timer === undefined && this.#queue.length === 0 && this.#waiters.size === 0) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.wake();
  }
}
