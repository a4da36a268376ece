import { expect, test, vi } from 'vitest';

import { CrawlerSlots, SlotRegistry, type SlotDefaults } from '../downloader/slot-registry.ts';
import { Request, type RequestOptions } from '../http/request.ts';
import { StatsCollector } from '../stats/stats-collector.ts';
import { FingerprintDupeFilter } from './dupe-filter.ts';
import { MemoryScheduler } from './scheduler.ts';

function build(changes: Partial<SlotDefaults> = {}, order: 'lifo' | 'fifo' = 'lifo') {
  const slots = new CrawlerSlots(new SlotRegistry(), {
    concurrency: Infinity,
    delay: 0,
    jitter: 0,
    slots: {},
    ...changes,
  });
  const onReady = vi.fn<() => void>();
  const scheduler = new MemoryScheduler({
    order,
    dupeFilter: new FingerprintDupeFilter(),
    slots,
    stats: new StatsCollector(),
    onReady,
  });
  const add = (url: string, options?: RequestOptions): unknown =>
    scheduler.enqueue(new Request(url, options));
  const all = (): string[] => {
    const urls: string[] = [];
    for (let next = scheduler.next(slots); next; next = scheduler.next(slots))
      urls.push(next.url.replace('http://', ''));
    return urls;
  };
  return { scheduler, slots, onReady, add, all };
}

test('priority first, then last in first out, start requests after them in their own order', () => {
  const { add, all } = build();
  add('http://a.test/s1', { meta: { isStartRequest: true } });
  add('http://a.test/s2', { meta: { isStartRequest: true } });
  add('http://a.test/1');
  add('http://a.test/2');
  add('http://a.test/high', { priority: 10 });
  add('http://a.test/low', { priority: -1 });
  expect(all()).toEqual([
    'a.test/high',
    'a.test/2',
    'a.test/1',
    'a.test/s1',
    'a.test/s2',
    'a.test/low',
  ]);
});

test('breadth first by setting', () => {
  const { add, all } = build({}, 'fifo');
  for (let i = 0; i < 3000; i++) add(`http://a.test/${i}`);
  expect(all()).toEqual(Array.from({ length: 3000 }, (_, i) => `a.test/${i}`));
});

test('slots of equal priority take turns, and priority holds across them', () => {
  const { add, all } = build({}, 'fifo');
  for (const host of ['a', 'b', 'c']) for (const page of [1, 2]) add(`http://${host}.test/${page}`);
  add('http://c.test/first', { priority: 1 });
  expect(all()).toEqual([
    'c.test/first',
    'a.test/1',
    'b.test/1',
    'c.test/1',
    'a.test/2',
    'b.test/2',
    'c.test/2',
  ]);
});

test('a slot that may not send is passed over and asked again when it is ready', () => {
  const { scheduler, slots, onReady, add, all } = build({ concurrency: 1 });
  add('http://a.test/1', { priority: 5 });
  add('http://a.test/2', { priority: 5 });
  add('http://b.test/1');
  expect(all()).toEqual(['a.test/2', 'b.test/1']);
  expect(scheduler.pending).toBe(1);
  expect(scheduler.leased).toBe(2);
  slots.unreserve('a.test');
  expect(onReady).toHaveBeenCalledTimes(1);
  expect(all()).toEqual(['a.test/1']);
});

test('a request waits for its time', () => {
  vi.useFakeTimers();
  const { scheduler, add, all } = build();
  const due = Date.now() + 5000;
  add('http://a.test/later', { notBefore: due });
  add('http://a.test/now');
  expect(all()).toEqual(['a.test/now']);
  expect(scheduler.nextDue).toBe(due);
  expect(scheduler.pending).toBe(1);
  vi.advanceTimersByTime(5000);
  expect(all()).toEqual(['a.test/later']);
  vi.useRealTimers();
});

test('a leased request is forgotten when it is done and comes back when it is released', () => {
  const { scheduler, slots, add } = build();
  add('http://a.test/1');
  add('http://a.test/2');
  const first = scheduler.next(slots)!;
  const second = scheduler.next(slots)!;
  scheduler.done(first);
  scheduler.release(second);
  expect([scheduler.pending, scheduler.leased]).toEqual([1, 0]);
  expect(scheduler.next(slots)).toBe(second);
});

test('duplicates are refused unless the request asks not to be filtered', () => {
  const { add } = build();
  expect(add('http://a.test/1')).toBe(true);
  expect(add('http://a.test/1')).toBe(false);
  expect(add('http://a.test/1', { dontFilter: true })).toBe(true);
});
