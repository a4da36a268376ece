import { createHash } from 'node:crypto';

import { expect, test } from 'vitest';

import { Request } from '../http/request.ts';
import { FingerprintDupeFilter, FingerprintSet } from './dupe-filter.ts';

test('the set holds exactly what was added, through all its growing', () => {
  const set = new FingerprintSet();
  const key = (i: number): Buffer => createHash('sha1').update(String(i)).digest();
  for (let i = 0; i < 20_000; i++) expect(set.add(key(i))).toBe(true);
  for (let i = 0; i < 20_000; i++) expect(set.add(key(i))).toBe(false);
  expect(set.size).toBe(20_000);
});

test('equal requests are seen, different ones are not', () => {
  const filter = new FingerprintDupeFilter();
  const seen = (url: string, options = {}): boolean =>
    filter.requestSeen(new Request(url, options));
  expect(seen('http://h.test/a?b=2&a=1')).toBe(false);
  expect(seen('HTTP://H.test:80/a?a=1&b=2#f')).toBe(true);
  expect(seen('http://h.test/a?b=2&a=1', { method: 'POST' })).toBe(false);
  expect(seen('http://h.test/a?b=2&a=1', { method: 'POST', body: '{"a":1}' })).toBe(false);
  expect(seen('http://h.test/a?b=2&a=1', { method: 'POST', body: '{"a":2}' })).toBe(false);
  expect(seen('http://h.test/a?b=2&a=1', { headers: { Accept: 'x/y' } })).toBe(true);
  expect(filter.size).toBe(4);
});

test('a fragment is no other page, unless the URL is to be taken as it is', () => {
  const filter = new FingerprintDupeFilter();
  const seen = (url: string, verbatimUrl?: boolean): boolean =>
    filter.requestSeen(new Request(url, verbatimUrl ? { meta: { verbatimUrl } } : {}));
  expect(seen('http://h.test/a#b')).toBe(false);
  expect(seen('http://h.test/a#c')).toBe(true);
  expect(seen('http://h.test/a')).toBe(true);
  expect(seen('http://h.test/a#b', true)).toBe(false);
  expect(seen('http://h.test/a#c', true)).toBe(false);
  expect(seen('http://h.test/a#c', true)).toBe(true);
  expect(filter.size).toBe(3);
});

test('a URL is still known when the memory of exact URLs has turned over', () => {
  const filter = new FingerprintDupeFilter();
  for (let i = 0; i < 50_000; i++) filter.requestSeen(new Request(`http://h.test/p/${i}`));
  expect(filter.requestSeen(new Request('http://h.test/p/0'))).toBe(true);
});
