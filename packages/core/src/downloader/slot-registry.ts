import { promises as dns } from 'node:dns';

import { UsageError } from '../errors.ts';
import type { Request } from '../http/request.ts';
import { hostOf } from '../http/url.ts';
import type { TlsSettings } from './handlers/tls.ts';
import {
  Slot,
  type SlotListener,
  type SlotOverride,
  type SlotReport,
  type SlotWaiter,
  type SlotWish,
} from './slot.ts';

/** Slots that nobody uses are remembered for what they have learnt, up to this many. */
const rememberedSlots = 10_000;

/** Whoever keeps slots of a registry, and must let go of those that it forgets. */
interface SlotKeeper {
  slotForgotten(key: string): void;
}

/** What was ordered by hand for a slot, whether it exists or not. */
interface SlotOrders {
  values: SlotOverride;
  isHeld: boolean;
}

/** All slots of a process. Crawlers with `SLOT_SCOPE: 'crawler'` have a part of their own, where orders hold too. */
export class SlotRegistry {
  /** The spider that has these slots to itself. */
  readonly spider: string | undefined;
  readonly #whole: SlotRegistry;
  readonly #slots = new Map<string, Slot>();
  readonly #keepers = new Set<SlotKeeper>();
  /** Those in use. */
  readonly #parts = new Set<SlotRegistry>();
  readonly #orders = new Map<string, SlotOrders>();
  #limit = rememberedSlots;

  constructor(spider?: string, whole?: SlotRegistry) {
    this.spider = spider;
    this.#whole = whole ?? this;
  }

  /** Slots for one crawler alone. */
  apart(spider: string): SlotRegistry {
    return new SlotRegistry(spider, this);
  }

