import { expect, test } from 'vitest';

import { SettingsError, UsageError } from '../errors.ts';
import { feedOptions, parseFeedOption, parseFeedOutputs } from './feed-options.ts';

const settings = (values: Record<string, unknown>) => ({ get: (name: string) => values[name] });

test('-o takes URI[:FORMAT], and the format from the file name where none is given', () => {
  expect(parseFeedOption('out.csv', false)).toEqual(['out.csv', { overwrite: false }]);
  expect(parseFeedOption('out.txt:json', true)).toEqual([
    'out.txt',
    { format: 'json', overwrite: true },
  ]);
  expect(parseFeedOption('-:json', false)).toEqual(['-', { format: 'json', overwrite: false }]);
  expect(parseFeedOption('C:\\out\\a.jsonl:csv', false)[0]).toBe('C:\\out\\a.jsonl');
  expect(parseFeedOption('s3://bucket/a.jsonl.gz', false)[0]).toBe('s3://bucket/a.jsonl.gz');
  expect(parseFeedOption('-', false)[0]).toBe('-');
});

test('a format that does not exist is an error that names those that do', () => {
  for (const value of ['out', 'out.dat', 'out.jsonl:jsonx']) {
    expect(() => parseFeedOption(value, false)).toThrow(UsageError);
    expect(() => parseFeedOption(value, false)).toThrow('json, jsonlines, jsonl, jl, csv, xml');
  }
  expect(() => parseFeedOption('out.jsonl:jsonx', false)).toThrow('"jsonx"');
});

test('-o and -O exclude each other', () => {
  expect(() => parseFeedOutputs(['a.json'], ['b.json'])).toThrow('use one of them');
  expect(parseFeedOutputs([], ['b.json'])).toEqual({ 'b.json': { overwrite: true } });
});

test('added feeds stand beside those of the settings, and over the same URI', () => {
  const feeds = feedOptions(
    settings({
      FEEDS: { 'a.jsonl': { fields: ['x'] }, 'b.csv': {} },
      FEEDS_ADDED: { 'a.jsonl': { overwrite: true }, '-': {} },
    }),
  );
  expect(feeds.map(({ uri, format, overwrite }) => [uri, format, overwrite])).toEqual([
    ['a.jsonl', 'jsonl', true],
    ['b.csv', 'csv', false],
    ['-', 'jsonlines', false],
  ]);
  expect(feeds[0]?.exporterOptions.fields).toEqual(['x']);
});

test('defaults come from the FEED settings', () => {
  const [feed] = feedOptions(
    settings({
      FEEDS: { 'a.json.gz': {} },
      FEED_EXPORT_INDENT: 2,
      FEED_EXPORT_FIELDS: 'a, b',
      FEED_STORE_EMPTY: false,
      FEED_EXPORT_ENCODING: 'utf8',
    }),
  );
  expect(feed).toMatchObject({
    format: 'json',
    storeEmpty: false,
    postprocessing: ['gzip'],
    exporterOptions: { indent: 2, fields: ['a', 'b'], encoding: 'utf-8', escapeFormulas: false },
  });
});

test.each([
  [{ 'a.json': { store_empty: true } }, 'no option "store_empty"'],
  [{ 'a.json': { encoding: 'klingon' } }, 'must be utf-8 or latin1'],
  [{ 'a.json': { postprocessing: ['rar'] } }, 'a list of gzip and zstd'],
  [{ 'a.json': { indent: -1 } }, 'a whole number'],
  [{ 'a.json': null }, 'an object of options'],
])('%j is refused: %s', (FEEDS, message) => {
  expect(() => feedOptions(settings({ FEEDS }))).toThrow(SettingsError);
  expect(() => feedOptions(settings({ FEEDS }))).toThrow(message);
});

test('batches need a name of their own', () => {
  expect(() => feedOptions(settings({ FEEDS: { 'a.json': { batchItemCount: 2 } } }))).toThrow(
    '%(batch_id)d',
  );
});
