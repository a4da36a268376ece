import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { Slot, type SlotWish } from './slot.ts';

const wish = (changes: Partial<SlotWish> = {}): SlotWish => ({
  concurrency: 8,
  delay: 0,
  jitter: 0,
  adaptive: false,
  ...changes,
});

function slotOf(changes: Partial<SlotWish> = {}): Slot {
  const slot = new Slot('example.com');
  slot.addWish(wish(changes));
  return slot;
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  // oxlint-disable-next-line vitest/no-standalone-expect -- holds after every test
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

/** Lets `count` requests through and returns the times of their dispatches, in milliseconds from now. */
async function dispatches(slot: Slot, count: number): Promise<number[]> {
  const start = performance.now();
  const times: number[] = [];
  const all = Array.from({ length: count }, async () => {
    const turn = slot.enter(slot);
    if (turn) await turn;
    times.push(performance.now() - start);
    slot.leave();
  });
  await vi.runAllTimersAsync();
  await Promise.all(all);
  return times;
}

test('the first request of a slot does not wait', () => {
  expect(slotOf({ delay: 60 }).enter({})).toBeUndefined();
});

test('with a delay there is never a burst: one dispatch each delay', async () => {
  const times = await dispatches(slotOf({ delay: 2 }), 4);
  expect(times[0]).toBe(0);
  for (let i = 1; i < 4; i++) {
    expect(times[i]! - times[i - 1]!).toBeGreaterThanOrEqual(2000);
    expect(times[i]! - times[i - 1]!).toBeLessThan(2010);
  }
});

test('jitter spreads gaps from half to one and a half of the delay, and their mean is the delay', async () => {
  const times = await dispatches(slotOf({ delay: 1, jitter: 0.5 }), 3000);
  const gaps = times.slice(1).map((time, i) => time - times[i]!);
  for (const gap of gaps) {
    expect(gap).toBeGreaterThanOrEqual(500);
    expect(gap).toBeLessThan(1503);
  }
  const mean = gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length;
  expect(Math.abs(mean - 1000)).toBeLessThan(25);
});

test('no more transfers than its concurrency, and the next goes when one ends', async () => {
  const slot = slotOf({ concurrency: 2 });
  expect(slot.enter({})).toBeUndefined();
  expect(slot.enter({})).toBeUndefined();
  const third = slot.enter({});
  expect(slot.isReady).toBe(false);
  slot.leave();
  expect(await third).toBe(true);
  expect(slot.transferring).toBe(2);
});

test('a request that is taken but not sent yet holds its place', () => {
  const slot = slotOf({ concurrency: 1 });
  slot.reserved++;
  expect(slot.isReady).toBe(false);
});

test('the strictest wish holds, and goes with the crawler that had it', () => {
  const slot = slotOf({ delay: 0.5 });
  const strict = wish({ delay: 2, concurrency: 1 });
  slot.addWish(strict);
  expect([slot.delay, slot.concurrency]).toEqual([2, 1]);
  slot.removeWish(strict);
  expect([slot.delay, slot.concurrency]).toEqual([0.5, 8]);
});

test('a learnt delay counts only where AutoThrottle is on, and never goes below the floor', () => {
  const slot = slotOf({ delay: 1 });
  slot.delay = 3;
  expect(slot.delay).toBe(1);
  slot.addWish(wish({ adaptive: true }));
  expect(slot.delay).toBe(3);
  slot.delay = 0.1;
  expect(slot.delay).toBe(1);
});

test('a shorter delay is felt by those that wait already', async () => {
  const slot = slotOf({ delay: 0, adaptive: true });
  slot.delay = 100;
  void slot.enter({});
  slot.leave();
  const turn = slot.enter({});
  slot.delay = 1;
  await vi.advanceTimersByTimeAsync(1002);
  expect(await turn).toBe(true);
  slot.leave();
});

test('a paused slot sends nothing until the pause is over', async () => {
  const slot = slotOf();
  slot.pauseUntil(performance.now() + 5000);
  expect(slot.isReady).toBe(false);
  const turn = slot.enter({});
  let went = false;
  void turn?.then(() => (went = true));
  await vi.advanceTimersByTimeAsync(4990);
  expect(went).toBe(false);
  await vi.advanceTimersByTimeAsync(20);
  expect(went).toBe(true);
  slot.leave();
});

test('those outside are told in turn, once each, when there is room', () => {
  const slot = slotOf({ concurrency: 1 });
  void slot.enter({});
  const told: string[] = [];
  slot.wait({ slotReady: () => told.push('a') && (slot.reserved++, undefined) });
  slot.wait({ slotReady: () => told.push('b') });
  slot.leave();
  expect(told).toEqual(['a']);
  slot.reserved--;
  slot.wake();
  expect(told).toEqual(['a', 'b']);
});

test('who leaves the queue is told so, and leaves no timer', async () => {
  const slot = slotOf({ delay: 100 });
  void slot.enter({});
  slot.leave();
  const owner = {};
  const turn = slot.enter(owner);
  slot.cancel(owner);
  expect(await turn).toBe(false);
  expect(vi.getTimerCount()).toBe(0);
});

test('who does not want to be told any more leaves no timer', () => {
  const slot = slotOf();
  slot.pauseUntil(performance.now() + 300_000);
  const waiter = { slotReady: () => {} };
  slot.wait(waiter);
  slot.forget(waiter);
  expect(vi.getTimerCount()).toBe(0);
});

test('when the strictest crawler closes, those that wait feel it', async () => {
  const slot = slotOf({ delay: 1 });
  const strict = wish({ delay: 60 });
  slot.addWish(strict);
  void slot.enter({});
  slot.leave();
  const turn = slot.enter({});
  await vi.advanceTimersByTimeAsync(2000);
  slot.removeWish(strict);
  expect(await turn).toBe(true);
  slot.leave();
});

test('a clock that is set back makes no request wait longer, nor one set forward go earlier', async () => {
  const slot = slotOf({ delay: 10 });
  void slot.enter({});
  slot.leave();
  for (const days of [-2, 3]) {
    const turn = slot.enter({});
    let went = false;
    void turn?.then(() => (went = true));
    vi.setSystemTime(Date.now() + days * 86_400_000);
    await vi.advanceTimersByTimeAsync(9900);
    expect(went).toBe(false);
    await vi.advanceTimersByTimeAsync(200);
    expect(went).toBe(true);
    slot.leave();
  }
});