  get(key: string): Slot {
    let slot = this.#slots.get(key);
    if (slot === undefined) {
      if (this.#slots.size >= this.#limit) this.#forget();
      slot = new Slot(key);
      this.#slots.set(key, slot);
      const orders = this.#whole.#orders.get(key);
      if (orders?.isHeld) slot.hold();
      if (orders) slot.override(orders.values);
    }
    return slot;
  }

  values(): Iterable<Slot> {
    return this.#slots.values();
  }

  /** @internal */
  keep(keeper: SlotKeeper): void {
    this.#keepers.add(keeper);
    if (this.#whole !== this) this.#whole.#parts.add(this);
  }

  /** @internal */
  release(keeper: SlotKeeper): void {
    this.#keepers.delete(keeper);
    if (this.#keepers.size === 0) this.#whole.#parts.delete(this);
  }

  /** What each slot does, those that a crawler has to itself included. */
  *reports(): Generator<SlotReport> {
    for (const slot of this.#slots.values()) {
      yield { ...slot.report(), ...(this.spider !== undefined && { spider: this.spider }) };
    }
    for (const part of this.#parts) yield* part.reports();
  }

  /** @throws UsageError for a delay or a concurrency that cannot be. */
  override(key: string, values: SlotOverride): void {
    const { delay = 0, concurrency = 1 } = values;
    if (!(delay >= 0 && delay < Infinity)) {
      throw new UsageError(`The delay of ${key} must be seconds ≥ 0, got ${delay}.`);
    }
    if (!(concurrency >= 1)) {
      throw new UsageError(
        `The concurrency of ${key} must be at least 1, got ${concurrency}. To stop it, use pauseHost().`,
      );
    }
    this.#order(key, (orders) => (orders.values = { ...orders.values, ...values }));
    for (const slot of this.#all(key)) slot.override(values);
  }

  hold(key: string): void {
    this.#order(key, (orders) => (orders.isHeld = true));
    for (const slot of this.#all(key)) slot.hold();
  }

  resume(key: string): void {
    this.#order(key, (orders) => (orders.isHeld = false));
    for (const slot of this.#all(key)) slot.resume();
  }

  #order(key: string, change: (orders: SlotOrders) => void): void {
    const orders = this.#orders.get(key) ?? { values: {}, isHeld: false };
    change(orders);
    const { delay, concurrency } = orders.values;
    if (orders.isHeld || delay !== undefined || concurrency !== undefined)
      this.#orders.set(key, orders);
    else this.#orders.delete(key);
  }

  #all(key: string): Slot[] {
    return [this, ...this.#parts]
      .map((registry) => registry.#slots.get(key))
      .filter((slot) => slot !== undefined);
  }

  /** Those used longest ago go, unless one still waits for its time: that would come too early then. */
  #forget(): void {
    const tenth = rememberedSlots / 10;
    const idle = Array.from(this.#slots.values()).filter((slot) => slot.isForgettable);
    idle.sort((a, b) => a.lastDispatch - b.lastDispatch);
    for (const slot of idle.slice(0, tenth)) {
      slot.close();
      this.#slots.delete(slot.key);
      for (const keeper of this.#keepers) keeper.slotForgotten(slot.key);
    }
    // Where all are busy, it is not asked for each new one.
    this.#limit = Math.max(rememberedSlots, this.#slots.size + tenth);
  }
}

/** Settings of one slot in `DOWNLOAD_SLOTS`; the key may be a pattern such as `*.example.com`. */
export interface SlotSettings {
  readonly concurrency?: number;
  /** Speak HTTP/2 where the server does. */
  readonly http2?: boolean;
  /** Certificates, versions and ciphers of `https:`. */
  readonly tls?: TlsSettings;
  /** Seconds. A floor: AutoThrottle does not go below it. */
  readonly delay?: number;
  readonly randomizeDelay?: boolean;
  /** In place of `AUTOTHROTTLE_TARGET_CONCURRENCY`. */
  readonly targetConcurrency?: number;
  /** Seconds; the lowest delay AutoThrottle sets. `delay` if absent. */
  readonly minDelay?: number;
  /** Seconds; in place of `AUTOTHROTTLE_MAX_DELAY`. */
  readonly maxDelay?: number;
}

export interface SlotDefaults {
  readonly concurrency: number;
  readonly delay: number;
  readonly jitter: number;
  readonly slots: Readonly<Record<string, SlotSettings>>;
  /** One slot for each address instead of each host. */
  readonly byAddress?: boolean;
}

/** The slots as one crawler sees them: its wishes, and what the scheduler asks. */
export class CrawlerSlots implements SlotKeeper {
  readonly #registry: SlotRegistry;
  readonly #defaults: SlotDefaults;
  readonly #used = new Map<string, { slot: Slot; wish: SlotWish }>();
  readonly #exact = new Map<string, SlotSettings>();
  readonly #patterns: (readonly [suffix: string, settings: SlotSettings])[] = [];
  /** With slots by address: what each host is called, for as long as this crawler runs. */
  readonly #addresses: Map<string, string> | undefined;
  readonly #asked = new Map<string, Promise<void>>();
  #common: SlotWish;
  #startDelay: number | undefined;
  #listener: SlotListener | undefined;
  #reserved: Slot | undefined;
  #isClosed = false;

  constructor(registry: SlotRegistry, defaults: SlotDefaults) {
    this.#registry = registry;
    this.#defaults = defaults;
    this.#addresses = defaults.byAddress ? new Map() : undefined;
    const { concurrency, delay, jitter } = defaults;
    this.#common = { concurrency, delay, jitter, adaptive: false };
    for (const [key, settings] of Object.entries(defaults.slots)) {
      if (key.startsWith('*.')) this.#patterns.push([key.slice(1), settings]);
      else this.#exact.set(key, settings);
    }
    // The longest pattern is the most particular.
    this.#patterns.sort(([a], [b]) => b.length - a.length);
  }

  /** `meta.downloadSlot`, else the host, or its address. */
  keyOf(request: Request): string {
    const { downloadSlot } = request.meta;
    if (downloadSlot !== undefined) return downloadSlot;
    const host = hostOf(request.url);
    return this.#addresses?.get(host) ?? host;
  }

  /** Something to wait for before the key of a request is asked for: the first look-up of its host. */
  resolve(request: Request): Promise<void> | undefined {
    if (this.#addresses === undefined) return undefined;
    const { downloadSlot, proxy } = request.meta;
    const host = hostOf(request.url);
    if (downloadSlot !== undefined || host === '' || this.#addresses.has(host)) return undefined;
    // A proxy looks the host up itself.
    if (proxy) return void this.#addresses.set(host, host);
    let asked = this.#asked.get(host);
    if (asked === undefined) {
      asked = this.#lookUp(host);
      this.#asked.set(host, asked);
    }
    return asked;
  }

  /** A host without an address keeps its name: a key must not change while a request waits under it. */
  async #lookUp(host: string): Promise<void> {
    const name = host.replace(/^\[|\]$/g, '');
    const found = await dns.lookup(name).catch(() => undefined);
    this.#addresses!.set(host, found?.address ?? host);
    this.#asked.delete(host);
  }

  /** Hosts and their addresses, so that the next run of a job knows the slots by the same keys. */
  get addresses(): Record<string, string> {
    return Object.fromEntries(this.#addresses ?? []);
  }

  set addresses(known: Readonly<Record<string, string>>) {
    for (const [host, address] of Object.entries(known)) this.#addresses?.set(host, address);
  }

  get(key: string): Slot {
    return this.#entry(key).slot;
  }

  /** The slots this crawler has used. */
  *entries(): Generator<Slot> {
    for (const { slot } of this.#used.values()) yield slot;
  }

  /** No slot varies its delay from now on: where many processes keep one delay, no gap may be shorter. */
  dropJitter(): void {
    this.#common = { ...this.#common, jitter: 0 };
  }

  /** Delay that slots created from now on start with, in seconds; set by AutoThrottle. */
  set defaultDelay(seconds: number) {
    this.#startDelay = seconds;
    this.#common = { ...this.#common, adaptive: true };
  }

  get defaultDelay(): number {
    return this.#startDelay ?? this.#defaults.delay;
  }

  /** A delay learnt in an earlier run of the job. */
  remember(key: string, delay: number): void {
    const slot = this.#registry.get(key);
    if (slot.learnt === undefined) slot.learn(delay, 'learnt in an earlier run');
  }

  /** Tells `listener` of each change of a slot that this crawler uses. */
  listen(listener: SlotListener): void {
    this.#listener = listener;
    for (const { slot } of this.#used.values()) slot.listen(listener);
  }

  isReady(key: string): boolean {
    return this.#entry(key).slot.isReady;
  }

  /** For a request that `next()` of a scheduler is about to return. */
  reserve(key: string): void {
    this.#reserved = this.#entry(key).slot;
    this.#reserved.reserved++;
  }

  /** Gives the place back; without a key that which was reserved last. */
  unreserve(key?: string): void {
    const slot = key === undefined ? this.claim() : this.#entry(key).slot;
    if (slot === undefined) return;
    if (slot === this.#reserved) this.#reserved = undefined;
    slot.reserved--;
    slot.wake();
  }

  /**
   * The slot that was reserved last. A queue on disk may know a request by another key than it has now.
   *
   * @internal
   */
  claim(): Slot | undefined {
    const slot = this.#reserved;
    this.#reserved = undefined;
    return slot;
  }

  wait(key: string, waiter: SlotWaiter): void {
    this.#entry(key).slot.wait(waiter);
  }

  forget(key: string, waiter: SlotWaiter): void {
    this.#used.get(key)?.slot.forget(waiter);
  }

  /** Seconds that robots.txt of `origin` asks this crawler to keep between requests; undefined for none. */
  setSiteFloor(key: string, origin: string, seconds: number | undefined): void {
    this.#entry(key).slot.setSiteFloor(this, origin, seconds);
  }

  /** The registry has let go of a slot. */
  slotForgotten(key: string): void {
    this.#used.delete(key);
  }

  /** Withdraws this crawler's wishes. */
  close(): void {
    for (const { slot, wish } of this.#used.values()) {
      if (this.#listener) slot.unlisten(this.#listener);
      slot.removeWish(wish);
      slot.dropSiteFloors(this);
    }
    this.#used.clear();
    this.#isClosed = true;
    this.#registry.release(this);
  }

  #entry(key: string): { slot: Slot; wish: SlotWish } {
    let entry = this.#used.get(key);
    if (entry === undefined) {
      const own = this.settingsOf(key);
      const wish = own === undefined ? this.#common : this.#wishOf(own);
      entry = { slot: this.#registry.get(key), wish };
      // A transfer that was given up may end later; a wish of it would stay for ever.
      if (this.#isClosed) return entry;
      if (this.#used.size === 0) this.#registry.keep(this);
      this.#used.set(key, entry);
      if (this.#listener) entry.slot.listen(this.#listener);
      entry.slot.addWish(wish);
      // An explicit delay is where the slot starts; a learnt one is kept.
      if (wish.adaptive && entry.slot.learnt === undefined) {
        entry.slot.learn(own?.delay ?? this.#startDelay!, 'start delay');
      }
    }
    return entry;
  }

  /** The entry of `DOWNLOAD_SLOTS` that holds for a slot: its own, else the longest pattern. */
  settingsOf(key: string): SlotSettings | undefined {
    return this.#exact.get(key) ?? this.#patterns.find(([suffix]) => key.endsWith(suffix))?.[1];
  }

  #wishOf(own: SlotSettings): SlotWish {
    return {
      concurrency: own.concurrency ?? this.#common.concurrency,
      delay: own.delay ?? this.#common.delay,
      jitter:
        own.randomizeDelay === undefined
          ? this.#common.jitter
          : own.randomizeDelay
            ? this.#common.jitter || 0.5
            : 0,
      adaptive: this.#common.adaptive,
    };
  }
}
