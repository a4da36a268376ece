import fc from 'fast-check';
import { Slot } from 'lycosa';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { simulate, sum } from './simulate.ts';

beforeEach(() => {
  // The default of 10,000 timers is fewer than some tests set.
  vi.useFakeTimers({ loopLimit: 100_000 });
});
afterEach(() => {
  vi.useRealTimers();
});

function slotOf(delay: number, concurrency: number, jitter: number): Slot {
  const slot = new Slot('site.test');
  slot.addWish({ concurrency, delay, jitter, adaptive: false });
  return slot;
}

interface Run {
  /** When each request was sent, by the order in which they came. */
  readonly sent: number[];
  readonly order: number[];
  readonly most: number;
}

/** Requests that come at their times and take theirs; some fail, which the slot must not notice. */
async function run(
  slot: Slot,
  requests: readonly { readonly after: number; readonly takes: number; readonly fails: boolean }[],
): Promise<Run> {
  const sent: number[] = [];
  const order: number[] = [];
  let most = 0;
  const all = requests.map(async ({ takes, fails }, i) => {
    const arrival = sum(requests.slice(0, i + 1).map(({ after }) => after));
    await new Promise((resolve) => setTimeout(resolve, arrival));
    const turn = slot.enter(slot);
    if (turn) await turn;
    order.push(i);
    sent.push(performance.now());
    most = Math.max(most, slot.transferring);
    try {
      await new Promise((resolve) => setTimeout(resolve, takes));
      if (fails) throw new Error('reset');
    } finally {
      slot.leave();
    }
  });
  const settled = Promise.allSettled(all);
  await vi.runAllTimersAsync();
  await settled;
  return { sent, order, most };
}

test('whatever comes: the caps hold, gaps are kept, the order is kept, and nothing is left', async () => {
  const request = fc.record({
    after: fc.integer({ min: 0, max: 300 }),
    takes: fc.integer({ min: 0, max: 2000 }),
    fails: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(0, 0.01, 0.1, 1, 5),
      fc.integer({ min: 1, max: 6 }),
      fc.constantFrom(0, 0.2, 0.5),
      fc.array(request, { minLength: 1, maxLength: 30 }),
      async (delay, concurrency, jitter, requests) => {
        const slot = slotOf(delay, concurrency, jitter);
        const { sent, order, most } = await run(slot, requests);
        expect(most).toBeLessThanOrEqual(concurrency);
        expect(order).toEqual(requests.map((_, i) => i));
        for (let i = 1; i < sent.length; i++) {
          // Sums of fractions: a millionth of a millisecond is forgiven.
          expect(sent[i]! - sent[i - 1]!).toBeGreaterThanOrEqual(
            delay * 1000 * (1 - jitter) - 1e-6,
          );
        }
        expect([slot.transferring, slot.reserved, slot.queued]).toEqual([0, 0, 0]);
        expect(slot.isIdle).toBe(true);
        expect(vi.getTimerCount()).toBe(0);
      },
    ),
    { numRuns: 150 },
  );
});

test.each([0, 0.5])('with a jitter of %d the mean gap of 10,000 is the delay', async (jitter) => {
  const slot = slotOf(0.2, 1, jitter);
  const { sent } = await run(
    slot,
    Array.from({ length: 10_001 }, () => ({ after: 0, takes: 0, fails: false })),
  );
  const mean = (sent.at(-1)! - sent[0]!) / 10_000;
  expect(Math.abs(mean - 200)).toBeLessThan(4);
});

test.each([
  [1, undefined],
  [1, 5],
  [2, undefined],
  [3, undefined],
  [3, 1],
  [10, undefined],
  [10, 1],
  [10, 5],
  [10, 30],
  [100, undefined],
])(
  'a site that allows %d requests a second is asked for most of them after a minute (Retry-After: %s)',
  async (rate, retryAfter) => {
    const { good, refused } = await simulate({ rate, retryAfter }, 300);
    const allowed = sum(good, 60);
    expect(allowed / 240 / rate).toBeGreaterThan(0.8);
    expect(allowed / 240 / rate).toBeLessThanOrEqual(1.01);
    expect(sum(refused, 60) / allowed).toBeLessThan(0.02);
    // Eight are under way when it refuses first; from then on it is hardly ever met again.
    expect(sum(refused, 0, 60)).toBeLessThanOrEqual(8 + 4);
  },
);

test.each([undefined, 5])(
  'a site that recovers is soon asked for more (Retry-After: %s)',
  async (retryAfter) => {
    const rate = (second: number): number => (second < 60 ? 8 : 40);
    const { good, refused } = await simulate({ rate, retryAfter }, 420);
    expect(sum(good, 360) / 60).toBeGreaterThan(20);
    expect(sum(refused, 60) / sum(good, 60)).toBeLessThan(0.02);
  },
);

test.each([undefined, 1, 5])(
  'a site that recovers slowly is hardly met (Retry-After: %s)',
  async (retryAfter) => {
    // From 20 down to 2, then back in five minutes.
    const rate = (second: number): number =>
      second < 60 ? 20 : Math.min(20, 2 + ((second - 60) / 300) * 18);
    const { good, refused } = await simulate({ rate, retryAfter }, 420);
    expect(sum(refused, 60) / sum(good, 60)).toBeLessThan(0.02);
    expect(sum(good, 390) / 30).toBeGreaterThan(7);
  },
);

test('a site that counts by the minute is not met over and over', async () => {
  const { good, refused } = await simulate({ rate: 300, windowSeconds: 60, retryAfter: 10 }, 600);
  expect(sum(refused, 60) / sum(good, 60)).toBeLessThan(0.02);
  expect(sum(good, 60) / 540 / 5).toBeGreaterThan(0.5);
});

test('where AutoThrottle keeps a longer delay than the site asks for, that is what holds', async () => {
  const { good, refused } = await simulate({ rate: 10, learnt: 0.2 }, 120);
  expect(sum(refused)).toBe(0);
  expect(sum(good, 60) / 60).toBeGreaterThan(4.5);
  expect(sum(good, 60) / 60).toBeLessThan(5.5);
});
