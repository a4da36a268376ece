import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { DropItem } from '../errors.ts';
import type { Request } from '../http/request.ts';
import type { Response } from '../http/response.ts';
import { SignalManager } from '../signals/signal-manager.ts';
import type { Spider } from '../spider/spider.ts';
import { StatsCollector } from '../stats/stats-collector.ts';
import { CoreStats } from './core-stats.ts';

beforeEach(() => {
  vi.useFakeTimers({ now: Date.UTC(2026, 11, 1, 3) });
});
afterEach(() => {
  vi.useRealTimers();
});

// The extension looks at none of these.
const spider = {} as Spider;
const response = {} as Response;
const request = {} as Request;

test('a crawl leaves its times, its reason and its counts', () => {
  const signals = new SignalManager();
  const stats = new StatsCollector();
  new CoreStats({ signals, stats });
  signals.send('spider_opened', { spider });
  signals.send('response_received', { response, request, spider });
  signals.send('response_received', { response, request, spider });
  signals.send('item_scraped', { item: {}, response, spider });
  class TooOld extends DropItem {}
  const dropped = { item: {}, response: null, spider };
  signals.send('item_dropped', { ...dropped, exception: new DropItem('no price') });
  signals.send('item_dropped', { ...dropped, exception: new TooOld() });
  vi.advanceTimersByTime(2500);
  signals.send('spider_closed', { spider, reason: 'finished' });
  expect(stats.getAll()).toEqual({
    start_time: new Date('2026-12-01T03:00:00Z'),
    finish_time: new Date('2026-12-01T03:00:02.500Z'),
    elapsed_time_seconds: 2.5,
    finish_reason: 'finished',
    response_received_count: 2,
    item_scraped_count: 1,
    item_dropped_count: 2,
    'item_dropped_reasons_count/DropItem': 1,
    'item_dropped_reasons_count/TooOld': 1,
  });
});

test('the elapsed time does not follow a wall clock that is set back', () => {
  const signals = new SignalManager();
  const stats = new StatsCollector();
  new CoreStats({ signals, stats });
  signals.send('spider_opened', { spider });
  vi.advanceTimersByTime(1000);
  vi.setSystemTime(0);
  signals.send('spider_closed', { spider, reason: 'finished' });
  expect(stats.get('elapsed_time_seconds')).toBe(1);
});
