import { expect, test } from 'vitest';

import { fakeCrawler } from '../../../../../test/fake-crawler.ts';
import { HttpError, SettingsError } from '../../errors.ts';
import { Request, type RequestMeta } from '../../http/request.ts';
import { HtmlResponse } from '../../http/response-types.ts';
import { Response } from '../../http/response.ts';
import { DepthMiddleware } from './depth.ts';
import { HttpErrorMiddleware } from './http-error.ts';
import { LinksPerPageMiddleware } from './links-per-page.ts';
import { RefererMiddleware } from './referer.ts';
import { referrerFor, toPolicy } from './referrer-policy.ts';
import { StartMiddleware } from './start.ts';
import { UrlLengthMiddleware } from './url-length.ts';

const respond = (url: string, meta: RequestMeta = {}, init = {}): Response =>
  new Response(url, { ...init, request: new Request(url, { meta }) });

test('only 2xx and what was asked for reach the callback', () => {
  const { crawler, stats } = fakeCrawler({
    settings: { HTTPERROR_ALLOWED_CODES: [500] },
    spider: { handleHttpstatusList: [404] },
  });
  const middleware = HttpErrorMiddleware.fromCrawler(crawler);
  const take = (status: number, meta: RequestMeta = {}): void =>
    middleware.processSpiderInput(respond('http://h.test/', meta, { status }));
  take(204);
  take(404);
  take(410, { handleHttpstatusList: [410] });
  take(500, { handleHttpstatusAll: true });
  expect(() => take(403)).toThrow(HttpError);
  expect(() => take(404, { handleHttpstatusList: [410] })).toThrow(HttpError);
  expect(stats.get('httperror/response_ignored_count')).toBe(2);
  expect(stats.get('httperror/response_ignored_status_count/403')).toBe(1);
});

test('the allowed codes count where spider and meta say nothing', () => {
  const { crawler } = fakeCrawler({ settings: { HTTPERROR_ALLOWED_CODES: [500] } });
  const middleware = HttpErrorMiddleware.fromCrawler(crawler);
  const take = (status: number) => () =>
    middleware.processSpiderInput(respond('http://h.test/', {}, { status }));
  expect(take(500)).not.toThrow();
  expect(take(503)).toThrow(HttpError);
});

test('depth grows by one a link, ends at the limit, and can start anew', () => {
  const { crawler, stats, dropped } = fakeCrawler({
    settings: { DEPTH_LIMIT: 2, DEPTH_PRIORITY: 10, DEPTH_STATS_VERBOSE: true },
  });
  const middleware = DepthMiddleware.fromCrawler(crawler);
  const start = respond('http://h.test/');
  middleware.processSpiderInput(start);
  expect(start.meta.depth).toBe(0);
  const next = (depth: number, meta: RequestMeta = {}): Request | null =>
    middleware.getProcessedRequest(
      new Request('http://h.test/x', { meta }),
      respond('http://h.test/', { depth }),
    );
  expect(next(0)).toMatchObject({ meta: { depth: 1 }, priority: -10 });
  expect(next(1)).toMatchObject({ meta: { depth: 2 }, priority: -20 });
  expect(next(2)).toBeNull();
  expect(next(2, { depthReset: true })).toMatchObject({ meta: { depth: 0 }, priority: 0 });
  expect(dropped).toEqual(['depth']);
  expect(stats.getAll()).toMatchObject({
    request_depth_max: 2,
    'request_depth_count/0': 2,
    'request_depth_count/1': 1,
  });
});

test('long URLs are dropped', () => {
  const { crawler, dropped } = fakeCrawler({ settings: { URLLENGTH_LIMIT: 20 } });
  const middleware = UrlLengthMiddleware.fromCrawler(crawler);
  expect(middleware.getProcessedRequest(new Request('http://h.test/123456'))).not.toBeNull();
  expect(middleware.getProcessedRequest(new Request('http://h.test/1234567'))).toBeNull();
  expect(dropped).toEqual(['url-length']);
});

