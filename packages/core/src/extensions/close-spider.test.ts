import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import type { Failure } from '../errors.ts';
import type { Request } from '../http/request.ts';
import type { Response } from '../http/response.ts';
import { SignalManager } from '../signals/signal-manager.ts';
import type { Spider } from '../spider/spider.ts';
import { CloseSpider, type CloseSpiderLimits } from './close-spider.ts';

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
const failure = {} as Failure;

function start(limits: CloseSpiderLimits) {
  const signals = new SignalManager();
  const closes: unknown[][] = [];
  const engine = {
    limits: {} as { items?: number; pages?: number },
    closeSpider: (...args: unknown[]): void => void closes.push(args),
  };
  new CloseSpider({ signals, engine }, limits);
  signals.send('spider_opened', { spider });
  return {
    closes,
    limits: engine.limits,
    page: () => signals.send('response_received', { response, request, spider }),
    item: () => signals.send('item_scraped', { item: {}, response, spider }),
    error: () => signals.send('spider_error', { failure, response, spider }),
    end: () => signals.send('spider_closed', { spider, reason: 'finished' }),
  };
}

test('the last item that may pass closes the spider at once, and the engine knows the limit', () => {
  const { item, closes, limits } = start({ items: 2 });
  expect(limits).toEqual({ items: 2 });
  item();
  expect(closes).toEqual([]);
  item();
  item();
  expect(closes).toEqual([['closespider_itemcount', 'fast']]);
});

test('the last page closes the spider, which still scrapes it', () => {
  const { page, closes, limits } = start({ pages: 2 });
  expect(limits).toEqual({ pages: 2 });
  page();
  expect(closes).toEqual([]);
  page();
  expect(closes).toEqual([['closespider_pagecount']]);
});

test('pages without an item count from the last item on', () => {
  const { page, item, closes } = start({ pagesWithoutItem: 3 });
  page();
  page();
  item();
  page();
  page();
  expect(closes).toEqual([]);
  page();
  expect(closes).toEqual([['closespider_pagecount_no_item']]);
});

test('errors in spider code close the spider at their number', () => {
  const { error, closes } = start({ errors: 2 });
  error();
  expect(closes).toEqual([]);
  error();
  error();
  expect(closes).toEqual([['closespider_errorcount']]);
});

test('the spider is closed this long after it was opened', () => {
  const { closes } = start({ timeout: 1.5 });
  vi.advanceTimersByTime(1499);
  expect(closes).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(closes).toEqual([['closespider_timeout']]);
});

test('the spider is closed this long after its last item', () => {
  const { item, closes } = start({ timeoutWithoutItem: 10 });
  vi.advanceTimersByTime(9000);
  item();
  vi.advanceTimersByTime(9999);
  expect(closes).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(closes).toEqual([['closespider_timeout_no_item']]);
});

test('a spider that ends before leaves no timer', () => {
  const { end, closes } = start({ timeout: 5, timeoutWithoutItem: 5 });
  end();
  expect(vi.getTimerCount()).toBe(0);
  expect(closes).toEqual([]);
});

test('a timeout longer than a timer can be does not close at once', () => {
  const { end, closes } = start({ timeout: 60 * 86_400 });
  vi.advanceTimersByTime(1000);
  expect(closes).toEqual([]);
  end();
});
