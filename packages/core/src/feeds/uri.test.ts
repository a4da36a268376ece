import { expect, test } from 'vitest';

import { UsageError } from '../errors.ts';
import { expandFeedUri, feedBatchTime, feedTime, hasBatchParameter } from './uri.ts';

const from = (params: Record<string, unknown>) => (name: string) => params[name];

test('parameters are filled in, and any other percent sign stays', () => {
  const params = from({ name: 'books', batch_id: 7, time: 't' });
  expect(expandFeedUri('s3://b/%20/%(name)s-%(batch_id)05d-%(time)s 100%.csv', params)).toBe(
    's3://b/%20/books-00007-t 100%.csv',
  );
});

test('a parameter that does not exist, or has no type, is an error that says what to do', () => {
  expect(() => expandFeedUri('%(shop)s.json', from({}))).toThrow(UsageError);
  expect(() => expandFeedUri('%(shop)s.json', from({}))).toThrow(
    'needs shop, which the spider does not have',
  );
  expect(() => expandFeedUri('%(name).json', from({ name: 'a' }))).toThrow('Write %(name)s');
  expect(() => expandFeedUri('%(name)d.json', from({ name: 'a' }))).toThrow('needs a whole number');
});

test('a value stays one path component, and different values give different names', () => {
  const values = [
    '..',
    '.',
    '/etc/cron.d/x',
    'a/../../b',
    'a%2Fb',
    'a/b',
    'a\\b',
    'a\nb',
    'a\0b',
    'x'.repeat(300),
    'x'.repeat(301),
    '…'.repeat(200),
  ];
  const names = values.map((name) => expandFeedUri('out/%(name)s/f.json', from({ name })));
  for (const name of names) {
    expect(name).toMatch(/^out\/[^/\\\p{Cc}]+\/f\.json$/u);
    expect(name.split('/')[1]).not.toMatch(/^\.{1,2}$/);
    expect(Buffer.byteLength(name.split('/')[1]!)).toBeLessThan(200);
  }
  expect(new Set(names).size).toBe(values.length);
  expect(new URL(expandFeedUri('file:///out/%(name)s/f.json', from({ name: '..' }))).pathname).toBe(
    '/out/%252E%252E/f.json',
  );
});

test('times are fit for file names', () => {
  expect(feedTime(new Date('2026-12-01T03:00:00.123Z'))).toBe('2026-12-01T03-00-00+00-00');
  expect(feedBatchTime(Date.parse('2026-12-01T03:00:00.123Z') * 1000 + 4)).toBe(
    '2026-12-01T03-00-00.123004+00-00',
  );
  expect([hasBatchParameter('a-%(batch_id)d'), hasBatchParameter('a-%(name)s')]).toEqual([
    true,
    false,
  ]);
});
