import { resolve } from 'node:path';

import { expect, test } from 'vitest';

import { feedOf, summaryLines } from './summary.ts';

test('the summary names what came out of a crawl and where it is', () => {
  const stats = {
    response_received_count: 1200,
    item_scraped_count: 1000,
    'log_count/ERROR': 2,
    'request_dropped_count/duplicate': 30,
    'request_dropped_count/robots': 1,
  };
  const feeds = [
    { location: resolve('out/a.jsonl'), itemCount: 1000, isFailed: false },
    { location: 'stdout', itemCount: 1, isFailed: false },
    { location: 's3://bucket/a.csv', itemCount: 7, isFailed: true },
  ];
  const error = new Error('The feed failed\u001b[0m');
  const result = { spider: 'books', reason: 'finished', ok: false, stats, error };
  expect(summaryLines(result, 12.34, feeds)).toEqual([
    ['spider', 'books'],
    ['reason', 'finished'],
    ['duration', '12.3 s'],
    ['pages', '1,200'],
    ['items', '1,000'],
    ['errors', '2'],
    ['dropped', 'duplicate 30, robots 1'],
    ['feeds', 'out/a.jsonl (1,000 items)'],
    ['', 'stdout (1 item)'],
    ['', 's3://bucket/a.csv (not stored)'],
    ['error', 'The feed failed\\u001b[0m'],
  ]);
});

test('a feed of somebody else is told as far as it is known', () => {
  expect(feedOf({ uri: 'a.csv' })).toEqual({ location: 'a.csv', itemCount: 0, isFailed: false });
  expect(feedOf({})).toBeUndefined();
});
