import { expect, test } from 'vitest';

import { fakeCrawler } from '../../../../../test/fake-crawler.ts';
import { DownloadCancelledError, DownloadTimeoutError } from '../../errors.ts';
import { Request } from '../../http/request.ts';
import { Response } from '../../http/response.ts';
import { getRetryRequest, RetryMiddleware } from './retry.ts';

test('a 503 is tried again later and lower, then handed on', () => {
  const { crawler, stats } = fakeCrawler({ settings: { RETRY_TIMES: 1, RETRY_BACKOFF: 4 } });
  const middleware = RetryMiddleware.fromCrawler(crawler);
  const request = new Request('http://h.test/', { priority: 5 });
  const response = new Response(request.url, { status: 503 });
  const before = Date.now();
  const retry = middleware.processResponse(request, response) as Request;
  expect(retry).toMatchObject({ dontFilter: true, priority: 4, meta: { retryTimes: 1 } });
  expect(retry.notBefore! - before).toBeGreaterThanOrEqual(2000);
  expect(retry.notBefore! - before).toBeLessThan(4500);
  expect(middleware.processResponse(retry, response)).toBe(response);
  expect(stats.getAll()).toEqual({
    'retry/count': 1,
    'retry/max_reached': 1,
    'retry/reason_count/503 Service Unavailable': 1,
  });
});

test('Retry-After is the floor of the wait, within RETRY_AFTER_MAX', () => {
  const { crawler, lines } = fakeCrawler({
    settings: { RETRY_AFTER_MAX: 100, BACKOFF_ENABLED: false },
  });
  const middleware = RetryMiddleware.fromCrawler(crawler);
  const wait = (value: string): number => {
    const response = new Response('http://h.test/', {
      status: 429,
      headers: { 'Retry-After': value },
    });
    const retry = middleware.processResponse(new Request('http://h.test/'), response) as Request;
    return Math.round((retry.notBefore! - Date.now()) / 1000);
  };
  expect(wait('30')).toBe(30);
  expect(wait('86400')).toBe(100);
  expect(lines.filter((line) => line.includes('86400'))).toHaveLength(1);
});

test('errors that pass are retried, others and dontRetry are not', () => {
  const { crawler, stats } = fakeCrawler();
  const middleware = RetryMiddleware.fromCrawler(crawler);
  const request = new Request('http://h.test/');
  expect(middleware.processException(request, new DownloadTimeoutError('late'))).toBeInstanceOf(
    Request,
  );
  expect(middleware.processException(request, new DownloadCancelledError('big'))).toBeUndefined();
  expect(middleware.processException(request, new Error('bug'))).toBeUndefined();
  const dont = new Request('http://h.test/', { meta: { dontRetry: true } });
  expect(middleware.processException(dont, new DownloadTimeoutError('late'))).toBeUndefined();
  expect(stats.get('retry/reason_count/DownloadTimeoutError')).toBe(1);
});

test('a callback may ask for a retry with its own reason and limit', () => {
  const { crawler, stats } = fakeCrawler();
  const request = new Request('http://h.test/');
  const options = {
    crawler,
    reason: 'empty',
    maxRetryTimes: 1,
    priorityAdjust: 3,
    statsBaseKey: 'again',
  };
  const retry = getRetryRequest(request, options);
  expect(retry?.priority).toBe(3);
  expect(getRetryRequest(retry!, options)).toBeUndefined();
  expect(stats.get('again/reason_count/empty')).toBe(1);
  expect(stats.get('again/max_reached')).toBe(1);
});

test('that retries are used up is told at the level of the setting, or of the request', () => {
  const { crawler, lines } = fakeCrawler({
    settings: { RETRY_TIMES: 0, RETRY_GIVE_UP_LOG_LEVEL: 'WARNING' },
  });
  for (const meta of [{}, { giveUpLogLevel: 'INFO' } as const])
    getRetryRequest(new Request('http://h.test/', { meta }), { crawler });
  expect(lines.map((line) => /WARNING|INFO/.exec(line)?.[0])).toEqual(['WARNING', 'INFO']);
});
