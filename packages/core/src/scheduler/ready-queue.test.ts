import fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { CrawlerSlots, SlotRegistry } from '../downloader/slot-registry.ts';
import { ReadyQueue, type SlotStore } from './ready-queue.ts';

interface Entry {
  readonly id: number;
  readonly slot: number;
  readonly priority: number;
}

/** Highest priority first, else first in first out. */
class Store implements SlotStore<Entry> {
  readonly entries: Entry[] = [];
  get top(): number {
    return this.entries[0]?.priority ?? -Infinity;
  }
  push(entry: Entry): void {
    const at = this.entries.findIndex(({ priority }) => priority < entry.priority);
    this.entries.splice(at < 0 ? this.entries.length : at, 0, entry);
  }
  pop(): Entry | undefined {
    return this.entries.shift();
  }
}

class CountedSlots extends CrawlerSlots {
  asked = 0;
  override isReady(key: string): boolean {
    this.asked++;
    return super.isReady(key);
  }
}

interface SlotPlan {
  /** Seconds. */
  readonly delay: number;
  readonly concurrency: number;
}

/** A crawl as the engine runs it, with so many places; what is served, in its order. */
class Crawl {
  readonly served: Entry[] = [];
  readonly slots: CountedSlots;
  readonly #stores = new Map<string, Store>();
  readonly #queue: ReadyQueue<Entry>;
  readonly #places: number;
  #taken = 0;
  #isWoken = false;
  mostTaken = 0;
  /** Slots that should have been served before another. */
  readonly passedOver: string[] = [];
  /** Requests that had to wait although they were taken. */
  waited = 0;

  constructor(plans: readonly SlotPlan[], places: number) {
    this.#places = places;
    this.slots = new CountedSlots(new SlotRegistry(), {
      concurrency: 1,
      delay: 0,
      jitter: 0,
      slots: Object.fromEntries(plans.map((plan, i) => [`${i}`, plan])),
    });
    this.#queue = new ReadyQueue(
      (key) => {
        const store = new Store();
        this.#stores.set(key, store);
        return store;
      },
      () => this.#wake(),
    );
  }

  push(entry: Entry): void {
    this.#queue.push(entry, `${entry.slot}`);
    this.#wake();
  }

  get size(): number {
    return this.#queue.size;
  }

  #wake(): void {
    if (this.#isWoken) return;
    this.#isWoken = true;
    queueMicrotask(() => {
      this.#isWoken = false;
      while (this.#taken < this.#places) {
        const entry = this.#queue.pop(this.slots);
        if (entry === undefined) return;
        this.#check(entry);
        void this.#serve(entry);
      }
    });
  }

  /** No slot has something more important that it could send, but for the moment until its timer has fired. */
  #check(entry: Entry): void {
    const past = performance.now() - 2;
    for (const [key, { top }] of this.#stores) {
      const slot = this.slots.get(key);
      if (top > entry.priority && slot.isReady && slot.nextAt < past) this.passedOver.push(key);
    }
  }

  async #serve(entry: Entry): Promise<void> {
    this.served.push(entry);
    this.mostTaken = Math.max(this.mostTaken, ++this.#taken);
    const slot = this.slots.claim()!;
    slot.reserved--;
    const turn = slot.enter(this);
    if (turn !== undefined) this.waited++;
    await turn;
    await new Promise((resolve) => setTimeout(resolve, 30));
    slot.leave();
    this.#taken--;
    this.#wake();
  }
}

beforeEach(() => {
  vi.useFakeTimers({ loopLimit: 100_000 });
});
afterEach(() => {
  vi.useRealTimers();
});

test('whatever is asked for: all of it is served, the best that may go first, and places are for those on the wire', async () => {
  const plan = fc.record({
    delay: fc.constantFrom(0, 0, 0.05, 1),
    concurrency: fc.integer({ min: 1, max: 3 }),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(plan, { minLength: 1, maxLength: 6 }),
      fc.integer({ min: 1, max: 8 }),
      fc.array(fc.tuple(fc.nat(5), fc.integer({ min: 0, max: 2 }), fc.nat(60)), {
        minLength: 1,
        maxLength: 40,
      }),
      async (plans, places, requests) => {
        const crawl = new Crawl(plans, places);
        requests.forEach(([slot, priority, after], id) => {
          setTimeout(() => crawl.push({ id, slot: slot % plans.length, priority }), after);
        });
        await vi.runAllTimersAsync();
        expect(crawl.served).toHaveLength(requests.length);
        expect(crawl.mostTaken).toBeLessThanOrEqual(places);
        expect(crawl.passedOver).toEqual([]);
        // Nobody waits in a place for the slot.
        expect(crawl.waited).toBe(0);
        expect([crawl.size, vi.getTimerCount()]).toEqual([0, 0]);
        for (const slot of crawl.slots.entries()) expect(slot.isIdle).toBe(true);
      },
    ),
    { numRuns: 150 },
  );
});

test('among equals no slot is served twice before another that may send', async () => {
  const crawl = new Crawl(
    Array.from({ length: 5 }, () => ({ delay: 0, concurrency: 8 })),
    3,
  );
  for (let id = 0; id < 100; id++) crawl.push({ id, slot: id < 60 ? 0 : id % 5, priority: 0 });
  await vi.runAllTimersAsync();
  const order = crawl.served.map(({ slot }) => slot);
  for (let i = 0; i < 40; i += 5)
    expect(order.slice(i, i + 5).toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3, 4]);
});

test('what it asks of the slots grows with the requests, not with requests times slots', async () => {
  const count = 1000;
  const crawl = new Crawl(
    Array.from({ length: count }, () => ({ delay: 1, concurrency: 1 })),
    16,
  );
  for (let id = 0; id < count * 3; id++) crawl.push({ id, slot: id % count, priority: 0 });
  await vi.runAllTimersAsync();
  expect(crawl.served).toHaveLength(count * 3);
  expect(crawl.slots.asked).toBeLessThan(count * 3 * 4);
});
