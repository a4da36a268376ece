import { existsSync, readFileSync } from 'node:fs';

import { describe, expect, test } from 'vitest';

import type { Crawler } from '../crawler/crawler.ts';
import { CrawlerSlots, SlotRegistry, type SlotSettings } from '../downloader/slot-registry.ts';
import type { Slot } from '../downloader/slot.ts';
import { NotConfigured, SettingsError } from '../errors.ts';
import { Request, type RequestMeta } from '../http/request.ts';
import { Response } from '../http/response.ts';
import { createLogger } from '../log/logger.ts';
import { Settings, type SettingsInput } from '../settings/settings.ts';
import { SignalManager } from '../signals/signal-manager.ts';
import type { Spider } from '../spider/spider.ts';
import { StatsCollector } from '../stats/stats-collector.ts';
import { AutoThrottle, type AutoThrottleHost, nextDelay } from './auto-throttle.ts';

const spider = {} as Spider; // It looks at none.

/** One site and what it answers: status, latency in seconds, the delay that must follow. */
const table = [
  [200, 1.0, 2.75],
  [200, 1.0, 1.625],
  [503, 0.05, 1.625],
  [404, 0.02, 1.625],
  [200, undefined, 1.625], // from the cache
  [301, 0.01, 1.625],
  [200, 0.1, 0.8375],
  [200, 0.1, 0.44375],
  [200, 0.1, 0.25], // the mean would be 0.246875
  [500, 1000, 60],
] as const;

const tableSettings: SettingsInput = {
  AUTOTHROTTLE_ENABLED: true,
  AUTOTHROTTLE_START_DELAY: 5,
  AUTOTHROTTLE_MAX_DELAY: 60,
  AUTOTHROTTLE_TARGET_CONCURRENCY: 2,
  DOWNLOAD_DELAY: 0.25,
};

function hostOf(
  values: SettingsInput,
  slotSettings: Record<string, SlotSettings> = {},
): AutoThrottleHost & { lines: string[] } {
  const settings = new Settings({
    AUTOTHROTTLE_ENABLED: true,
    DOWNLOAD_SLOTS: slotSettings,
    ...values,
  });
  const lines: string[] = [];
  return {
    settings,
    lines,
    signals: new SignalManager(),
    stats: new StatsCollector(),
    log: createLogger({ destination: { write: (line) => lines.push(line) } }),
    slots: new CrawlerSlots(new SlotRegistry(), {
      concurrency: 8,
      delay: settings.get('DOWNLOAD_DELAY'),
      jitter: 0,
      slots: slotSettings,
    }),
  };
}

/** It uses no more of a crawler than a host has. */
const asCrawler = (host: AutoThrottleHost): Crawler => host as Crawler;

function start(values: SettingsInput, slotSettings?: Record<string, SlotSettings>) {
  const host = hostOf(values, slotSettings);
  AutoThrottle.fromCrawler(asCrawler(host));
  host.signals.send('spider_opened', { spider });
  return {
    ...host,
    answer(url: string, status: number, downloadLatency?: number, meta: RequestMeta = {}): number {
      const all = { ...meta, ...(downloadLatency !== undefined && { downloadLatency }) };
      const request = new Request(url, { meta: all });
      const response = new Response(url, { status, body: Buffer.from('hello') });
      host.signals.send('response_downloaded', { response, request, spider });
      return host.slots.get(host.slots.keyOf(request)).delay;
    },
  };
}

interface Vectors {
  readonly count: number;
  readonly cases: readonly {
    readonly mindelay: number;
    readonly maxdelay: number;
    readonly target_concurrency: number;
    readonly delay: number;
    readonly latency: number;
    readonly status: number;
    readonly new_delay: number;
  }[];
}

describe('nextDelay', () => {
  test('a site that gets faster, fails, and gets very slow', () => {
    let delay = 5;
    for (const [status, latency, expected] of table) {
      if (latency === undefined) continue;
      delay = nextDelay({ delay, latency, status, target: 2, min: 0.25, max: 60 });
      expect(delay).toBeCloseTo(expected, 12);
    }
  });

  test('a higher aim is taken at once', () => {
    expect(nextDelay({ delay: 1, latency: 8, status: 200, target: 2, min: 0, max: 60 })).toBe(4);
  });

  test('where the limits cross the upper one wins', () => {
    expect(nextDelay({ delay: 5, latency: 1, status: 200, target: 1, min: 9, max: 3 })).toBe(3);
  });

  test("Scrapy's own steps, where the reference vectors are at hand", (context) => {
    const path = new URL(
      '../../../../../shared/reference/vectors/autothrottle.json',
      import.meta.url,
    );
    if (!existsSync(path)) context.skip('the reference vectors are absent');
    const { cases, count } = JSON.parse(readFileSync(path, 'utf8')) as Vectors;
    expect(cases).toHaveLength(count);
    const wrong = cases.filter(
      ({ mindelay: min, maxdelay: max, target_concurrency: target, new_delay, ...step }) =>
        !(Math.abs(nextDelay({ ...step, target, min, max }) - new_delay) < 1e-9),
    );
    expect(wrong).toEqual([]);
  });
});

