import { expect, test } from 'vitest';

import { fakeCrawler } from '../../../../../test/fake-crawler.ts';
import { Headers } from '../../http/headers.ts';
import { Request, type RequestOptions } from '../../http/request.ts';
import { Response } from '../../http/response.ts';
import { CookiesMiddleware, ownHeaders } from './cookies.ts';

function browser(settings = {}) {
  const { crawler, lines, stats } = fakeCrawler({ settings });
  const middleware = CookiesMiddleware.fromCrawler(crawler);
  return {
    middleware,
    lines,
    stats,
    send(url: string, options: RequestOptions = {}): string | undefined {
      const request = new Request(url, options);
      middleware.processRequest(request);
      return request.headers.get('cookie');
    },
    receive(url: string, lines: string[], options: RequestOptions = {}): void {
      const request = new Request(url, options);
      const headers = Headers.fromWire({ 'set-cookie': lines });
      middleware.processResponse(request, new Response(url, { headers, request }));
    },
  };
}

test('each Set-Cookie line stands for itself', () => {
  const { send, receive } = browser();
  receive('http://www.shop.example.com/x/y', [
    'a=1; Expires=Wed, 21 Oct 2037 07:28:00 GMT; Path=/',
    'b=x=y==; Domain=.example.com',
    'c=1,2; Path=/x',
    'Secure',
    'd=1; Domain=other.com',
    'e=1; Domain=com',
    'g=1; Max-Age=0',
    'm=1; Version=1; Discard; Path=/',
  ]);
  expect(send('http://www.shop.example.com/x/z')).toBe('b=x=y==; c=1,2; a=1; m=1');
  expect(send('http://www.shop.example.com:8080/x/z')).toBe('b=x=y==; c=1,2; a=1; m=1');
  expect(send('http://www.shop.example.com/xx')).toBe('a=1; m=1');
  expect(send('http://api.example.com/x/q')).toBe('b=x=y==');
  expect(send('http://other.com/')).toBeUndefined();
});

test('jars are kept apart, and dontMergeCookies uses none', () => {
  const { send, receive } = browser();
  receive('http://h.test/', ['a=1'], { meta: { cookiejar: 1 } });
  receive('http://h.test/', ['a=2'], { meta: { cookiejar: 2 } });
  receive('http://h.test/', ['a=3'], { meta: { dontMergeCookies: true } });
  expect(send('http://h.test/', { meta: { cookiejar: 1 } })).toBe('a=1');
  expect(send('http://h.test/', { meta: { cookiejar: 2 } })).toBe('a=2');
  expect(send('http://h.test/')).toBeUndefined();
  expect(
    send('http://h.test/', { meta: { cookiejar: 1, dontMergeCookies: true } }),
  ).toBeUndefined();
});

test('cookies of a request join the jar; given for https they stay there', () => {
  const { send } = browser();
  expect(send('https://h.test/', { cookies: { a: '1', b: 'á' } })).toBe('a=1; b=\xc3\xa1');
  expect(send('https://h.test/')).toBe('a=1; b=\xc3\xa1');
  expect(send('http://h.test/')).toBeUndefined();
  expect(send('https://o.test/', { cookies: [{ name: 'c', value: '3', secure: false }] })).toBe(
    'c=3',
  );
  expect(send('http://o.test/')).toBe('c=3');
  expect(
    send('http://127.0.0.1/', { cookies: [{ name: 'd', value: '4', domain: '127.0.0.1' }] }),
  ).toBe('d=4');
});

test('a Cookie header set by hand stays beside the jar, and the jar does not stick to copies', () => {
  const { middleware, send, receive } = browser();
  expect(send('http://h.test/', { headers: { Cookie: 'own=1' } })).toBe('own=1');
  receive('http://h.test/', ['jar=1']);
  const request = new Request('http://h.test/', { headers: { Cookie: 'own=1; jar=0' } });
  middleware.processRequest(request);
  expect(request.headers.get('cookie')).toBe('jar=1; own=1');
  expect(ownHeaders(request)?.get('cookie')).toBe('own=1; jar=0');
  receive('http://h.test/', ['jar=; Max-Age=0']);
  middleware.processRequest(request);
  expect(request.headers.get('cookie')).toBe('own=1; jar=0');
});

test('a site cannot fill the memory', () => {
  const { send, receive, stats, lines } = browser();
  receive(
    'http://h.test/',
    Array.from({ length: 500 }, (_, i) => `c${i}=1`),
  );
  expect(send('http://h.test/')?.split('; ')).toHaveLength(180);
  receive('http://big.test/', [`x=${'y'.repeat(5000)}`, 'z=1']);
  expect(send('http://big.test/')).toBe('z=1');
  expect(stats.get('security/blocked/COOKIES_MAX_PER_DOMAIN')).toBe(320);
  expect(lines.filter((line) => line.includes('COOKIES_MAX_PER_DOMAIN'))).toHaveLength(1);
});

test('cookies for a public suffix are refused, counted, and told of once', () => {
  const { receive, stats, lines } = browser();
  receive('http://a.co.uk/', ['a=1; Domain=co.uk', 'b=1; Domain=.co.uk', 'c=1; Domain=other.uk']);
  receive('http://127.0.0.1/', ['a=1; Domain=127.0.0.2']);
  expect(stats.get('security/blocked/COOKIES_PUBLIC_SUFFIX')).toBe(2);
  expect(lines.filter((line) => line.includes('COOKIES_PUBLIC_SUFFIX'))).toHaveLength(1);
});

test('COOKIES_DEBUG shows what goes and comes', () => {
  const { send, receive, lines } = browser({ COOKIES_DEBUG: true });
  receive('http://h.test/', ['a=1', 'b=1; Domain=com']);
  send('http://h.test/');
  expect(lines.filter((line) => line.includes('Received cookie'))).toHaveLength(2);
  expect(lines.filter((line) => line.includes('Sending cookies'))).toHaveLength(1);
});
