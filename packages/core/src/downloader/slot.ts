import { type Congestion, SlotBackoff } from './slot-backoff.ts';

/** Spread while a site pushes back: it counts requests, and gaps that vary meet its limit sooner. */
const backoffJitter = 0.05;
/** A timer fires up to this much after its time, in milliseconds. */
const timerSlopMs = 4;
/** Changes of its delay that a slot remembers. */
const rememberedChanges = 20;

/** Why a slot has its delay: one change of it. */
export interface SlotChange {
  /** Milliseconds since the epoch. */
  readonly time: number;
  /** Seconds. */
  readonly from: number;
  /** Seconds. */
  readonly to: number;
  readonly cause: string;
}

/** What a slot is doing and why; delays in seconds. */
export interface SlotReport {
  readonly key: string;
  /** The spider that has this slot to itself (`SLOT_SCOPE: 'crawler'`); absent if it is shared. */
  readonly spider?: string;
  /** The longest of floor, learnt and backoff. */
  readonly delay: number;
  /** The strictest of what the crawlers and robots.txt ask for. */
  readonly floor: number;
  /** What AutoThrottle has learnt. */
  readonly learnt: number | undefined;
  /** What the site has pushed back to; 0 if it does not. */
  readonly backoff: number;
  readonly concurrency: number;
  readonly transferring: number;
  /** Requests taken from a scheduler that wait for their turn. */
  readonly queued: number;
  /** Milliseconds since the epoch; `Infinity` until it is resumed; undefined if it is not paused. */
  readonly pausedUntil: number | undefined;
  /** The last changes of the delay, and pauses, oldest first. */
  readonly changes: readonly SlotChange[];
}

/** What is set by hand while it runs, in place of what the crawlers wish. */
export interface SlotOverride {
  /** Seconds. */
  readonly delay?: number | undefined;
  readonly concurrency?: number | undefined;
}

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

