import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import type { Request } from '../http/request.ts';
import type { Response } from '../http/response.ts';
import { createLogger } from '../log/logger.ts';
import { SignalManager } from '../signals/signal-manager.ts';
import type { Spider } from '../spider/spider.ts';
import { StatsCollector } from '../stats/stats-collector.ts';
import { LogStats } from './log-stats.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

// The extension looks at none of these.
const spider = {} as Spider;
const response = {} as Response;
const request = {} as Request;

function start(interval: number) {
  const lines: string[] = [];
  const log = createLogger({ destination: { write: (line) => lines.push(line) } });
  const signals = new SignalManager();
  const stats = new StatsCollector();
  new LogStats({ log, signals, stats }, interval);
  signals.send('spider_opened', { spider });
  return {
    stats,
    lines,
    crawl(pages: number, items: number) {
      for (let i = 0; i < pages; i++) {
        signals.send('response_received', { response, request, spider });
      }
      for (let i = 0; i < items; i++) signals.send('item_scraped', { item: {}, response, spider });
    },
    close() {
      signals.send('spider_closed', { spider, reason: 'finished' });
      expect(vi.getTimerCount()).toBe(0);
    },
  };
}

test('one line each interval, with what came since the last one as a rate', () => {
  const { crawl, lines, close } = start(30);
  crawl(10, 4);
  vi.advanceTimersByTime(30_000);
  crawl(5, 0);
  vi.advanceTimersByTime(30_000);
  expect(lines).toEqual([
    expect.stringContaining(
      'INFO: Crawled 10 pages (at 20 pages/min), scraped 4 items (at 8 items/min)',
    ),
    expect.stringContaining(
      'INFO: Crawled 15 pages (at 10 pages/min), scraped 4 items (at 0 items/min)',
    ),
  ]);
  close();
});

test('the stats keep the mean rates, also of a crawl of more than a day', () => {
  const { crawl, stats, close } = start(86_400);
  crawl(3000, 1500);
  vi.advanceTimersByTime(25 * 3600 * 1000);
  close();
  expect(stats.get('responses_per_minute')).toBe(2);
  expect(stats.get('items_per_minute')).toBe(1);
});

test('a crawl of less than a second has no rate', () => {
  const { crawl, stats, close } = start(60);
  crawl(3, 3);
  vi.advanceTimersByTime(999);
  close();
  expect(stats.getAll()).toEqual({ items_per_minute: null, responses_per_minute: null });
});
