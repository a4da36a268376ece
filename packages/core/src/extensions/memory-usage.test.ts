import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { createLogger } from '../log/logger.ts';
import { SignalManager } from '../signals/signal-manager.ts';
import type { Spider } from '../spider/spider.ts';
import { StatsCollector } from '../stats/stats-collector.ts';
import { MemoryUsage } from './memory-usage.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const mebibyte = 1024 * 1024;

/** The memory at the start and at each check after it. */
function watch(mebibytes: number[], options: { limit?: number; warning?: number }) {
  const lines: string[] = [];
  const log = createLogger({ destination: { write: (line) => lines.push(line) } });
  const signals = new SignalManager();
  const stats = new StatsCollector();
  const closes: unknown[][] = [];
  const engine = { closeSpider: (...args: unknown[]): void => void closes.push(args) };
  let memory = mebibytes[0]!;
  new MemoryUsage(
    { signals, stats, log, engine },
    { interval: 10, limit: 0, warning: 0, ...options, rss: () => memory * mebibyte },
  );
  let warnings = 0;
  signals.connect('memusage_warning_reached', () => {
    warnings++;
  });
  signals.send('engine_started', {});
  for (memory of mebibytes.slice(1)) vi.advanceTimersByTime(10_000);
  // It looks at no spider.
  signals.send('spider_closed', { spider: {} as Spider, reason: 'finished' });
  expect(vi.getTimerCount()).toBe(0);
  return { stats: stats.getAll(), warnings, closes, lines };
}

test('the stats hold the memory at the start and the most that was seen', () => {
  expect(watch([100, 180, 120], {}).stats).toEqual({
    'memusage/startup': 100 * mebibyte,
    'memusage/max': 180 * mebibyte,
  });
});

test('above the warning there is one warning and one signal', () => {
  const { stats, warnings, lines, closes } = watch([100, 210, 190, 220], { warning: 200 });
  expect(stats).toMatchObject({ 'memusage/warning_reached': 1 });
  expect(warnings).toBe(1);
  expect(lines).toEqual([
    expect.stringContaining(
      'WARNING: Memory has reached 210 MiB, more than MEMUSAGE_WARNING_MB (200)',
    ),
  ]);
  expect(closes).toEqual([]);
});

test('above the limit the spider is closed, once', () => {
  const { stats, closes } = watch([100, 200, 201, 300], { limit: 200 });
  expect(stats).toMatchObject({ 'memusage/limit_reached': 1 });
  expect(closes).toEqual([['memusage_exceeded']]);
});
