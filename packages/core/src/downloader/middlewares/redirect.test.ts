import { expect, test } from 'vitest';

import { fakeCrawler } from '../../../../../test/fake-crawler.ts';
import { IgnoreRequest } from '../../errors.ts';
import { Headers } from '../../http/headers.ts';
import { Request, type RequestOptions } from '../../http/request.ts';
import { Response } from '../../http/response.ts';
import { RedirectMiddleware } from './redirect.ts';

const page = 'https://www.h.test/a/b';

function redirect(
  location: string | undefined,
  options: RequestOptions & { status?: number; url?: string } = {},
) {
  const { status = 302, url = page, ...rest } = options;
  const fake = fakeCrawler();
  const request = new Request(url, rest);
  const response = new Response(url, { status, headers: Headers.fromWire({ location }), request });
  const outcome = RedirectMiddleware.fromCrawler(fake.crawler).processResponse(request, response);
  return { ...fake, response, outcome, next: outcome as Request };
}

test.each([
  ['/caf\xc3\xa9 menu', 'https://www.h.test/caf%C3%A9%20menu'],
  ['/caf\xe9', 'https://www.h.test/caf%E9'],
  ['?p=2', 'https://www.h.test/a/b?p=2'],
  ['///cdn.h.test/x', 'https://cdn.h.test/x'],
  [' /y ', 'https://www.h.test/y'],
  ['https://user:secret@o.test/', 'https://o.test/'],
])('%j leads to %s', (location, url) => {
  expect(redirect(location).next.url).toBe(url);
});

test.each([undefined, '', 'http://', 'http://a b/'])('%j leads nowhere', (location) => {
  const { outcome, response } = redirect(location);
  expect(outcome).toBe(response);
});

test.each(['file:///etc/passwd', 'data:text/html,x', 'ftp://h.test/'])(
  '%s is not followed',
  (location) => {
    const { outcome, response, stats } = redirect(location);
    expect(outcome).toBe(response);
    expect(stats.get('security/blocked/REDIRECT_SCHEMES')).toBe(1);
  },
);

test('the way is kept in meta', () => {
  const { next } = redirect('/c', {
    status: 301,
    meta: { redirectUrls: ['https://h.test/'], redirectTimes: 1, redirectReasons: [302] },
  });
  expect(next.meta).toMatchObject({
    redirectUrls: ['https://h.test/', page],
    redirectTimes: 2,
    redirectReasons: [302, 301],
  });
  expect(next.priority).toBe(2);
});

test.each([
  ['POST', 301, 'GET'],
  ['POST', 302, 'GET'],
  ['PUT', 302, 'PUT'],
  ['PUT', 303, 'GET'],
  ['HEAD', 303, 'HEAD'],
  ['POST', 307, 'POST'],
  ['POST', 308, 'POST'],
])('%s after %d is %s', (method, status, expected) => {
  const { next } = redirect('/c', {
    method,
    status,
    body: 'x',
    headers: { 'Content-Type': 'text/plain' },
  });
  expect(next.method).toBe(expected);
  expect(next.body === undefined).toBe(expected !== method);
  expect(next.headers.has('content-type')).toBe(expected === method);
});

test('secrets do not cross to another origin', () => {
  const headers = {
    Authorization: 'a',
    Cookie: 'b=1',
    'X-Api-Key': 'c',
    'X-My-Token': 'd',
    Accept: 'e',
  };
  const names = (location: string): string[] =>
    Object.keys(redirect(location, { headers }).next.headers.toJSON());
  expect(names('/c')).toEqual([
    'authorization',
    'cookie',
    'x-api-key',
    'x-my-token',
    'accept',
    'referer',
  ]);
  expect(names('https://o.test/')).toEqual(['accept', 'referer']);
  expect(names('https://www.h.test:444/')).toEqual(['cookie', 'accept', 'referer']);
  expect(names('http://www.h.test/')).toEqual(['accept']);
});

test('where it has been on its way it may come again', () => {
  expect(redirect('/a/b').next.dontFilter).toBe(true);
  expect(redirect('/c').next.dontFilter).toBe(false);
});

test('it gives up after REDIRECT_MAX_TIMES', () => {
  const meta = { redirectTimes: 20 };
  expect(() => redirect('/c', { meta })).toThrow(IgnoreRequest);
  expect(() => redirect('/c', { meta })).toThrow(/Too many redirects/);
});

test.each([{ dontRedirect: true }, { handleHttpstatusAll: true }, { handleHttpstatusList: [302] }])(
  'with %j the response is handed on',
  (meta) => {
    const { outcome, response } = redirect('/c', { meta });
    expect(outcome).toBe(response);
  },
);
