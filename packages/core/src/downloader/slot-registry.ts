import { promises as dns } from 'node:dns';

import type { Request } from '../http/request.ts';
import { hostOf } from '../http/url.ts';
import { Slot, type SlotWaiter, type SlotWish } from './slot.ts';

/** Slots that nobody uses are remembered for what they have learnt, up to this many. */
const rememberedSlots = 10_000;

/** All slots of a process, or of one crawler with `SLOT_SCOPE: 'crawler'`. */
export class SlotRegistry {
  readonly #slots = new Map<string, Slot>();

  get(key: string): Slot {
    let slot = this.#slots.get(key);
    if (slot === undefined) {
      if (this.#slots.size >= rememberedSlots) this.#evict();
      slot = new Slot(key);
      this.#slots.set(key, slot);
    }
    return slot;
  }

  values(): Iterable<Slot> {
    return this.#slots.values();
  }

  #evict(): void {
    let left = Math.ceil(rememberedSlots / 10);
    for (const [key, slot] of this.#slots) {
      if (slot.isIdle && slot.isUnused) {
        slot.close();
        this.#slots.delete(key);
        if (--left === 0) return;
      }
    }
  }
}

/** Settings of one slot in `DOWNLOAD_SLOTS`; the key may be a pattern such as `*.example.com`. */
export interface SlotSettings {
  readonly concurrency?: number;
  /** Speak HTTP/2 where the server does. */
  readonly http2?: boolean;
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
export class CrawlerSlots {
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
    if (slot.learnt === undefined) slot.delay = delay;
  }

  isReady(key: string): boolean {
    return this.#entry(key).slot.isReady;
  }

  reserve(key: string): void {
    this.#entry(key).slot.reserved++;
  }

  unreserve(key: string): void {
    const { slot } = this.#entry(key);
    slot.reserved--;
    slot.wake();
  }

  wait(key: string, waiter: SlotWaiter): void {
    this.#entry(key).slot.wait(waiter);
  }

  forget(key: string, waiter: SlotWaiter): void {
    this.#used.get(key)?.slot.forget(waiter);
  }

  /** Withdraws this crawler's wishes. */
  close(): void {
    for (const { slot, wish } of this.#used.values()) slot.removeWish(wish);
    this.#used.clear();
  }

  #entry(key: string): { slot: Slot; wish: SlotWish } {
    let entry = this.#used.get(key);
    if (entry === undefined) {
      const own = this.settingsOf(key);
      const wish = own === undefined ? this.#common : this.#wishOf(own);
      entry = { slot: this.#registry.get(key), wish };
      this.#used.set(key, entry);
      entry.slot.addWish(wish);
      // An explicit delay is where the slot starts; a learnt one is kept.
      if (wish.adaptive && entry.slot.learnt === undefined) {
        entry.slot.delay = own?.delay ?? this.#startDelay!;
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