test('each page may lead to so many requests, in whatever turn; data and start() to any number', () => {
  const { crawler, dropped, lines } = fakeCrawler({ settings: { LINKS_PER_PAGE_LIMIT: 2 } });
  const middleware = LinksPerPageMiddleware.fromCrawler(crawler);
  const next = new Request('http://h.test/x');
  const one = new HtmlResponse('http://h.test/1');
  const two = new HtmlResponse('http://h.test/2');
  const passed = [one, two, one, two, one, two].map(
    (page) => middleware.getProcessedRequest(next, page) !== null,
  );
  expect(passed).toEqual([true, true, true, true, false, false]);
  for (const page of [null, new Response('http://h.test/data')])
    for (let i = 0; i < 5; i++) expect(middleware.getProcessedRequest(next, page)).toBe(next);
  expect(dropped).toEqual(['links-per-page', 'links-per-page']);
  expect(lines.filter((line) => line.includes('LINKS_PER_PAGE_LIMIT'))).toHaveLength(1);
});

test('requests of start() are marked', () => {
  const middleware = new StartMiddleware();
  expect(
    middleware.getProcessedRequest(new Request('http://h.test/'), null).meta.isStartRequest,
  ).toBe(true);
  const link = new Request('http://h.test/');
  expect(
    middleware.getProcessedRequest(link, respond('http://h.test/')).meta.isStartRequest,
  ).toBeUndefined();
});

const from = 'https://user:pw@a.test/p?q=1#f';

test.each([
  ['no-referrer', undefined, undefined, undefined],
  ['no-referrer-when-downgrade', 'https://a.test/p?q=1', 'https://a.test/p?q=1', undefined],
  ['same-origin', 'https://a.test/p?q=1', undefined, undefined],
  ['origin', 'https://a.test/', 'https://a.test/', 'https://a.test/'],
  ['strict-origin', 'https://a.test/', 'https://a.test/', undefined],
  ['origin-when-cross-origin', 'https://a.test/p?q=1', 'https://a.test/', 'https://a.test/'],
  ['strict-origin-when-cross-origin', 'https://a.test/p?q=1', 'https://a.test/', undefined],
  ['unsafe-url', 'https://a.test/p?q=1', 'https://a.test/p?q=1', 'https://a.test/p?q=1'],
])('%s', (name, same, cross, downgrade) => {
  const policy = toPolicy(name);
  expect(referrerFor(policy, from, 'https://a.test/x')).toBe(same);
  expect(referrerFor(policy, from, 'https://b.test/')).toBe(cross);
  expect(referrerFor(policy, from, 'http://b.test/')).toBe(downgrade);
  expect(referrerFor(policy, 'file:///etc/passwd', 'http://b.test/')).toBeUndefined();
});

test('the request, then the page, then the setting choose the policy', () => {
  const middleware = RefererMiddleware.fromCrawler(fakeCrawler().crawler);
  const referer = (meta: RequestMeta, header?: string, own?: string): string | undefined => {
    const response = respond(
      'https://a.test/p',
      {},
      header === undefined ? {} : { headers: { 'Referrer-Policy': header } },
    );
    const request = new Request('https://b.test/', { meta, headers: { Referer: own } });
    return middleware.getProcessedRequest(request, response).headers.get('referer');
  };
  expect(referer({})).toBe('https://a.test/');
  expect(referer({}, 'no-referrer, unknown')).toBeUndefined();
  expect(referer({ referrerPolicy: 'unsafe-url' }, 'no-referrer')).toBe('https://a.test/p');
  expect(referer({}, undefined, 'https://own.test/')).toBe('https://own.test/');
  expect(() =>
    RefererMiddleware.fromCrawler(fakeCrawler({ settings: { REFERRER_POLICY: 'often' } }).crawler),
  ).toThrow(SettingsError);
});
