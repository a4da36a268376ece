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
  expect(links(page)).toEqual([
    'http://h.test/a/img/one.html',
    'http://h.test/a/img/?q=1&r=2',
    'http://cdn.h.test/x',
    'http://h.test/four',
    'http://h.test/caf%C3%A9?k=%C3%A9',
  ]);
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
  ['restrictText', { restrictText: /^T/ }, ['http://other.test/p/3']],
  ['same-origin', { strategy: 'same-origin' }, ['http://h.test/', 'http://h.test/p/1']],
  [
    'same-domain',
    { strategy: 'same-domain' },
    ['http://h.test/', 'http://h.test/p/1', 'http://sub.h.test/p/4'],
  ],
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
    { url: 'http://h.test/a', text: 'A b', fragment: 'part', nofollow: true },
  ]);
});

test('a pattern with a memory does not skip every other link', () => {
  const extractor = new LinkExtractor({ allow: /x/g });
  expect([1, 2, 3].map(() => extractor.matches('http://h.test/x'))).toEqual([true, true, true]);
});
