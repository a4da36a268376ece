import type { CrawlResult } from 'lycosa';
import { expect, test } from 'vitest';

import { verdictOf } from './reasons.ts';

const result = (reason: string, stats: CrawlResult['stats'] = {}): CrawlResult => ({
  spider: 'a',
  reason,
  ok: true,
  stats,
});

test('a close reason says where a spider goes, a table or a function of the user first', () => {
  const said = (reason: string): string => verdictOf(result(reason));
  expect(['finished', 'closespider_timeout', 'banned'].map(said)).toEqual(
    Array.from({ length: 3 }, () => 'finished'),
  );
  expect(['shutdown', 'memusage_exceeded'].map(said)).toEqual(['pending', 'pending']);
  expect(['bootstrap_failed', 'start_error'].map(said)).toEqual(['retry', 'retry']);
  expect([said('stopped'), said('lease_lost')]).toEqual(['failed', 'none']);
  expect(verdictOf(result('banned'), { banned: 'retry' })).toBe('retry');
  expect(verdictOf(result('toString'), {})).toBe('finished');
  const needsItems = ({ stats }: CrawlResult) =>
    stats['item_scraped_count'] ? undefined : ('retry' as const);
  expect(verdictOf(result('finished'), needsItems)).toBe('retry');
  expect(verdictOf(result('finished', { item_scraped_count: 1 }), needsItems)).toBe('finished');
});
