import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { Request } from '../http/request.ts';
import { CrawlerSlots, type SlotDefaults, SlotRegistry } from './slot-registry.ts';

const slotsOf = (registry: SlotRegistry, defaults: Partial<SlotDefaults> = {}): CrawlerSlots =>
  new CrawlerSlots(registry, { concurrency: 8, delay: 0, jitter: 0, slots: {}, ...defaults });

/** More hosts than are remembered, each asked once. */
function visit(slots: CrawlerSlots, count: number): void {
  for (let i = 0; i < count; i++) {
    const slot = slots.get(`h${i}.test`);
    void slot.enter(slots);
    slot.leave();
  }
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('a crawl over many hosts remembers those it used last', () => {
  const registry = new SlotRegistry();
  const slots = slotsOf(registry);
  visit(slots, 10_000);
  vi.advanceTimersByTime(1);
  visit(slots, 1);
  slots.get('another.test');
  const keys = new Set(Array.from(registry.values(), ({ key }) => key));
  expect([keys.size, keys.has('h0.test'), keys.has('h1.test')]).toEqual([9001, true, false]);
  expect([...slots.entries()]).toHaveLength(9001);
  // The wish of this crawler holds for a slot that is made anew.
  expect(slots.get('h1.test').concurrency).toBe(8);
});

test('no slot is forgotten that has work, waits for its time, is paused, or is waited for', () => {
  const registry = new SlotRegistry();
  const slots = slotsOf(registry, { slots: { 'delayed.test': { delay: 60 } } });
  void slots.get('busy.test').enter(slots);
  void slots.get('delayed.test').enter(slots);
  slots.get('delayed.test').leave();
  slots.get('paused.test').pauseUntil(performance.now() + 60_000);
  registry.hold('held.test');
  const held = slots.get('held.test');
  slots.get('awaited.test').pauseUntil(performance.now() + 60_000);
  slots.wait('awaited.test', { slotReady: () => {} });
  slots.reserve('reserved.test');
  vi.advanceTimersByTime(10);
  visit(slots, 25_000);
  const keys = new Set(Array.from(registry.values(), ({ key }) => key));
  for (const name of ['busy', 'delayed', 'paused', 'held', 'awaited', 'reserved'])
    expect([name, keys.has(`${name}.test`)]).toEqual([name, true]);
  expect(slots.get('held.test')).toBe(held);
  slots.close();
});

test('where all are busy there may be more than are remembered', () => {
  const registry = new SlotRegistry();
  const slots = slotsOf(registry);
  for (let i = 0; i < 12_000; i++) void slots.get(`h${i}.test`).enter(slots);
  expect([...registry.values()]).toHaveLength(12_000);
});

test('orders hold for slots that come later, for those of one crawler alone too, until they are taken back', () => {
  const registry = new SlotRegistry();
  registry.hold('a.test');
  registry.override('a.test', { delay: 3 });
  const alone = slotsOf(registry.apart('lonely'));
  const shared = slotsOf(registry);
  for (const slots of [alone, shared]) {
    expect(slots.get('a.test').report()).toMatchObject({ delay: 3, pausedUntil: Infinity });
  }
  registry.resume('a.test');
  registry.override('a.test', { delay: undefined, concurrency: 2 });
  for (const slots of [alone, shared]) {
    const { delay, concurrency, pausedUntil } = slots.get('a.test').report();
    expect([delay, concurrency, pausedUntil]).toEqual([0, 2, undefined]);
  }
  expect(Array.from(registry.reports(), ({ spider }) => spider)).toEqual([undefined, 'lonely']);
  alone.close();
  expect([...registry.reports()]).toHaveLength(1);
});

test.each([{ delay: -1 }, { delay: Number.NaN }, { delay: Infinity }, { concurrency: 0 }])(
  'an order that cannot be is refused: %o',
  (values) => {
    expect(() => new SlotRegistry().override('a.test', values)).toThrow('a.test must be');
  },
);

test('a crawler that waits feels an order at once', async () => {
  const registry = new SlotRegistry();
  const slots = slotsOf(registry, { delay: 100 });
  const slot = slots.get('a.test');
  void slot.enter(slots);
  slot.leave();
  let ready = 0;
  slots.wait('a.test', { slotReady: () => void ready++ });
  await vi.advanceTimersByTimeAsync(1000);
  expect(ready).toBe(0);
  registry.override('a.test', { delay: 0.5 });
  expect(ready).toBe(1);
  expect(vi.getTimerCount()).toBe(0);
});

test('a transfer that ends after its crawler has closed leaves no wish', () => {
  const registry = new SlotRegistry();
  const early = slotsOf(registry, { delay: 5 });
  early.get('a.test');
  early.close();
  early.get('a.test');
  expect(slotsOf(registry).get('a.test').delay).toBe(0);
});

test('the longest pattern of DOWNLOAD_SLOTS holds where there is no entry of that name', () => {
  const slots = slotsOf(new SlotRegistry(), {
    slots: {
      '*.example.com': { delay: 1 },
      '*.shop.example.com': { delay: 2, concurrency: 1 },
      'www.shop.example.com': { delay: 3 },
    },
  });
  const delayOf = (host: string): number =>
    slots.get(slots.keyOf(new Request(`http://${host}/`))).delay;
  expect(
    ['a.example.com', 'b.shop.example.com', 'www.shop.example.com', 'example.com'].map(delayOf),
  ).toEqual([1, 2, 3, 0]);
});