test('each slot learns from its own responses only, cached ones not among them', () => {
  const { answer, slots } = start(tableSettings);
  expect(answer('http://b.test/', 200, 0.4)).toBeCloseTo(2.6, 12);
  for (const [status, latency, expected] of table) {
    expect(answer('http://a.test/', status, latency)).toBeCloseTo(expected, 12);
  }
  expect(slots.get('b.test').delay).toBeCloseTo(2.6, 12);
});

test('a new slot starts with AUTOTHROTTLE_START_DELAY, or DOWNLOAD_DELAY where that is longer', () => {
  expect(start({}).slots.get('a.test').delay).toBe(5);
  expect(start({ DOWNLOAD_DELAY: 7 }).slots.get('a.test').delay).toBe(7);
});

test('the start delay may be above AUTOTHROTTLE_MAX_DELAY until the first response', () => {
  const { slots, answer } = start({ AUTOTHROTTLE_MAX_DELAY: 2 });
  expect(slots.get('a.test').delay).toBe(5);
  expect(answer('http://a.test/', 200, 1)).toBe(2);
});

test('a slot with a delay of its own starts there and does not go below it', () => {
  const { answer, slots } = start({}, { 'a.test': { delay: 2 } });
  expect(slots.get('a.test').delay).toBe(2);
  expect(answer('http://a.test/', 200, 0.1)).toBe(2);
  expect(answer('http://a.test/', 200, 9)).toBe(9);
});

test('meta.autothrottleDontAdjustDelay leaves the delay alone', () => {
  const { answer } = start({});
  expect(answer('http://a.test/', 200, 1, { autothrottleDontAdjustDelay: true })).toBe(5);
  expect(answer('http://a.test/', 200, 1, { autothrottleDontAdjustDelay: false })).toBe(3);
});

test('meta.downloadSlot names the slot that learns', () => {
  const { answer, slots } = start({});
  expect(answer('http://a.test/', 200, 1, { downloadSlot: 'shared' })).toBe(3);
  expect(slots.get('a.test').delay).toBe(5);
});

test('every decision is counted', () => {
  const { answer, stats } = start({});
  answer('http://a.test/', 200, 1);
  answer('http://a.test/', 200, 20);
  answer('http://a.test/', 503, 0.1);
  answer('http://a.test/', 200);
  expect(stats.getAll()).toEqual({
    'autothrottle/kept': 1,
    'autothrottle/lowered': 1,
    'autothrottle/raised': 1,
  });
});

test('AUTOTHROTTLE_DEBUG logs one line for each response considered, kept delays too', () => {
  const { answer, lines, slots } = start({ AUTOTHROTTLE_DEBUG: true });
  slots.get('a.test').transferring = 3;
  answer('http://a.test/', 200, 1);
  answer('http://a.test/', 503, 0.02);
  answer('http://a.test/', 200);
  answer('http://a.test/', 200, 12.3456);
  expect(lines.map((line) => line.slice(line.indexOf('INFO')).trim())).toEqual([
    'INFO: slot: a.test | conc: 3 | delay: 3000 ms (-2000) | latency: 1000 ms | size:     5 bytes',
    'INFO: slot: a.test | conc: 3 | delay: 3000 ms (+0) | latency:   20 ms | size:     5 bytes',
    'INFO: slot: a.test | conc: 3 | delay:12345 ms (+9345) | latency:12345 ms | size:     5 bytes',
  ]);
});

test('it is off silently unless enabled, and with a message where the target cannot be', () => {
  const build = (values: SettingsInput) => (): unknown =>
    AutoThrottle.fromCrawler(asCrawler(hostOf(values)));
  expect(build({ AUTOTHROTTLE_ENABLED: false })).toThrow(new NotConfigured());
  expect(build({ DOWNLOAD_DELAY: 3, AUTOTHROTTLE_MAX_DELAY: 2 })).toThrow(SettingsError);
  expect(build({ DOWNLOAD_DELAY: 2, AUTOTHROTTLE_MAX_DELAY: 2 })).not.toThrow();
  // Settings may refuse such a target before; the extension must not divide by it either way.
  for (const target of [0, -1]) {
    const host = hostOf({});
    const settings = {
      get: (name: string) =>
        name === 'AUTOTHROTTLE_TARGET_CONCURRENCY' ? target : host.settings.get(name),
    } as Settings;
    expect(() => AutoThrottle.fromCrawler(asCrawler({ ...host, settings }))).toThrow(NotConfigured);
    expect(() => AutoThrottle.fromCrawler(asCrawler({ ...host, settings }))).toThrow(
      `must be above 0, got ${target}`,
    );
  }
});

