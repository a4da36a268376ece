import { expect, test } from 'vitest';

import { canonicalizeUrl, fingerprint, type FingerprintOptions } from './fingerprint.ts';
import { Request, type RequestOptions } from './request.ts';
import { detach, hostOf, isPlain, isUnder, originOf, resolveUrl, safeUrl } from './url.ts';

const urls = [
  'http://h.test/',
  'http://h.test',
  'http://h.test/a/b.html?x=1&y=2',
  'https://h.test:8443/a',
  'http://127.0.0.1:54321/a',
  'http://h.test:80/',
  'https://h.test:80/',
  'http://h.test:99999/',
  'http://h.test:080/',
  'http://0x7f.1/',
  'http://127.1/',
  'http://010.0.0.1/',
  'http://999.1.1.1/',
  'http://a.1/',
  'http://xn--nxasmq6b/',
  'http://h.test/a/../b',
  'http://h.test/%2e%2e/b',
  'http://H.test/',
  'http://h.test/a b',
  'http://h.test/ä?ö',
  'http://u:p@h.test/',
  'http://',
  'http://h.test/a#b',
  'http://h.test/a#b c',
  'http://h.test/a#b#c',
  'http://h.test/#/../%2e',
  'http://h.test?a#/b',
];

test.each(urls)('the quick look at %s agrees with the parser', (url) => {
  const parsed = URL.parse(url)?.href;
  expect(resolveUrl(url, 'http://o.test/')).toBe(parsed);
  expect(isPlain(url) ? url : parsed).toBe(parsed);
});

test.each([
  ['#b', 'http://h.test/a?x=1#c'],
  ['#', 'http://h.test/a'],
  ['#b c', 'http://h.test/a'],
  ['#/../b', 'http://h.test/a/'],
  ['#ä', 'http://h.test/a'],
  ['#b', 'http://H.test/a'],
  ['#b', 'http://h.test'],
  ['#b', 'file:///a#c'],
  ['/a#b', 'http://h.test/c'],
  ['/a/../b#c', 'http://h.test/c'],
])('%s on the page %s is what the parser says', (link, base) => {
  expect(resolveUrl(link, base)).toBe(URL.parse(link, base)?.href);
});

test('what is round a URL goes, and what servers refuse is escaped', () => {
  expect(safeUrl('\0 https://h.test/a b\n')).toBe('https://h.test/a%20b');
  expect(safeUrl('http://[::1]:8080/a|b?q[]={1}')).toBe('http://[::1]:8080/a%7Cb?q%5B%5D=%7B1%7D');
  expect(safeUrl('http://h.test/s?b=2&a=1')).toBe('http://h.test/s?b=2&a=1');
  expect(() => safeUrl('h.test/a')).toThrow('https://h.test/a');
  expect(() => safeUrl('http://')).toThrow('not a valid URL');
});

test('parts of a URL', () => {
  expect(originOf('http://u:p@h.test:81/a@b')).toBe('http://h.test:81');
  expect(hostOf('http://[::1]:81/a')).toBe('[::1]');
  expect(isUnder('a.h.test', 'h.test')).toBe(true);
  expect(isUnder('ah.test', 'h.test')).toBe(false);
  expect(detach('a text of some length')).toBe('a text of some length');
});

test.each([
  ['HTTP://H.test:80/a?b=2&a=1', 'http://h.test/a?a=1&b=2#f'],
  ['http://h.test/%7Eu', 'http://h.test/~u'],
  ['http://h.test/a%2fb', 'http://h.test/a%2Fb'],
  ['http://h.test/a/../b', 'http://h.test/b'],
  ['http://h.test/?q[]=(1)', 'http://h.test/?q%5B%5D=%281%29'],
  ['http://h.test/?q=a+b&', 'http://h.test/?q=a%20b'],
])('%s and %s are one', (one, other) => {
  expect(canonicalizeUrl(one)).toBe(canonicalizeUrl(other));
  expect(canonicalizeUrl(canonicalizeUrl(one))).toBe(canonicalizeUrl(one));
});

test.each([
  ['http://h.test/a%2Fb', 'http://h.test/a/b'],
  ['http://h.test/p%23x', 'http://h.test/p'],
  ['http://h.test/50%25off', 'http://h.test/50off'],
  ['http://h.test/?a=1%26b', 'http://h.test/?a=1&b'],
  ['http://h.test/?a=1%2B2', 'http://h.test/?a=1+2'],
])('%s and %s are two', (one, other) => {
  expect(canonicalizeUrl(one)).not.toBe(canonicalizeUrl(other));
});

test('a fingerprint may count headers and fragments, and the URL as it is', () => {
  const print = (url: string, request?: RequestOptions, options?: FingerprintOptions): string =>
    fingerprint(new Request(`http://h.test/${url}`, request), options).toString('hex');
  const german = { headers: { 'Accept-Language': 'de' } };
  const includeHeaders = ['accept-language', 'x'];
  expect(print('', german)).toBe(print(''));
  expect(print('', german, { includeHeaders })).not.toBe(print(''));
  expect(print('', {}, { includeHeaders })).toBe(print(''));
  expect(print('#a', {}, { keepFragments: true })).not.toBe(
    print('#b', {}, { keepFragments: true }),
  );
  const verbatim = { meta: { verbatimUrl: true } };
  expect(print('?b=1&a=1', verbatim)).not.toBe(print('?a=1&b=1', verbatim));
  expect(print('?b=1&a=1')).toBe(print('?a=1&b=1'));
});

test('what must not be one key is two', () => {
  const key = (path: string): string => canonicalizeUrl(`http://h.test${path}`);
  expect(canonicalizeUrl('HTTP://H.test:80/a?b=2&a=1')).toBe(key('/a?a=1&b=2#f'));
  for (const [one, other] of [
    ['/a%2Fb', '/a/b'],
    ['/p%23x', '/p'],
    ['/50%25off', '/50off'],
    ['/a%zz', '/a%25zz'],
  ])
    expect(key(one!)).not.toBe(key(other!));
  expect(key('/a%2fb')).toBe(key('/a%2Fb'));
  expect(key('/%7Eu')).toBe(key('/~u'));
  expect(canonicalizeUrl('http://h.test/?b=&a=1', false, false)).toBe('http://h.test/?a=1');
});
