/** One site's queue: how many transfers at once, and how far apart. Shared by all crawlers of a process. */
export class Slot {
  key;
  /** Transfers now. */
  transferring = 0;
  /** Requests taken from a scheduler that have not reached the wire yet. */
  reserved = 0;
  /** Not before this time, on the clock of `performance.now()`. */
  pausedUntil = -Infinity;
  #wishes = [];
  #concurrency = 1;
  #floor = 0;
  #jitter = 0;
  #adaptive = false;
  #learnt;
  #lastDispatch = -Infinity;
  #factor = 1;
  #queue = [];
  #waiters = new Set();
  #timer;
  constructor(key) {
    this.key = key;
  }
  get concurrency() {
    return this.#concurrency;
  }
  /** Seconds between two dispatches, before jitter. */
  get delay() {
    return this.#adaptive && this.#learnt !== undefined
      ? Math.max(this.#learnt, this.#floor)
      : this.#floor;
  }
  /** What AutoThrottle has learnt. It never goes below what a crawler asked for. */
  set delay(seconds) {
    this.#learnt = seconds;
    this.#rearm();
  }
  get learnt() {
    return this.#learnt;
  }
  /** Requests that wait here for their turn. */
  get queued() {
    return this.#queue.length;
  }
  /** No transfer, nobody waiting. */
  get isIdle() {
    return (
      this.transferring === 0 &&
      this.reserved === 0 &&
      this.#queue.length === 0 &&
      this.#waiters.size === 0
    );
  }
  get isUnused() {
    return this.#wishes.length === 0;
  }
  /** When the next dispatch may happen, on the clock of `performance.now()`. */
  get nextAt() {
    return Math.max(this.#lastDispatch + this.delay * 1000 * this.#factor, this.pausedUntil);
  }
  /** True if a request taken from a scheduler now could be sent at once. */
  get isReady() {
    const busy = this.transferring + this.reserved + this.#queue.length;
    if (busy >= this.#concurrency) return false;
    if (this.delay === 0 && this.pausedUntil === -Infinity) return true;
    return this.reserved === 0 && this.#queue.length === 0 && performance.now() >= this.nextAt;
  }
  /** Sets when this slot may send again; `-Infinity` ends the pause. */
  pauseUntil(time) {
    this.pausedUntil = time;
    this.#rearm();
  }
  addWish(wish) {
    this.#wishes.push(wish);
    if (wish.adaptive && this.#learnt !== undefined) this.#learnt = Math.max(this.#learnt, 0);
    this.#settle();
  }
  removeWish(wish) {
    const index = this.#wishes.indexOf(wish);
    if (index >= 0) this.#wishes.splice(index, 1);
    this.#settle();
  }
  #settle() {
    const wishes = this.#wishes;
    this.#concurrency = wishes.length ? Math.min(...wishes.map((wish) => wish.concurrency)) : 1;
    this.#floor = Math.max(0, ...wishes.map((wish) => wish.delay));
    this.#jitter = wishes.length ? Math.min(...wishes.map((wish) => wish.jitter)) : 0;
    this.#adaptive = wishes.some((wish) => wish.adaptive);
    this.#rearm();
  }
  /** Waits for a turn on the wire: undefined if it is now, a promise of false if it was cancelled. */
  enter(owner) {
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
  leave() {
    this.transferring--;
    this.wake();
  }
  /** Sends away all of `owner` that wait in the queue. */
  cancel(owner) {
    const leaving = this.#queue.filter((place) => place.owner === owner);
    this.#queue = this.#queue.filter((place) => place.owner !== owner);
    for (const place of leaving) place.go(false);
    this.wake();
  }
  /** Calls `waiter` once, when this slot may send. */
  wait(waiter) {
    this.#waiters.add(waiter);
    this.#arm();
  }
  forget(waiter) {
    this.#waiters.delete(waiter);
  }
  /** Sends whoever may go now, then tells those that wait outside. */
  wake() {
    while (this.#queue.length > 0 && this.#maySend()) {
      this.#dispatched();
      this.#queue.shift().go(true);
    }
    // A waiter that is told may take the place at once; the next one is told only if there is still room.
    for (const waiter of this.#waiters) {
      if (!this.isReady) break;
      this.#waiters.delete(waiter);
      waiter.slotReady();
    }
    this.#arm();
  }
  close() {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#waiters.clear();
  }
  #maySend() {
    return (
      this.transferring < this.#concurrency &&
      ((this.delay === 0 && this.pausedUntil === -Infinity) || performance.now() >= this.nextAt)
    );
  }
  #dispatched() {
    this.transferring++;
    this.#lastDispatch = performance.now();
    // Drawn once for each dispatch, so that the mean gap is the delay.
    this.#factor = this.#jitter === 0 ? 1 : 1 + this.#jitter * (2 * Math.random() - 1);
  }
  #arm() {
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
  #rearm() {
    if (this.#timer === undefined && this.#queue.length === 0 && this.#waiters.size === 0) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.wake();
  }
}
//# sourceMappingURL=slot.js.map
