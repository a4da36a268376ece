import { expect, test } from 'vitest';

import {
  HtmlResponse,
  JsonResponse,
  TextResponse,
  XmlResponse,
  createResponse,
} from './response-types.ts';
import { Response } from './response.ts';

const html = (body: string, url = 'http://h.test/a/b/page.html'): Response =>
  createResponse(url, { headers: { 'content-type': 'text/html' }, body: Buffer.from(body) });

test.each([
  ['text/html; charset=utf-8', '', 'http://h.test/', HtmlResponse],
  ['application/xhtml+xml', '', 'http://h.test/', HtmlResponse],
  ['application/rss+xml', '', 'http://h.test/', XmlResponse],
  ['application/ld+json', '', 'http://h.test/', JsonResponse],
  ['text/csv', '', 'http://h.test/', TextResponse],
  ['image/png', '', 'http://h.test/', Response],
  ['', '', 'http://h.test/feed.xml', XmlResponse],
  ['', '<!DOCTYPE html><p>', 'http://h.test/', HtmlResponse],
  ['', '\0\x01\x02', 'http://h.test/', Response],
  ['application/octet-stream', '{"a":1}', 'http://h.test/x', JsonResponse],
])('type %j, body %j, %s', (type, body, url, kind) => {
  const response = createResponse(url, {
    headers: type ? { 'content-type': type } : {},
    body: Buffer.from(body),
  });
  expect(response.constructor).toBe(kind);
});

test('binary content has bytes and no text', () => {
  const response = createResponse('http://h.test/x.png', {
    headers: { 'content-type': 'image/png' },
    body: Buffer.from([1, 2]),
  });
  expect(response.isText).toBe(false);
  expect(() => response.text).toThrow('image/png');
  expect(response.body).toEqual(Buffer.from([1, 2]));
});

test('links are seen from <base>, or from the page', () => {
  expect(html('<a>').urljoin('x.html')).toBe('http://h.test/a/b/x.html');
  expect(html('<base href="../img/"><base href="/second/">').urljoin('one.html')).toBe(
    'http://h.test/a/img/one.html',
  );
  expect(html('').urljoin('http://')).toBeUndefined();
});

test.each([
  '<!-- <base href="http://o.test/"> -->',
  '<script>"<base href=\'http://o.test/\'>"</script>',
  '<noscript><base href="http://o.test/"></noscript>',
  '<base target=_blank>',
  '<base href="javascript:x()">',
  '<base href="http://">',
  '<basefont href="http://o.test/">',
])('%s is no base', (page) => {
  const response = html(page);
  expect(response.baseUrl).toBe(response.url);
});

test('headers are made of what the wire gave, when asked for', () => {
  const response = new Response('http://h.test/', { wireHeaders: { 'x-a': ['1', '2'] } });
  expect(response.header('x-a')).toBe('1');
  expect(response.headers.getAll('X-A')).toEqual(['1', '2']);
});

test('replace keeps the class and what is not named', () => {
  const response = html('<p>').replace({ status: 404, body: Buffer.from('x') });
  expect(response).toBeInstanceOf(HtmlResponse);
  expect([response.status, response.text, response.header('content-type')]).toEqual([
    404,
    'x',
    'text/html',
  ]);
  expect(response.replace({ wireHeaders: { a: 'b' } }).headers.toJSON()).toEqual({ a: 'b' });
});

test('follow takes URLs, elements and attributes, and refuses what is no link', () => {
  const response = html('<a id=one href=" one.html ">1</a><a id=none>2</a>');
  expect(response.follow('/x').url).toBe('http://h.test/x');
  expect(response.follow(response.css('#one').at(0)!).url).toBe('http://h.test/a/b/one.html');
  expect(response.follow(response.css('#one::attr(href)').at(0)!).url).toBe(
    'http://h.test/a/b/one.html',
  );
  expect(() => response.follow(response.css('#none').at(0)!)).toThrow('no link');
  expect(() => response.follow('http://')).toThrow('not a URL');
});

test('followAll leaves out what is no http link, and gives each request its own meta', () => {
  const response = html(
    '<a href="mailto:a@b.c">m</a><a href="/1">1</a><a href="/2">2</a><a>3</a><a href="http://[::1">4</a>',
  );
  const requests = response.followAll('a', { meta: { own: 1 } });
  expect(requests.map((request) => request.url)).toEqual(['http://h.test/1', 'http://h.test/2']);
  expect(requests[0]!.meta).not.toBe(requests[1]!.meta);
  expect(response.followAll({ css: 'a' })).toHaveLength(2);
  expect(response.followAll(['x', 'y'])).toHaveLength(2);
});

test('JSON is parsed once, and says what is wrong with it', () => {
  const response = createResponse('http://h.test/', {
    headers: { 'content-type': 'application/json' },
    body: Buffer.from('{"a":[1]}'),
  });
  expect(response.json<{ a: number[] }>().a).toEqual([1]);
  expect(response.json()).toBe(response.json());
  expect(() => html('<p>').json()).toThrow('is not JSON');
});

test('cheerio works on the same tree', () => {
  const response = html('<ul><li>a<li>b</ul>');
  expect(response.$('li').length).toBe(2);
  expect(response.$('li').first().text()).toBe('a');
  response.$('li').first().remove();
  expect(response.css('li').length).toBe(1);
});