test('the time to the end of the body counts with AUTOTHROTTLE_LATENCY total', () => {
  const { signals, slots } = start({ AUTOTHROTTLE_LATENCY: 'total' });
  const request = new Request('http://a.test/', { meta: { downloadLatency: 1 } });
  const response = new Response('http://a.test/', {
    timings: { connect: 0, firstByte: 1000, body: 8000 },
  });
  signals.send('response_downloaded', { response, request, spider });
  expect(slots.get('a.test').delay).toBe(9);
});

test('a slot may have a target and limits of its own', () => {
  const { answer } = start(
    {},
    { 'a.test': { targetConcurrency: 4 }, 'b.test': { minDelay: 4, maxDelay: 6 } },
  );
  expect(answer('http://a.test/', 200, 40)).toBe(10);
  expect(answer('http://b.test/', 200, 1)).toBe(4);
  expect(answer('http://b.test/', 200, 40)).toBe(6);
  expect(() => start({}, { 'a.test': { targetConcurrency: 0 } })).toThrow(SettingsError);
  expect(() => start({}, { 'a.test': { minDelay: 61 } })).toThrow(SettingsError);
});

test.each<[SettingsInput, Record<string, SlotSettings>, string]>([
  [{ CONCURRENT_REQUESTS_PER_DOMAIN: 8 }, {}, 'CONCURRENT_REQUESTS_PER_DOMAIN=8 does not'],
  [{ CONCURRENT_REQUESTS_PER_DOMAIN: 16, CONCURRENT_REQUESTS: 4 }, {}, 'CONCURRENT_REQUESTS=4'],
  [{ CONCURRENT_REQUESTS_PER_IP: 2 }, {}, 'CONCURRENT_REQUESTS_PER_IP=2 does not'],
  [
    { CONCURRENT_REQUESTS_PER_DOMAIN: 16 },
    { 'a.test': { concurrency: 3 } },
    'a.test in DOWNLOAD_SLOTS is 9, which its concurrency=3',
  ],
  [
    { CONCURRENT_REQUESTS_PER_DOMAIN: 16, CONCURRENT_REQUESTS: 20 },
    { 'a.test': { targetConcurrency: 17 }, 'b.test': { targetConcurrency: 12 } },
    'a.test in DOWNLOAD_SLOTS is 17, which CONCURRENT_REQUESTS_PER_DOMAIN=16',
  ],
])('a target that the caps do not allow is warned of: %o %o', (settings, slotSettings, message) => {
  const { lines } = start({ AUTOTHROTTLE_TARGET_CONCURRENCY: 9, ...settings }, slotSettings);
  expect(lines).toEqual([expect.stringContaining(message)]);
});

test('an answer that waited for our own event loop lowers the delay, and never raises it', async () => {
  const { answer, slots, stats, signals } = start({ AUTOTHROTTLE_START_DELAY: 0.2 });
  // On a busy machine it may take a while to get here after the block; then once more.
  const block = async (): Promise<void> => {
    for (let tries = 0; tries < 20; tries++) {
      await new Promise((resolve) => setTimeout(resolve, 30));
      const end = performance.now() + 150;
      while (performance.now() < end);
      // Timers run first.
      await new Promise((resolve) => setTimeout(resolve, 0));
      if (performance.now() - end < 5) return;
    }
  };
  await block();
  expect(answer('http://a.test/', 200, 0.3)).toBe(0.2);
  await block();
  expect(answer('http://a.test/', 200, 0.1)).toBeCloseTo(0.15, 12);
  signals.send('spider_closed', { spider, reason: 'finished' });
  expect(slots.get('a.test').delay).toBeCloseTo(0.15, 12);
  expect(stats.get('autothrottle/spoilt')).toBe(2);
  expect(stats.get('event_loop/lag_max_ms')).toBeGreaterThan(100);
});

test('a subclass decides by slot', () => {
  class Careful extends AutoThrottle {
    protected override minDelay(slot?: Slot): number {
      return slot?.key === 'frail.test' ? 10 : super.minDelay(slot);
    }

    protected override startDelay(): number {
      return 1;
    }

    protected override getSlot(request: Request): Slot | undefined {
      return request.url.includes('/static/') ? undefined : super.getSlot(request);
    }
  }
  const host = hostOf({});
  expect(Careful.fromCrawler(asCrawler(host))).toBeInstanceOf(Careful);
  host.signals.send('spider_opened', { spider });
  const answer = (url: string): number => {
    const request = new Request(url, { meta: { downloadLatency: 4 } });
    host.signals.send('response_downloaded', { response: new Response(url, {}), request, spider });
    return host.slots.get(host.slots.keyOf(request)).delay;
  };
  expect(answer('http://frail.test/static/x')).toBe(1);
  expect(answer('http://frail.test/')).toBe(10);
  expect(answer('http://a.test/')).toBe(4);
});
