import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { expect, test } from 'vitest';

import { runConformance, vectorFiles } from './run.ts';

const folder = fileURLToPath(new URL('../../../shared/reference/vectors', import.meta.url));
const isPresent = vectorFiles(folder).length > 0;

test.skipIf(!isPresent)(
  `the vectors of peers and standards hold${isPresent ? '' : ' (skipped: there are none in ../shared)'}`,
  async () => {
    const rows = await runConformance(folder);
    expect(rows.flatMap(({ file, failures }) => failures.map((one) => `${file}: ${one}`))).toEqual(
      [],
    );
    expect(rows.length).toBeGreaterThan(0);
  },
);

test('a file or case that is not understood is a failure, and the others go on', async () => {
  const own = mkdtempSync(join(tmpdir(), 'lycosa-vectors-'));
  const write = (name: string, text: unknown): void =>
    writeFileSync(join(own, name), typeof text === 'string' ? text : JSON.stringify(text));
  try {
    write('broken.json', '{');
    write('curl.json', { cases: {} });
    write('csv_read.json', { count: 2, cases: [] });
    write('nobody_knows.json', { cases: [{ id: 'a' }] });
    write('robots_google.json', { cases: [null, { id: 'b', robots: 1, expect: [{}] }] });
    write('retry_after.json', {
      count: 3,
      cases: [
        { id: 'right', value: '7', now: '2024-01-01T00:00:00Z', delay_ms: 7000 },
        { id: 'wrong', value: '7', now: '2024-01-01T00:00:00Z', delay_ms: 1 },
        'no case',
      ],
    });
    write('url_scrapy.json', { cases: [{ id: 'c', fn: 'frobnicate', args: { url: 'x' } }] });
    const rows = await runConformance(own);
    expect(
      rows.map(({ file, passed, failed, notBuilt }) => [file, passed, failed, notBuilt]),
    ).toEqual([
      ['broken', 0, 1, 0],
      ['csv_read', 0, 1, 0],
      ['curl', 0, 1, 0],
      ['nobody_knows', 0, 1, 0],
      ['retry_after', 1, 2, 0],
      ['robots_google', 0, 2, 0],
      ['url_scrapy', 0, 0, 1],
    ]);
    expect(rows.every(({ failures }) => failures.length > 0)).toBe(true);
  } finally {
    rmSync(own, { recursive: true });
  }
});
