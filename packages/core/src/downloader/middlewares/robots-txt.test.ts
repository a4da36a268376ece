import { expect, test, vi } from 'vitest';

import { fakeCrawler } from '../../../../../test/fake-crawler.ts';
import {
  CannotResolveHostError,
  DownloadCancelledError,
  DownloadTimeoutError,
  IgnoreRequest,
  NotConfigured,
} from '../../errors.ts';
import { Request } from '../../http/request.ts';
import { Response } from '../../http/response.ts';
import { RobotsTxtMiddleware } from './robots-txt.ts';

const answer = (status: number, body = '') => {
  const fetched: string[] = [];
  const download = async (request: Request): Promise<Response> => {
    fetched.push(request.url);
    return new Response(request.url, { status, body: Buffer.from(body) });
  };
  return { fetched, ...fakeCrawler({ download }) };
};

test('one fetch an origin; then the answer comes without a promise', async () => {
  const { crawler, stats, fetched } = answer(200, 'User-agent: *\nDisallow: /no');
  const middleware = RobotsTxtMiddleware.fromCrawler(crawler);
  await Promise.all([
    middleware.processRequest(new Request('http://h.test/a')),
    middleware.processRequest(new Request('http://h.test/b')),
    expect(middleware.processRequest(new Request('http://h.test/no'))).rejects.toThrow(
      IgnoreRequest,
    ),
  ]);
  expect(middleware.processRequest(new Request('http://h.test/c'))).toBeUndefined();
  expect(() => middleware.processRequest(new Request('http://h.test/no/1'))).toThrow(
    'Forbidden by robots.txt',
  );
  expect(fetched).toEqual(['http://h.test/robots.txt']);
  await expect(
    middleware.processRequest(
      new Request('http://h.test:81/no', { headers: { 'User-Agent': 'x' } }),
    ),
  ).rejects.toThrow(IgnoreRequest);
  expect(fetched).toHaveLength(2);
  expect(stats.get('robotstxt/request_count')).toBe(2);
  expect(stats.get('robotstxt/response_status_count/200')).toBe(2);
  expect(stats.get('robotstxt/forbidden')).toBe(3);
});

test('4xx allows everything; with 5xx pages wait twice, then are dropped until it is asked again', async () => {
  vi.useFakeTimers({ toFake: ['performance', 'Date'] });
  try {
    const missing = RobotsTxtMiddleware.fromCrawler(answer(404).crawler);
    await missing.processRequest(new Request('http://h.test/a'));
    const { crawler, fetched, stats } = answer(503);
    const broken = RobotsTxtMiddleware.fromCrawler(crawler);
    const page = new Request('http://h.test/a', { cbKwargs: { a: 1 } });
    const waits = async () => (await broken.processRequest(page))!.notBefore! - Date.now();
    expect(await waits()).toBe(15_001);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await waits()).toBe(10_001);
    const held = await broken.processRequest(page);
    expect(held).toMatchObject({ url: page.url, dontFilter: true, cbKwargs: { a: 1 } });
    expect(fetched).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await waits()).toBe(30_001);
    await vi.advanceTimersByTimeAsync(30_000);
    await expect(broken.processRequest(page)).rejects.toMatchObject({ dropCause: 'robots' });
    expect(() => broken.processRequest(page)).toThrow('status 503');
    expect(fetched).toHaveLength(3);
    await vi.advanceTimersByTimeAsync(60_000);
    await expect(broken.processRequest(page)).rejects.toThrow(IgnoreRequest);
    expect(fetched).toHaveLength(4);
    expect(stats.get('robotstxt/held_count')).toBe(4);
  } finally {
    vi.useRealTimers();
  }
});

test('after a day the file is asked for again, and where it cannot be had what was known holds', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  try {
    let status = 200;
    let fetches = 0;
    const { crawler } = fakeCrawler({
      download: async (request) => {
        fetches++;
        const body = Buffer.from('User-agent: *\nDisallow: /no');
        return new Response(request.url, { status, body });
      },
    });
    const middleware = RobotsTxtMiddleware.fromCrawler(crawler);
    const [yes, no] = [new Request('http://h.test/yes'), new Request('http://h.test/no')];
    await middleware.processRequest(yes);
    status = 500;
    await vi.advanceTimersByTimeAsync(86_400_001);
    expect(await middleware.processRequest(yes)).toBeUndefined();
    expect(() => middleware.processRequest(no)).toThrow('Forbidden by robots.txt');
    expect(fetches).toBe(2);
    await vi.advanceTimersByTimeAsync(61_000);
    await expect(middleware.processRequest(no)).rejects.toThrow('Forbidden by robots.txt');
    expect(fetches).toBe(3);
  } finally {
    vi.useRealTimers();
  }
});

test('where robots.txt cannot be reached, pages wait; in the end they fail with the same error', async () => {
  const { crawler, stats } = fakeCrawler({
    settings: { ROBOTSTXT_RETRY_TIMES: 1, ROBOTSTXT_RETRY_DELAY: 0 },
    download: () => Promise.reject(new DownloadTimeoutError('late')),
  });
  const middleware = RobotsTxtMiddleware.fromCrawler(crawler);
  const page = new Request('http://h.test/');
  expect(await middleware.processRequest(page)).toMatchObject({ url: page.url });
  await expect(middleware.processRequest(page)).rejects.toThrow(DownloadTimeoutError);
  expect(stats.get('robotstxt/exception_count/DownloadTimeoutError')).toBe(2);
});

test.each([
  new CannotResolveHostError('gone', {
    cause: Object.assign(new Error('no'), { code: 'ENOTFOUND' }),
  }),
  new DownloadCancelledError('a blocked address'),
])('pages do not wait for what will not change: $message', async (error) => {
  const { crawler } = fakeCrawler({ download: () => Promise.reject(error) });
  const middleware = RobotsTxtMiddleware.fromCrawler(crawler);
  await expect(middleware.processRequest(new Request('http://h.test/'))).rejects.toThrow(error);
});

test('meta and the setting switch it off', () => {
  const { crawler, fetched } = answer(200, 'User-agent: *\nDisallow: /');
  const request = new Request('http://h.test/', { meta: { dontObeyRobotstxt: true } });
  expect(RobotsTxtMiddleware.fromCrawler(crawler).processRequest(request)).toBeUndefined();
  expect(fetched).toEqual([]);
  const off = fakeCrawler({ settings: { ROBOTSTXT_OBEY: false } });
  expect(() => RobotsTxtMiddleware.fromCrawler(off.crawler)).toThrow(NotConfigured);
});
