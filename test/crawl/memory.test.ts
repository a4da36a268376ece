import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { beforeAll, expect, test } from 'vitest';

import { measureItems, measurePages, measurePending, type Sample } from './memory.ts';

beforeAll(() => {
  setFlagsFromString('--expose-gc');
  globalThis.gc ??= runInNewContext('gc') as NodeJS.GCFunction;
});

/** MB of the heap that the crawl added from its first sample to its last. */
function growth(samples: readonly Sample[]): number {
  return samples.at(-1)!.heapMb - samples[0]!.heapMb;
}

test('items of 10 kB that a slow pipeline holds up do not pile up', async () => {
  // 200 MB in all.
  expect(growth(await measureItems(20_000))).toBeLessThan(20);
});

test('a title that is kept does not keep its page of a megabyte', async () => {
  expect(growth(await measurePages(60))).toBeLessThan(20);
});

test('requests that wait in a job are on disk, not in memory', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lycosa-memory-'));
  try {
    // In memory they would take some 100 MB.
    expect(growth(await measurePending(100_000, 50, join(folder, 'job')))).toBeLessThan(20);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