/** Hears of each change of a slot. */
export type SlotListener = (key: string, change: SlotChange) => void;

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
  /** Thousands of crawlers may wish the same of one slot. */
  readonly #wishes = new Map<string, { readonly wish: SlotWish; count: number }>();
  #isChecking = false;
  #override: SlotOverride = {};
  /** What robots.txt asks for, by crawler and origin. */
  #siteFloors: Map<object, Map<string, number>> | undefined;
  #isHeld = false;
  #backoff: SlotBackoff | undefined;
  #delay = 0;
  readonly #changes: SlotChange[] = [];
  #listeners: Set<SlotListener> | undefined;
  #concurrency = 1;
  #floor = 0;
  #jitter = 0;
  #adaptive = false;
  #learnt: number | undefined;
  #lastDispatch = -Infinity;
  /** How late the last dispatch was, because timers are. The next gap makes up for it. */
  #lateMs = 0;
  #factor = 1;
  /** Requests sent in this second, counted from when, and in the one before. */
  #second = { start: -Infinity, sent: 0, sentBefore: 0 };
  #queue: { readonly owner: object; readonly go: (turn: boolean) => void }[] = [];
  #waiters = new Set<SlotWaiter>();
  #timer: NodeJS.Timeout | undefined;

  constructor(key: string) {
    this.key = key;
  }

  get concurrency(): number {
    return this.#concurrency;
  }

  /** Seconds between two dispatches, before jitter: the longest of floor, learnt and backoff. */
  get delay(): number {
    return this.#delay;
  }

  /** What AutoThrottle has learnt. It never goes below what a crawler asked for. */
  set delay(seconds: number) {
    this.learn(seconds, 'set');
  }

  /** As setting `delay`, with the cause that is shown by `report()`. */
  learn(seconds: number, cause: string): void {
    this.#learnt = seconds;
    this.#decide(cause);
  }

  get learnt(): number | undefined {
    return this.#learnt;
  }

  /** The strictest of what the crawlers and robots.txt ask for, in seconds. */
  get floor(): number {
    return this.#floor;
  }

  /** The delay without the backoff: floor and learnt. */
  get throttledDelay(): number {
    return this.#adaptive && this.#learnt !== undefined
      ? Math.max(this.#learnt, this.#floor)
      : this.#floor;
  }

  /** The delay that the site has pushed back to, in seconds; 0 if it has not. */
  get backoff(): number {
    return this.#backoff?.delay ?? 0;
  }

  /**
   * A sign that the site has had too much.
   *
   * @returns False if it belongs to a burst that was counted already.
   */
  congested(sign: Omit<Congestion, 'now' | 'delay' | 'allowed'>, cause: string): boolean {
    this.#backoff ??= new SlotBackoff();
    const now = performance.now();
    const allowed = this.#sentLately(now) - this.transferring;
    if (!this.#backoff.congested({ ...sign, now, delay: this.#delay, allowed })) return false;
    this.#decide(cause);
    // From now, not from the last dispatch: the site is still full.
    if (now + this.#delay * 1000 > this.pausedUntil) this.pausedUntil = now + this.#delay * 1000;
    return true;
  }

  /**
   * A good answer to a request that was sent at this time of `performance.now()`.
   *
   * @returns True if the site does not push back any more.
   */
  relieved(dispatchedAt: number): boolean {
    if (this.#backoff === undefined || this.#backoff.delay === 0) return false;
    this.#backoff.relieved(performance.now(), dispatchedAt);
    this.#decide('good answers');
    return this.backoff === 0;
  }

  /** Seconds that robots.txt of `origin` asks `owner` to keep between requests; undefined for none. */
  setSiteFloor(owner: object, origin: string, seconds: number | undefined): void {
    const own = this.#siteFloors?.get(owner) ?? new Map<string, number>();
    if (own.get(origin) === seconds) return;
    if (seconds === undefined) own.delete(origin);
    else own.set(origin, seconds);
    this.#siteFloors ??= new Map();
    if (own.size > 0) this.#siteFloors.set(owner, own);
    else this.#siteFloors.delete(owner);
    this.#settle('robots.txt');
  }

  dropSiteFloors(owner: object): void {
    if (this.#siteFloors?.delete(owner)) this.#settle('a crawler closed');
  }

  /** Sets delay or concurrency in place of what the crawlers wish; robots.txt and backoff still hold. */
  override(values: SlotOverride): void {
    this.#override = { ...this.#override, ...values };
    this.#settle('set by hand');
  }

  /** Sends nothing until `resume()`. */
  hold(): void {
    if (this.#isHeld) return;
    this.#isHeld = true;
    this.#note(this.#delay, 'paused by hand');
  }

  resume(): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    this.#note(this.#delay, 'resumed by hand');
    this.wake();
  }

  listen(listener: SlotListener): void {
    this.#listeners ??= new Set();
    this.#listeners.add(listener);
  }

  unlisten(listener: SlotListener): void {
    this.#listeners?.delete(listener);
  }

  report(): SlotReport {
    const left = this.#pauseEnd - performance.now();
    return {
      key: this.key,
      delay: this.#delay,
      floor: this.#floor,
      learnt: this.#learnt,
      backoff: this.backoff,
      concurrency: this.#concurrency,
      transferring: this.transferring,
      queued: this.queued,
      pausedUntil: left > 0 ? Date.now() + left : undefined,
      changes: [...this.#changes],
    };
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

  /** When the last request was sent, on the clock of `performance.now()`. */
  get lastDispatch(): number {
    return this.#lastDispatch;
  }

  /** Idle, and a request that came now would not have to wait for one before it. */
  get isForgettable(): boolean {
    return this.isIdle && this.nextAt <= performance.now();
  }

  /** When the next dispatch may happen, on the clock of `performance.now()`. */
  get nextAt(): number {
    const delayMs = this.#delay * 1000;
    const next = this.#lastDispatch + delayMs * this.#factor - this.#lateMs;
    return Math.max(next, this.#lastDispatch + delayMs * (1 - this.#spread), this.#pauseEnd);
  }

  get #spread(): number {
    return this.backoff > this.throttledDelay
      ? Math.min(this.#jitter, backoffJitter)
      : this.#jitter;
  }

  get #pauseEnd(): number {
    return this.#isHeld ? Infinity : this.pausedUntil;
  }

  /** True if nothing but concurrency holds it back. */
  get #isUnthrottled(): boolean {
    return this.#delay === 0 && !this.#isHeld && this.pausedUntil === -Infinity;
  }

  /** True if a request taken from a scheduler now could be sent at once. */
  get isReady(): boolean {
    const busy = this.transferring + this.reserved + this.#queue.length;
    if (busy >= this.#concurrency) return false;
    if (this.#isUnthrottled) return true;
    return this.reserved === 0 && this.#queue.length === 0 && performance.now() >= this.nextAt;
  }

  /** Sets when this slot may send again; `-Infinity` ends the pause. */
  pauseUntil(time: number, cause = 'paused'): void {
    this.pausedUntil = time;
    this.#note(this.#delay, cause);
    this.#rearm();
  }

  addWish(wish: SlotWish): void {
    const key = keyOf(wish);
    const same = this.#wishes.get(key);
    if (same !== undefined) {
      same.count++;
      return;
    }
    this.#wishes.set(key, { wish, count: 1 });
    this.#settle('a crawler opened');
  }

  removeWish(wish: SlotWish): void {
    const key = keyOf(wish);
    const same = this.#wishes.get(key);
    if (same === undefined || --same.count > 0) return;
    this.#wishes.delete(key);
    this.#settle('a crawler closed');
  }

  #settle(cause: string): void {
    const wishes = Array.from(this.#wishes.values(), ({ wish }) => wish);
    const { delay, concurrency } = this.#override;
    this.#concurrency =
      concurrency ?? (wishes.length ? Math.min(...wishes.map((wish) => wish.concurrency)) : 1);
    this.#floor = Math.max(
      delay ?? Math.max(0, ...wishes.map((wish) => wish.delay)),
      ...this.#asked(),
    );
    this.#jitter = wishes.length ? Math.min(...wishes.map((wish) => wish.jitter)) : 0;
    this.#adaptive = wishes.some((wish) => wish.adaptive);
    this.#decide(cause);
  }

  *#asked(): Generator<number> {
    for (const own of this.#siteFloors?.values() ?? []) yield* own.values();
  }

  /** Once for each change, so that a request only reads it. */
  #decide(cause: string): void {
    const before = this.#delay;
    this.#delay = Math.max(this.throttledDelay, this.backoff);
    if (this.#delay !== before) this.#note(before, cause);
    this.#rearm();
  }

  /** Changes in a row of the same cause and direction are one. */
  #note(from: number, cause: string): void {
    const to = this.#delay;
    const last = this.#changes.at(-1);
    const time = Date.now();
    for (const listener of this.#listeners ?? []) listener(this.key, { time, from, to, cause });
    if (last?.cause === cause && Math.sign(to - from) === Math.sign(last.to - last.from)) {
      this.#changes[this.#changes.length - 1] = { ...last, time, to };
      return;
    }
    this.#changes.push({ time, from, to, cause });
    if (this.#changes.length > rememberedChanges) this.#changes.shift();
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
    this.#disarm();
  }

  /** Calls `waiter` once, when this slot may send. */
  wait(waiter: SlotWaiter): void {
    this.#waiters.add(waiter);
    this.#arm();
  }

  forget(waiter: SlotWaiter): void {
    this.#waiters.delete(waiter);
    this.#disarm();
  }

  /** Sends whoever may go now, then tells those that wait outside. */
  wake(): void {
    while (this.#queue.length > 0 && this.#maySend()) {
      this.#dispatched();
      this.#queue.shift()!.go(true);
    }
    this.#tell();
    this.#arm();
  }

  /** Tells as many of those that wait outside as there are places, the one that waits longest first. */
  #tell(): void {
    if (this.#waiters.size === 0 || !this.isReady) return;
    let places = this.#concurrency - this.transferring - this.reserved - this.#queue.length;
    for (const waiter of this.#waiters) {
      if (places-- <= 0 || !this.isReady) break;
      this.#waiters.delete(waiter);
      waiter.slotReady();
    }
    if (this.#waiters.size === 0 || this.#isChecking) return;
    // Who was told takes the place in a microtask that is queued by now, or has no use for it: then the next one may.
    this.#isChecking = true;
    queueMicrotask(() => {
      this.#isChecking = false;
      this.#tell();
    });
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#waiters.clear();
  }

  #maySend(): boolean {
    return (
      this.transferring < this.#concurrency &&
      (this.#isUnthrottled || performance.now() >= this.nextAt)
    );
  }

  #dispatched(): void {
    this.transferring++;
    const now = performance.now();
    this.#count(now);
    if (this.#delay === 0 && this.pausedUntil === -Infinity) {
      this.#lastDispatch = now;
      this.#lateMs = 0;
      this.#factor = 1;
      return;
    }
    const late = now - this.nextAt;
    // Without jitter a gap is never shorter than the delay, so there nothing is made up for.
    this.#lateMs = this.#jitter > 0 && late > 0 && late < timerSlopMs ? late : 0;
    this.#lastDispatch = now;
    this.pausedUntil = -Infinity;
    // Drawn once for each dispatch, so that the mean gap is the delay.
    const spread = this.#spread;
    this.#factor = spread === 0 ? 1 : 1 + spread * (2 * Math.random() - 1);
  }

  #count(now: number): void {
    const second = this.#second;
    const passed = now - second.start;
    if (passed >= 1000) {
      second.sentBefore = passed < 2000 ? second.sent : 0;
      second.start = now;
      second.sent = 0;
    }
    second.sent++;
  }

  #sentLately(now: number): number {
    const { start, sent, sentBefore } = this.#second;
    const passed = now - start;
    return passed < 1000 ? sent + sentBefore * (1 - passed / 1000) : 0;
  }

  #arm(): void {
    if (this.#timer !== undefined) return;
    if (this.#queue.length === 0 && this.#waiters.size === 0) return;
    const now = performance.now();
    const { nextAt } = this;
    if (nextAt === Infinity) return;
    // With time up it is a transfer that is waited for, and leave() wakes; unless it was not up a moment ago.
    if (nextAt <= now && (this.transferring > 0 || this.reserved > 0)) return;
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined;
        this.wake();
      },
      // A timer may fire up to a millisecond early.
      Math.min(Math.max(nextAt - now, 0) + 1, 2 ** 31 - 1),
    );
  }

  /** A timer that nobody waits for would keep the process alive for as long as the pause is. */
  #disarm(): void {
    if (this.#queue.length > 0 || this.#waiters.size > 0) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #rearm(): void {
    if (this.#timer === undefined && this.#queue.length === 0 && this.#waiters.size === 0) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.wake();
  }
}

function keyOf({ concurrency, delay, jitter, adaptive }: SlotWish): string {
  return `${concurrency} ${delay} ${jitter} ${adaptive}`;
}
