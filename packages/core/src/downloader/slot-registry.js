import { hostOf } from '../http/url.js';
import { Slot } from './slot.js';
/** Slots that nobody uses are remembered for what they have learnt, up to this many. */
const rememberedSlots = 10_000;
/** All slots of a process, or of one crawler with `SLOT_SCOPE: 'crawler'`. */
export class SlotRegistry {
  #slots = new Map();
  get(key) {
    let slot = this.#slots.get(key);
    if (slot === undefined) {
      if (this.#slots.size >= rememberedSlots) this.#evict();
      slot = new Slot(key);
      this.#slots.set(key, slot);
    }
    return slot;
  }
  values() {
    return this.#slots.values();
  }
  #evict() {
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
/** The slots as one crawler sees them: its wishes, and what the scheduler asks. */
export class CrawlerSlots {
  #registry;
  #defaults;
  #used = new Map();
  #exact = new Map();
  #patterns = [];
  #common;
  #startDelay;
  constructor(registry, defaults) {
    this.#registry = registry;
    this.#defaults = defaults;
    this.#common = { ...defaults, adaptive: false };
    for (const [key, settings] of Object.entries(defaults.slots)) {
      if (key.startsWith('*.')) this.#patterns.push([key.slice(1), settings]);
      else this.#exact.set(key, settings);
    }
    // The longest pattern is the most particular.
    this.#patterns.sort(([a], [b]) => b.length - a.length);
  }
  /** `meta.downloadSlot`, else the host. */
  keyOf(request) {
    return request.meta.downloadSlot ?? hostOf(request.url);
  }
  get(key) {
    return this.#entry(key).slot;
  }
  /** The slots this crawler has used. */
  *entries() {
    for (const { slot } of this.#used.values()) yield slot;
  }
  /** Delay that slots created from now on start with, in seconds; set by AutoThrottle. */
  set defaultDelay(seconds) {
    this.#startDelay = seconds;
    this.#common = { ...this.#common, adaptive: true };
  }
  get defaultDelay() {
    return this.#startDelay ?? this.#defaults.delay;
  }
  /** A delay learnt in an earlier run of the job. */
  remember(key, delay) {
    const slot = this.#registry.get(key);
    if (slot.learnt === undefined) slot.delay = delay;
  }
  isReady(key) {
    return this.#entry(key).slot.isReady;
  }
  reserve(key) {
    this.#entry(key).slot.reserved++;
  }
  unreserve(key) {
    const { slot } = this.#entry(key);
    slot.reserved--;
    slot.wake();
  }
  wait(key, waiter) {
    this.#entry(key).slot.wait(waiter);
  }
  forget(key, waiter) {
    this.#used.get(key)?.slot.forget(waiter);
  }
  /** Withdraws this crawler's wishes. */
  close() {
    for (const { slot, wish } of this.#used.values()) slot.removeWish(wish);
    this.#used.clear();
  }
  #entry(key) {
    let entry = this.#used.get(key);
    if (entry === undefined) {
      const own = this.#settingsOf(key);
      const wish = own === undefined ? this.#common : this.#wishOf(own);
      entry = { slot: this.#registry.get(key), wish };
      this.#used.set(key, entry);
      entry.slot.addWish(wish);
      // An explicit delay is where the slot starts; a learnt one is kept.
      if (wish.adaptive && entry.slot.learnt === undefined) {
        entry.slot.delay = own?.delay ?? this.#startDelay;
      }
    }
    return entry;
  }
  #settingsOf(key) {
    return this.#exact.get(key) ?? this.#patterns.find(([suffix]) => key.endsWith(suffix))?.[1];
  }
  #wishOf(own) {
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
//# sourceMappingURL=slot-registry.js.map
