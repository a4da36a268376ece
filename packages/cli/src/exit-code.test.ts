import { expect, test } from 'vitest';

import { exitCodeOf } from './exit-code.ts';

test.for([
  ['finished', true, 0],
  ['banned', true, 0],
  ['finished', false, 3],
  ['start_error', true, 3],
  ['bootstrap_failed', false, 1],
  ['feed_error', false, 1],
  ['closespider_itemcount', true, 4],
  ['closespider_errorcount', false, 4],
  ['memusage_exceeded', true, 4],
  ['shutdown', false, 130],
] as const)('a crawl that ends with %s (ok: %s) exits %i', ([reason, ok, code]) => {
  expect(exitCodeOf({ spider: 'a', reason, ok, stats: {} })).toBe(code);
});
