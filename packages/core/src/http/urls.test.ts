import { expect, test } from 'vitest';

import { UsageError } from '../errors.ts';
import { encode } from './encoder.ts';
import { createResponse } from './response-types.ts';
import {
  addHttpIfNoScheme,
  addOrReplaceParameters,
  anyToUri,
  fileUriToPath,
  guessScheme,
  isUrl,
  parseDataUri,
  parseUrl,
  safeDownloadUrl,
  safeUrlString,
  stripUrl,
  urlHasAnyExtension,
  urlIsFromAnyDomain,
  urlQueryCleaner,
  urlQueryParameter,
} from './urls.ts';

test('a query is written in the charset that is asked for, the path in UTF-8', () => {
  const url = 'http://h.test/é?q=é#é';
  expect(safeUrlString(url)).toBe('http://h.test/%C3%A9?q=%C3%A9#%C3%A9');
  expect(safeUrlString(url, { encoding: 'latin1' })).toBe('http://h.test/%C3%A9?q=%E9#%C3%A9');
  expect(safeUrlString(url, { pathEncoding: 'latin1' })).toContain('/%E9?q=%C3%A9');
  expect(safeUrlString('http://h.test/?q=京é', { encoding: 'latin1' })).toContain(
    '%E4%BA%AC%C3%A9',
  );
  expect(safeUrlString('/a b?é')).toBe('/a%20b?%C3%A9');
  expect(safeUrlString('http://%26u:%25@h.test/')).toBe('http://&u:%25@h.test/');
  expect(safeDownloadUrl('http://h.test/a#b')).toBe('http://h.test/a');
  expect(() => safeUrlString('http://[::1')).toThrow(UsageError);
});

test.each([
  ['é€', 'windows-1252', 'e980'],
  ['Россия', 'koi8-r', 'f2cfd3d3c9d1'],
  ['中文', 'gb2312', 'd6d0cec4'],
  ['中文', 'big5', 'a4a4a4e5'],
  ['日本', 'euc-jp', 'c6fccbdc'],
  ['テｱ', 'shift_jis', '8365b1'],
  ['한', 'euc-kr', 'c7d1'],
  ['aサb', 'iso-2022-jp', '611b244225351b284262'],
  ['é', 'utf8', 'c3a9'],
])('%s in %s is %s', (text, charset, hex) => {
  expect(encode(text, charset, () => undefined)?.toString('hex')).toBe(hex);
});

test('a character that the charset has not is what the caller says, or the text cannot be written', () => {
  expect(encode('a京', 'latin1', () => '?')?.toString()).toBe('a?');
  expect(encode('京', 'iso-8859-5', () => undefined)).toBeUndefined();
  expect(encode('a', 'utf-16', () => undefined)).toBeUndefined();
  expect(encode('a', 'nope', () => undefined)).toBeUndefined();
});

test('a link of a page has its query in the charset of the page, as in a browser', () => {
  const page = createResponse('http://h.test/é', {
    headers: { 'content-type': 'text/html; charset=windows-1251' },
    body: encode('<a href="/п?q=п京#п">x</a>', 'windows-1251', (c) => `&#${c.codePointAt(0)};`)!,
  });
  const url = 'http://h.test/%D0%BF?q=%EF%26%2320140%3B#%D0%BF';
  expect(page.urljoin(page.css('a::attr(href)').get(''))).toBe(url);
  expect(page.followAll({ css: 'a' }).map((request) => request.url)).toEqual([url]);
});

test('parameters are read, kept, taken out and set', () => {
  const url = 'http://h.test/p?b=2&a=1&a=x%20y&c=&d#f';
  expect(urlQueryParameter(url, 'a')).toBe('1');
  expect(urlQueryParameter(url, 'c')).toBeUndefined();
  expect(urlQueryParameter(url, 'd', 'none', true)).toBe('');
  expect(urlQueryParameter(url, 'e', 'none')).toBe('none');
  expect(urlQueryParameter('p?q=x+%C3%A9', 'q')).toBe('x é');
  expect(urlQueryCleaner(url, ['a', 'd'])).toBe('http://h.test/p?a=1&d');
  expect(urlQueryCleaner(url, 'a', { remove: true })).toBe('http://h.test/p?b=2&c=&d');
  expect(urlQueryCleaner(url, 'a', { unique: false, keepFragments: true })).toBe(
    'http://h.test/p?a=1&a=x%20y#f',
  );
  expect(addOrReplaceParameters(url, { a: 'n&', z: 'é' })).toBe(
    'http://h.test/p?b=2&a=n%26&c=&d&z=%C3%A9#f',
  );
  expect(addOrReplaceParameters('p;x?q=%E9;a', { a: '1' }, { separator: ';' })).toBe(
    'p;x?q=%E9;a=1',
  );
});

test('a URL is cut, stripped and completed', () => {
  expect(parseUrl('HTTP://u@h.test:80/a;b/c;d?e#f')).toEqual({
    scheme: 'http',
    netloc: 'u@h.test:80',
    path: '/a;b/c',
    params: 'd',
    query: 'e',
    fragment: 'f',
  });
  const secret = 'https://u:p@h.test:443/a?b#c';
  expect(stripUrl(secret)).toBe('https://h.test/a?b');
  expect(stripUrl(secret, { originOnly: true })).toBe('https://h.test/');
  expect(stripUrl(secret, { stripCredentials: false, stripDefaultPort: false })).toBe(
    'https://u:p@h.test:443/a?b',
  );
  expect(addHttpIfNoScheme('//h.test/')).toBe('http://h.test/');
  expect(addHttpIfNoScheme('h.test:80')).toBe('http://h.test:80');
  expect(guessScheme('./a b.html')).toMatch(/^file:\/\/\/.*\/a%20b\.html$/);
  expect(guessScheme('h.test/a.html')).toBe('http://h.test/a.html');
  expect(anyToUri('ftp://h.test/')).toBe('ftp://h.test/');
  expect(fileUriToPath('file:///a%20b')).toBe('/a b');
  expect(isUrl('file:///a') && !isUrl('mailto:a@h.test')).toBe(true);
});

test('a host is looked for with its port, an extension in the path alone', () => {
  expect(urlIsFromAnyDomain('http://u@www.H.test/', ['h.test'])).toBe(true);
  expect(urlIsFromAnyDomain('http://xh.test/', ['h.test'])).toBe(false);
  expect(urlIsFromAnyDomain('http://h.test:8080/', ['h.test'])).toBe(false);
  expect(urlIsFromAnyDomain('javascript:x', ['x'])).toBe(false);
  expect(urlHasAnyExtension('http://h.test/A.PDF?x', ['.pdf'])).toBe(true);
  expect(urlHasAnyExtension('http://h.test/?a.pdf', ['.pdf'])).toBe(false);
});

test('a data URI is read as RFC 2397 has it', () => {
  const { data, ...type } = parseDataUri('DATA:text/css;q="a\\"b";base64,SGk%3D');
  expect(type).toEqual({ mediaType: 'text/css', mediaTypeParameters: { q: 'a"b' } });
  expect(data.toString()).toBe('Hi');
  expect(parseDataUri('data:,%41').mediaTypeParameters).toEqual({ charset: 'US-ASCII' });
  for (const uri of ['data:text/plain', 'data:text/plain;x,a', 'http://h.test/'])
    expect(() => parseDataUri(uri)).toThrow(UsageError);
});
