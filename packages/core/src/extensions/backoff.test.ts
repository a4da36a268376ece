import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import type { Crawler } from '../crawler/crawler.ts';
import { CrawlerSlots, SlotRegistry } from '../downloader/slot-registry.ts';
import type { Slot } from '../downloader/slot.ts';
import { DownloadCancelledError, DownloadTimeoutError, SettingsError } from '../errors.ts';
import { Request } from '../http/request.ts';
import { Response } from '../http/response.ts';
import { createLogger } from '../log/logger.ts';
import { Settings, type SettingsInput } from '../settings/settings.ts';
import { SignalManager } from '../signals/signal-manager.ts';
import type { Spider } from '../spider/spider.ts';
import { StatsCollector } from '../stats/stats-collector.ts';
import { Backoff } from './backoff.ts';

const spider = {} as Spider; // It looks at none.

beforeEach(() => {
  vi.useFakeTimers({ now: Date.UTC(2026, 0, 5, 12, 0, 0) });
});
afterEach(() => {
  vi.useRealTimers();
});

function start(values: SettingsInput = {}, delay = 1) {
  const settings = new Settings({ RETRY_AFTER_MAX: 300, ...values });
  const lines: string[] = [];
  const sentAt = new Map<Request, number>();
  const host = {
    settings,
    signals: new SignalManager(),
    stats: new StatsCollector(),
    log: createLogger({ destination: { write: (line) => lines.push(line) } }),
    slots: new CrawlerSlots(new SlotRegistry(), { concurrency: 8, delay, jitter: 0, slots: {} }),
    engine: { downloader: { dispatchedAt: (request: Request) => sentAt.get(request) } },
  };
  // It uses no more of a crawler than a host has.
  Backoff.fromCrawler(host as unknown as Crawler);
  const send = (): Request => {
    const request = new Request('http://a.test/', { meta: { downloadLatency: 0.1 } });
    sentAt.set(request, performance.now());
    return request;
  };
  return {
    ...host,
    lines,
    send,
    slot: host.slots.get('a.test'),
    other: host.slots.get('b.test'),
    answer(request: Request, status: number, retryAfter?: string): void {
      const headers = {
        date: new Date().toUTCString(),
        ...(retryAfter !== undefined && { 'retry-after': retryAfter }),
      };
      const response = new Response(request.url, { status, headers });
      host.signals.send('response_downloaded', { response, request, spider });
    },
    fail(request: Request, error: Error): void {
      host.signals.send('download_failed', { error, request, spider });
    },
  };
}

const pauseOf = (slot: Slot): number => Math.round((slot.pausedUntil - performance.now()) / 1000);

test.each([
  ['seconds', 429, '7', 7],
  ['a date by the clock of the server', 503, 'Mon, 05 Jan 2026 12:00:05 GMT', 5],
  ['a day, cut to RETRY_AFTER_MAX', 429, '86400', 300],
])('Retry-After pauses the whole slot: %s', async (_, status, value, seconds) => {
  const { slot, other, answer, send, lines } = start();
  answer(send(), status, value);
  expect(pauseOf(slot)).toBe(seconds);
  expect(other.isReady).toBe(true);
  await vi.advanceTimersByTimeAsync(seconds * 1000 - 10);
  expect(slot.isReady).toBe(false);
  await vi.advanceTimersByTimeAsync(1000);
  expect(slot.isReady).toBe(true);
  expect(slot.delay).toBeGreaterThanOrEqual(1);
  const warnings = lines.filter((line) => line.includes('WARN'));
  expect(warnings).toHaveLength(value === '86400' ? 1 : 0);
  for (const line of warnings) expect(line).toContain('86400');
});

test.each([undefined, 'soon', 'Fri, 31 Dec 1999 23:59:59 GMT', '-1', 'NaN'])(
  'a 429 with Retry-After %s doubles the delay',
  (value) => {
    const { slot, answer, send } = start();
    answer(send(), 429, value);
    expect(slot.delay).toBe(2);
    expect(pauseOf(slot)).toBe(2);
  },
);

test('a 200 with Retry-After changes nothing', () => {
  const { slot, answer, send } = start();
  answer(send(), 200, '10');
  expect([slot.delay, slot.pausedUntil]).toEqual([1, -Infinity]);
});

test('a site without a delay starts with BACKOFF_START_DELAY, and stays below BACKOFF_MAX_DELAY', async () => {
  const { slot, answer, send } = start({ BACKOFF_MAX_DELAY: 5 }, 0);
  const delays: number[] = [];
  for (let i = 0; i < 5; i++) {
    answer(send(), 429);
    delays.push(slot.delay);
    await vi.advanceTimersByTimeAsync(10_000);
  }
  expect(delays).toEqual([1, 2, 4, 5, 5]);
});

test('what was sent before the first refusal belongs to the same burst', async () => {
  const { slot, stats, answer, send } = start();
  const burst = Array.from({ length: 8 }, send);
  await vi.advanceTimersByTimeAsync(100);
  for (const request of burst) {
    answer(request, 429, '3');
    await vi.advanceTimersByTimeAsync(5);
  }
  expect(slot.delay).toBe(1.25);
  expect(slot.report().changes.map(({ cause }) => cause)).toEqual([
    'a crawler opened',
    'backoff: 429',
    'paused for 3 s: Retry-After 3',
  ]);
  expect(stats.getAll()).toMatchObject({
    'backoff/event_count': 1,
    'backoff/same_event_count': 7,
    'backoff/pause_count': 1,
  });
});

test('timeouts lengthen the delay a little, our own cancelling does not', () => {
  const { slot, fail, send } = start();
  fail(send(), new DownloadCancelledError('stop'));
  expect(slot.delay).toBe(1);
  fail(send(), new DownloadTimeoutError('late'));
  expect(slot.delay).toBe(1.25);
});

test('good answers bring the delay back, those sent before the refusal do not', async () => {
  const { slot, answer, send, stats, lines } = start({}, 0);
  const early = send();
  await vi.advanceTimersByTimeAsync(10);
  answer(send(), 429);
  await vi.advanceTimersByTimeAsync(10);
  answer(early, 200);
  expect(slot.delay).toBe(1);
  for (let i = 0; i < 200; i++) {
    await vi.advanceTimersByTimeAsync(1000);
    answer(send(), 200);
  }
  expect(slot.delay).toBe(0);
  expect(stats.get('backoff/end_count')).toBe(1);
  expect(lines.at(-1)).toContain('a.test does not push back any more');
  expect(slot.report().changes.map(({ cause, to }) => [cause, to])).toEqual([
    ['backoff: 429', 1],
    ['good answers', 0],
  ]);
});

test('a start delay that cannot be is a configuration error', () => {
  expect(() => start({ BACKOFF_START_DELAY: 0 })).toThrow(SettingsError);
  expect(() => start({ BACKOFF_START_DELAY: 9, BACKOFF_MAX_DELAY: 5 })).toThrow(SettingsError);
});
