import { expect, test } from 'vitest';

import type { Row } from './page/api.ts';
import { failures, find, isStopped } from './rows.ts';

const row = (name: string, rest: Partial<Row> = {}): Row => ({
  name,
  spider: name,
  args: {},
  state: 'failed',
  priority: 0,
  changedAt: 0,
  attempts: 1,
  ...rest,
});
const namesOf = (rows: readonly Row[]): string[] => rows.map(({ name }) => name);

test('failures that differ in numbers only are one, the most frequent first', () => {
  const rows = [
    row('a', { error: 'no selector' }),
    row('b', { error: 'timed out after 31 s\nat line 2' }),
    row('c', { error: 'timed out after 4 s' }),
    row('d', { reason: 'crashed' }),
    row('e', { state: 'finished', error: 'timed out after 4 s' }),
  ];
  expect(failures(rows)).toEqual([
    { why: 'timed out after # s', example: 'timed out after 31 s', count: 2 },
    { why: 'no selector', example: 'no selector', count: 1 },
    { why: 'crashed', example: 'crashed', count: 1 },
  ]);
  expect(namesOf(find(rows, { state: 'failed', why: 'timed out after # s' }))).toEqual(['b', 'c']);
});

test('whom somebody stopped is no failure to look at', () => {
  const rows = [
    row('a', { reason: 'stopped' }),
    row('b'),
    row('c', { reason: 'stopped', error: 'x' }),
  ];
  expect(rows.map(isStopped)).toEqual([true, true, false]);
  expect(failures(rows)).toHaveLength(1);
});

test('a search finds names, arguments, machines, groups and errors in any case', () => {
  const rows = [
    row('Books'),
    row('b', { args: { tag: 'HUMOR' } }),
    row('c', { machine: 'crawl-07/1/x' }),
    row('d', { error: 'Refused' }),
    row('e', { group: 'example.com' }),
  ];
  const found = (search: string): string[] => namesOf(find(rows, { search }));
  expect(['boOKS', 'tag=humor', ' crawl-07 ', 'refused', 'EXAMPLE'].map(found)).toEqual([
    ['Books'],
    ['b'],
    ['c'],
    ['d'],
    ['e'],
  ]);
  expect(found('.*')).toEqual([]);
});

test('what is not known comes last, whichever way the rows are sorted', () => {
  const rows = [row('none'), row('few', { items: 2 }), row('many', { items: 10 })];
  expect(namesOf(find(rows, { sort: 'items' }))).toEqual(['few', 'many', 'none']);
  expect(namesOf(find(rows, { sort: 'items', isDescending: true }))).toEqual([
    'many',
    'few',
    'none',
  ]);
});
