import { expect, test } from 'vitest';

import { createResponse } from '../http/response-types.ts';
import { LinkExtractor, type LinkExtractorOptions } from './link-extractor.ts';

const links = (
  body: string,
  options?: LinkExtractorOptions,
  url = 'http://h.test/a/b/page.html',
): string[] =>
  new LinkExtractor(options)
    .extractLinks(
      createResponse(url, { headers: { 'content-type': 'text/html' }, body: Buffer.from(body) }),
    )
    .map((link) => link.url);

test('the links of a messy page', () => {
  const page = `<base href="../img/"><base href="/second/">
    <a href="
       one.html  ">1</a> <a href="?q=1&amp;r=2">2</a> <a href="http://">3</a> <a href="http://[::1">4</a>
    <a href="JaVaScRiPt:x()">5</a> <a href="mailto:a@b.c">6</a> <a href="data:text/html,x">7</a> <a href="tel:+1">8</a>
    <a href="//cdn.h.test/x#f">9</a> <a>10</a> <a href="http://h.test:99999/">11</a> <a href="http:\\\\h.test\\four">12</a>
    <a href="one.html#sec">13</a> <a href="/caf&eacute;?k=&eacute;">14</a>`;
  const response = createResponse('http://h.test/a/b/page.html', {
    headers: { 'content-type': 'text/html' },
    body: Buffer.from(page),
  });
  const extractor = new LinkExtractor();
  const found = extractor.extractLinks(response).map((link) => link.url.replace(/#.*/, ''));
  expect([...new Set(found)]).toEqual([
    'http://h.test/a/img/one.html',
    'http://h.test/a/img/?q=1&r=2',
    'http://cdn.h.test/x',
    'http://h.test/four',
    'http://h.test/caf%C3%A9?k=%C3%A9',
  ]);
  expect(extractor.skipped).toBe(3);
});

test('a link that is not closed, or not well formed, is a link', () => {
  const body =
    '<p><a href=1>one<p>two<b>!</b><area href=3><a href=4 href=5>f&amp;<!-- no -->ur</A></b> <a>none</a> <a href=7>open';
  expect(links(body, {}, 'http://h.test/')).toEqual(
    [1, 3, 4, 7].map((name) => `http://h.test/${name}`),
  );
});

const page = `<nav><a href="/">home</a></nav><main><a href="/p/1" rel="nofollow">One</a><a href="/p/2.pdf">Two</a>
  <a href="http://other.test/p/3">Three</a><a href="http://sub.h.test/p/4">Four</a></main>`;

test.each<[string, LinkExtractorOptions, string[]]>([
  [
    'nothing',
    {},
    ['http://h.test/', 'http://h.test/p/1', 'http://other.test/p/3', 'http://sub.h.test/p/4'],
  ],
  [
    'allow',
    { allow: /\/p\/\d$/g },
    ['http://h.test/p/1', 'http://other.test/p/3', 'http://sub.h.test/p/4'],
  ],
  ['deny', { deny: ['/p/'] }, ['http://h.test/']],
  [
    'allowDomains',
    { allowDomains: 'h.test' },
    ['http://h.test/', 'http://h.test/p/1', 'http://sub.h.test/p/4'],
  ],
  [
    'denyDomains',
    { denyDomains: ['sub.h.test', 'other.test'] },
    ['http://h.test/', 'http://h.test/p/1'],
  ],
  ['denyExtensions', { denyExtensions: [], allow: 'pdf' }, ['http://h.test/p/2.pdf']],
  ['restrictCss', { restrictCss: 'nav' }, ['http://h.test/']],
  ['restrictXpaths', { restrictXpaths: '//nav' }, ['http://h.test/']],
  [
    'restrictXpaths and restrictCss',
    { restrictXpaths: ['//main/a[1]'], restrictCss: 'nav' },
    ['http://h.test/p/1', 'http://h.test/'],
  ],
  ['restrictText', { restrictText: /^T/ }, ['http://other.test/p/3']],
  ['same-origin', { strategy: 'same-origin' }, ['http://h.test/', 'http://h.test/p/1']],
  [
    'same-domain',
    { strategy: 'same-domain' },
    ['http://h.test/', 'http://h.test/p/1', 'http://sub.h.test/p/4'],
  ],
  ['several extensions', { denyExtensions: ['.pdf', 'tar.gz'], allow: 'p/2' }, []],
  ['tags', { tags: 'nav', attrs: '*' }, []],
  ['canonicalize', { canonicalize: true, allow: /1$/ }, ['http://h.test/p/1']],
  [
    'processValue',
    { processValue: (value) => (value === '/' ? '/start' : null) },
    ['http://h.test/start'],
  ],
])('%s', (_, options, expected) => {
  expect(links(page, options)).toEqual(expected);
});

test('a link has its text, fragment and nofollow', () => {
  const response = createResponse('http://h.test/', {
    headers: { 'content-type': 'text/html' },
    body: Buffer.from('<a href="/a#part" rel="external nofollow">A <b>b</b></a>'),
  });
  expect(new LinkExtractor().extractLinks(response)).toEqual([
    { url: 'http://h.test/a#part', text: 'A b', fragment: '', nofollow: true },
  ]);
});

test('unique goes by the canonical URL with its fragment', () => {
  const body =
    '<a href="/?b=1&a=2">1</a><a href="/?a=2&b=1">2</a><a href="/?a=2&b=1#x">3</a><a href="/?a=2&b=1">4</a>';
  expect(links(body)).toEqual(['http://h.test/?b=1&a=2', 'http://h.test/?a=2&b=1#x']);
  expect(links(body, { unique: false })).toHaveLength(4);
  expect(links(body, { canonicalize: true })).toEqual(['http://h.test/?a=2&b=1']);
});

test('any tag and attribute, but for the denied', () => {
  const body = '<a href=a></a><div data-url=div></div><p data-url=p></p><i href=i></i>';
  const options = { tags: '*', attrs: '*' };
  const at = (...names: string[]): string[] => names.map((name) => `http://h.test/${name}`);
  expect(links(body, options, 'http://h.test/')).toEqual(at('a', 'div', 'p', 'i'));
  expect(links(body, { ...options, denyTags: 'p' }, 'http://h.test/')).toEqual(at('a', 'div', 'i'));
  expect(links(body, { ...options, denyAttrs: ['data-url'] }, 'http://h.test/')).toEqual(
    at('a', 'i'),
  );
});

test('same-domain is what one can register', () => {
  const body = '<a href="http://b.co.uk/"></a><a href="http://x.a.co.uk/"></a>';
  const options = { strategy: 'same-domain' } as const;
  expect(links(body, options, 'http://www.a.co.uk/')).toEqual(['http://x.a.co.uk/']);
});

test.each([
  ['http://h.test/a.tar.gz', false],
  ['http://h.test/A.PDF?x=1', false],
  ['http://h.test/a.pdf/', true],
  ['http://h.test/?file=a.pdf', true],
  ['http://h.test/v1.2/page', true],
  ['http://h.zip/', true],
])('%s is taken: %j', (url, isTaken) => {
  expect(new LinkExtractor().matches(url)).toBe(isTaken);
});

test('a pattern with a memory does not skip every other link', () => {
  const extractor = new LinkExtractor({ allow: /x/g });
  expect([1, 2, 3].map(() => extractor.matches('http://h.test/x'))).toEqual([true, true, true]);
});
