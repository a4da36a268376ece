import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from 'hyparquet';
import {
  type FeedInput,
  repairFeed,
  Request,
  type SettingsInput,
  Spider,
  type SpiderOutput,
} from 'lycosa';
import { beforeEach, expect, test } from 'vitest';

import { crawl, type Scraped } from './scrape.ts';

let folder: string;
let feed: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lycosa-parquet-'));
  feed = join(folder, 'items.parquet');
  return () => rmSync(folder, { recursive: true, force: true });
});

class ItemSpider extends Spider {
  static override readonly name = 'items';
  static items: readonly unknown[] = [];
  override *start(): SpiderOutput {
    for (const id of ItemSpider.items.keys()) yield new Request(`data:,${id}`);
  }
  override *parse(response: { url: string }): SpiderOutput {
    yield ItemSpider.items[Number(response.url.slice(6))];
  }
}

async function run(
  items: readonly unknown[],
  input: FeedInput = {},
  more: SettingsInput = {},
): Promise<Scraped> {
  ItemSpider.items = items;
  return crawl(ItemSpider, { FEEDS: { [feed]: { overwrite: true, ...input } }, ...more });
}

/** Rows and the types of columns, as another library than the writer's reads them. */
async function read(
  path = feed,
): Promise<{ rows: unknown[]; columns: Record<string, unknown>; groups: number }> {
  const file = await asyncBufferFromFile(path);
  const metadata = await parquetMetadataAsync(file);
  return {
    rows: await parquetReadObjects({ file, metadata }),
    columns: Object.fromEntries(
      metadata.schema.slice(1).map((one) => [one.name, one.converted_type ?? one.type]),
    ),
    groups: metadata.row_groups.length,
  };
}

test('columns are all fields, each of the type that all of its values fit in', async () => {
  const items = [
    { a: 'é', n: 1, x: 1, is: true, mixed: 1, list: [1, 'b'], when: new Date(0) },
    { a: null, n: 2 ** 40, x: 0.5, mixed: 'one', late: 'x', nothing: null },
  ];
  const { result } = await run(items);
  expect(result).toMatchObject({ ok: true, reason: 'finished' });
  const { rows, columns } = await read();
  expect(columns).toEqual({
    a: 'UTF8',
    n: 'INT64',
    x: 'DOUBLE',
    is: 'BOOLEAN',
    mixed: 'JSON',
    list: 'JSON',
    when: 'UTF8',
    late: 'UTF8',
    nothing: 'UTF8',
  });
  const missing = { late: null, nothing: null };
  const absent = { is: null, list: null, when: null };
  expect(rows).toHaveLength(2);
  expect(rows).toContainEqual({ ...items[0], n: 1n, when: '1970-01-01T00:00:00.000Z', ...missing });
  expect(rows).toContainEqual({ ...items[1], n: 2n ** 40n, ...absent });
});

test('fixed fields are the columns, whatever items have', async () => {
  const { log } = await run([{ a: 1, b: 2 }], { fields: { b: 'B', c: 'C' } });
  expect((await read()).rows).toEqual([{ B: 2n, C: null }]);
  expect(log.filter((line) => line.level === 'WARNING').map((line) => line.msg)).toEqual([
    expect.stringContaining('left out fields'),
  ]);
});

test('what is no table costs only itself, and many items become several row groups', async () => {
  const items = Array.from({ length: 300 }, (_, n) => ({ n, text: `${n}`.padEnd(100_000, 'x') }));
  const { result } = await run([...items, [1, 2]], { encoding: 'latin1' });
  expect(result.ok).toBe(true);
  expect(result.stats['feedexport/item_error_count']).toBe(1);
  const { rows, groups } = await read();
  expect(groups).toBeGreaterThan(2);
  const sorted = (rows as { n: bigint; text: string }[]).toSorted((a, b) => Number(a.n - b.n));
  expect(sorted.map(({ n, text }) => ({ n: Number(n), text }))).toEqual(items);
});

test('nothing is added to a finished file, unless it is of an earlier run of the same job', async () => {
  await run([{ n: 1 }]);
  const { result } = await run([{ n: 2 }], { overwrite: false });
  expect(result.error?.message).toContain('nothing can be appended to a file of format parquet');
  const job = { JOBDIR: join(folder, 'job') };
  await run(
    [
      { n: 1, list: [1] },
      { n: 2, x: true },
    ],
    {},
    job,
  );
  await run([{ n: 1 }, { n: 2 }, { n: 2.5 }], {}, job);
  const { rows, columns } = await read();
  expect(columns).toEqual({ n: 'DOUBLE', list: 'JSON', x: 'BOOLEAN' });
  expect(rows).toHaveLength(3);
  expect(rows).toContainEqual({ n: 1, list: [1], x: null });
  expect(rows).toContainEqual({ n: 2.5, list: null, x: null });
});

test('a part that a crash left is continued by its job, and repaired otherwise', async () => {
  const torn = '{"a":1}\n{"a":"two","b":[1]}\n{"a":';
  writeFileSync(`${feed}.part`, torn);
  expect(await repairFeed(`${feed}.part`)).toEqual({ path: feed, records: 2, cutBytes: 5 });
  const repaired = [
    { a: 1, b: null },
    { a: 'two', b: [1] },
  ];
  expect((await read()).rows).toEqual(repaired);
  rmSync(feed);
  writeFileSync(`${feed}.part`, torn);
  await run([{ c: true }], {}, { JOBDIR: join(folder, 'job') });
  expect((await read()).rows).toEqual([
    ...repaired.map((row) => ({ ...row, c: null })),
    { a: null, b: null, c: true },
  ]);
});

test('a Parquet file is not compressed once more', async () => {
  const { result } = await run([], { postprocessing: ['gzip'] });
  expect(result.error?.message).toContain('compressed inside');
});

test('without the library the feed says how to install it', async () => {
  const script = `
    import { registerHooks } from 'node:module';
    registerHooks({ resolve(name, context, next) {
      if (name.startsWith('hyparquet')) throw Object.assign(new Error('gone'), { code: 'ERR_MODULE_NOT_FOUND' });
      return next(name, context);
    } });
    const { CrawlerProcess, Spider } = await import('lycosa');
    class One extends Spider { static name = 'one'; startUrls = ['data:,1']; }
    await using crawls = new CrawlerProcess({ settings: { FEEDS: { [process.argv[1]]: {} }, LOG_ENABLED: false } });
    const { reason, error } = await crawls.crawl(One);
    console.log(reason, error.message);`;
  const flags = ['--conditions=lycosa-source', '--input-type=module', '--eval', script, feed];
  const { stdout } = await promisify(execFile)(process.execPath, flags, {
    cwd: fileURLToPath(new URL('.', import.meta.url)),
  });
  expect(stdout).toMatch(/^feed_error .*npm install hyparquet-writer hyparquet\n$/);
  expect(readdirSync(folder)).toEqual([]);
});
