import { expect, test } from 'vitest';

import { CommandError, escapeControls, joinDashValues, parsePairs } from './options.ts';

test('pairs are split at the first =, and of one name the last holds', () => {
  expect(parsePairs(['a=1', 'url=http://x/?b=2', 'a=3', 'empty='], '-a')).toEqual({
    a: '3',
    url: 'http://x/?b=2',
    empty: '',
  });
  expect(parsePairs(undefined, '-a')).toEqual({});
});

test.for(['tag', '=humor', ''])('%j is no pair', (text) => {
  expect(() => parsePairs([text], '-a')).toThrow(CommandError);
});

test('a feed on standard output is a value, not an option', () => {
  expect(joinDashValues(['crawl', 'a', '-o', '-', '-O', '-:csv', '-a', 'x=1'])).toEqual([
    'crawl',
    'a',
    '-o=-',
    '-O=-:csv',
    '-a',
    'x=1',
  ]);
});

test('text of strangers cannot move the cursor or turn the line', () => {
  expect(escapeControls('a\u001b[2Jb\r\nc\u202ed é')).toBe('a\\u001b[2Jb\\u000d\\u000ac\\u202ed é');
});
