import { expect, test } from 'vitest';

import { DummyStatsCollector, StatsCollector } from './stats-collector.ts';

test('a count begins where it is told to and grows by what is given', () => {
  const stats = new StatsCollector();
  stats.inc('pages');
  stats.inc('pages', 2);
  stats.inc('items', 1, 10);
  expect([stats.get('pages'), stats.get('items')]).toEqual([3, 11]);
});

test('max and min keep the extreme', () => {
  const stats = new StatsCollector();
  for (const depth of [2, 5, 3]) {
    stats.max('deepest', depth);
    stats.min('flattest', depth);
  }
  expect([stats.get('deepest'), stats.get('flattest')]).toEqual([5, 2]);
});

test('a stat that is null is there; one that was never set gives the fallback', () => {
  const stats = new StatsCollector();
  stats.set('responses_per_minute', null);
  expect(stats.get('responses_per_minute', 0)).toBeNull();
  expect(stats.get('absent', 0)).toBe(0);
  expect(stats.get('absent')).toBeUndefined();
});

test('all stats are a copy, sorted by name', () => {
  const stats = new StatsCollector();
  stats.inc('b');
  stats.inc('a');
  const all = stats.getAll();
  stats.clear();
  expect(Object.keys(all)).toEqual(['a', 'b']);
  expect(stats.getAll()).toEqual({});
});

test('the dummy takes everything and keeps nothing', () => {
  const stats: StatsCollector = new DummyStatsCollector();
  stats.set('a', 1);
  stats.inc('a');
  stats.max('a', 1);
  stats.min('a', 1);
  expect(stats.getAll()).toEqual({});
});
