import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync, gzipSync, zstdDecompressSync } from 'node:zlib';

import { expect, test } from 'vitest';

import { Settings } from '../settings/settings.ts';
import { SignalManager } from '../signals/signal-manager.ts';
import { Spider } from '../spider/spider.ts';
import { StatsCollector } from '../stats/stats-collector.ts';
import { type FeedCrawler, FeedExport } from './feed-export.ts';
import { feedOptions, type FeedsInput } from './feed-options.ts';
import { repairFeed } from './repair.ts';
import type { FeedStorage } from './storages/storage.ts';

class Books extends Spider {
  static override readonly name = 'books';
  readonly shop = 'a/b';
}

interface Outcome {
  readonly lines: readonly string[];
  readonly stats: Readonly<Record<string, unknown>>;
  readonly errors: readonly Error[];
  readonly closed: readonly string[];
  readonly signals: readonly string[];
}

/** A crawl as the feeds see it: it opens, items come, it closes. */
async function crawl(
  root: string,
  feeds: FeedsInput,
  items: Iterable<unknown>,
  more: Record<string, unknown> = {},
  left = 0,
): Promise<Outcome> {
  const [lines, errors, closed, heard]: [string[], Error[], string[], string[]] = [[], [], [], []];
  const settings = new Settings({ FEEDS: feeds, ...more });
  const signals = new SignalManager();
  const stats = new StatsCollector();
  stats.set('account/left', left);
  const log = (level: string) => (message: string) => void lines.push(`${level}: ${message}`);
  const spider = new Books({ day: 'monday' });
  const crawler = {
    settings,
    signals,
    stats,
    spider,
    root,
    log: { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') },
    engine: { closeSpider: (reason: string) => void closed.push(reason) },
    fail: (error: Error) => void errors.push(error),
    // What the feeds use, and no more.
  } as unknown as FeedCrawler;
  new FeedExport(crawler, feedOptions(settings));
  for (const name of ['feed_slot_closed', 'feed_exporter_closed'] as const)
    signals.connect(name, () => heard.push(name));
  await signals.sendAwaited('spider_opened', { spider });
  if (closed.length === 0) {
    for (const item of items)
      await signals.sendAwaited('item_scraped', { item, response: null, spider });
  }
  await signals.sendAwaited('spider_closed', { spider, reason: closed[0] ?? 'finished' });
  return { lines, stats: stats.getAll(), errors, closed, signals: heard };
}

async function folder(): Promise<
  {
    path: string;
    read(name: string): Promise<string>;
    names(): Promise<string[]>;
  } & AsyncDisposable
> {
  const path = await mkdtemp(join(tmpdir(), 'feeds-'));
  return {
    path,
    read: (name) => readFile(join(path, name), 'utf8'),
    names: async () => (await readdir(path)).toSorted(),
    [Symbol.asyncDispose]: () => rm(path, { recursive: true }),
  };
}

test('each feed gets every item, in its own format, under its final name', async () => {
  await using dir = await folder();
  const feeds = { 'deep/a.jsonl': {}, 'b.json': {}, '%(name)s-%(shop)s-%(day)s.csv': {} };
  const { stats, lines, signals } = await crawl(dir.path, feeds, [{ a: 1 }, { b: 'x' }]);
  expect(await dir.read('deep/a.jsonl')).toBe('{"a":1}\n{"b":"x"}\n');
  expect(JSON.parse(await dir.read('b.json'))).toEqual([{ a: 1 }, { b: 'x' }]);
  expect(await dir.read('books-a%2Fb-monday.csv')).toBe('a,b\n1,\n,x\n');
  expect(await dir.names()).toEqual(['b.json', 'books-a%2Fb-monday.csv', 'deep']);
  expect(stats['feedexport/success_count/FileFeedStorage']).toBe(3);
  expect(lines.filter((line) => line.startsWith('info'))).toHaveLength(3);
  expect(signals).toEqual([
    'feed_slot_closed',
    'feed_slot_closed',
    'feed_slot_closed',
    'feed_exporter_closed',
  ]);
});

test('an item that cannot be serialised costs only itself, and only in that feed', async () => {
  await using dir = await folder();
  const { stats, lines, errors } = await crawl(dir.path, { 'a.json': {}, 'b.csv': {} }, [
    { a: 1 },
    { a: 2n },
    { a: 3 },
  ]);
  expect(JSON.parse(await dir.read('a.json'))).toEqual([{ a: 1 }, { a: 3 }]);
  expect(await dir.read('b.csv')).toBe('a\n1\n2\n3\n');
  expect(stats['feedexport/item_error_count']).toBe(1);
  expect(lines.filter((line) => line.startsWith('error'))).toHaveLength(1);
  expect(errors).toEqual([]);
});

test('csv with fixed fields warns once, and names what it left out', async () => {
  await using dir = await folder();
  const { lines } = await crawl(dir.path, { 'a.csv': { fields: ['age', 'name'] } }, [
    { name: 'Ann', note: 1 },
    { age: 31, city: 'Rom', note: 2 },
  ]);
  expect(await dir.read('a.csv')).toBe('age,name\n,Ann\n31,\n');
  expect(lines.filter((line) => line.startsWith('warn'))).toEqual([
    expect.stringMatching(/note, city$/),
  ]);
});

test('-o adds to json lines and csv; the columns of the old file come first', async () => {
  await using dir = await folder();
  await writeFile(join(dir.path, 'a.jsonl'), '{"old":1}');
  await writeFile(join(dir.path, 'a.csv'), '\ufeffa,b\r\n1,"x\ny"\r\n');
  await writeFile(join(dir.path, 'a.jsonl.gz'), gzipSync('{"old":1}\n'));
  await crawl(dir.path, { 'a.jsonl': {}, 'a.csv': {}, 'a.jsonl.gz': {} }, [{ b: 2, c: 3 }]);
  expect(await dir.read('a.jsonl')).toBe('{"old":1}\n{"b":2,"c":3}\n');
  expect(await dir.read('a.csv')).toBe('a,b,c\n1,"x\ny",\r\n,2,3\n');
  expect(gunzipSync(await readFile(join(dir.path, 'a.jsonl.gz'))).toString()).toBe(
    '{"old":1}\n{"b":2,"c":3}\n',
  );
});

test('nothing is appended to a json array; -O replaces it, and only at the end', async () => {
  await using dir = await folder();
  await writeFile(join(dir.path, 'a.json'), '[1]');
  const { errors, closed, stats } = await crawl(
    dir.path,
    { 'a.json': {}, 'b.jsonl': { overwrite: true } },
    [{ a: 1 }],
  );
  expect(errors[0]?.message).toMatch(/a\.json could not be opened.*-O/);
  expect(closed).toEqual(['feed_error']);
  expect(stats['feedexport/failed_count/FileFeedStorage']).toBe(1);
  expect(await dir.names()).toEqual(['a.json']);
  await crawl(dir.path, { 'a.json': { overwrite: true } }, [{ a: 1 }]);
  expect(JSON.parse(await dir.read('a.json'))).toEqual([{ a: 1 }]);
});

test('without items there is an empty feed, or none where that is off', async () => {
  await using dir = await folder();
  await writeFile(join(dir.path, 'kept.jsonl'), '{"old":1}\n');
  await crawl(
    dir.path,
    {
      'a.json': {},
      'b.json': { storeEmpty: false },
      'kept.jsonl': { storeEmpty: false, overwrite: true },
    },
    [],
  );
  expect(await dir.names()).toEqual(['a.json', 'kept.jsonl']);
  expect(JSON.parse(await dir.read('a.json'))).toEqual([]);
  expect(await dir.read('kept.jsonl')).toBe('{"old":1}\n');
});

test('a path that cannot be written ends the crawl before its first request and touches no other file', async () => {
  await using dir = await folder();
  await writeFile(join(dir.path, 'file'), '');
  await mkdir(join(dir.path, 'folder.json'));
  const { errors, closed, lines } = await crawl(
    dir.path,
    { 'good.jsonl': {}, 'file/a.jsonl': {}, 'folder.json': {} },
    [{ a: 1 }],
  );
  expect(closed).toEqual(['feed_error']);
  expect(errors).toHaveLength(2);
  expect(errors[0]?.message).toMatch(/file\/a\.jsonl could not be opened: E\w+/);
  expect(lines.filter((line) => line.startsWith('error'))).toHaveLength(2);
  expect(await dir.names()).toEqual(['file', 'folder.json']);
});

test('a disk that fills up fails that feed once; the others go on', async () => {
  await using dir = await folder();
  let writes = 0;
  class FullStorage implements FeedStorage {
    readonly name = 'FullStorage';
    readonly location = 'full://';
    open(): void {}
    async write(): Promise<void> {
      writes++;
      throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
    }
    async store(): Promise<void> {}
    async abandon(): Promise<void> {}
  }
  const items = Array.from({ length: 50 }, (_, n) => ({ n, text: 'x'.repeat(10_000) }));
  const feeds: FeedsInput = { 'full://x': { format: 'jsonl' }, 'a.jsonl': {} };
  const { errors, lines, stats, closed } = await crawl(dir.path, feeds, items, {
    FEED_STORAGES: { full: FullStorage },
  });
  expect(writes).toBe(1);
  expect(errors.map(({ message }) => message)).toEqual([
    'The feed full:// could not be written: ENOSPC: no space left on device, write',
  ]);
  expect(lines.filter((line) => line.startsWith('error'))).toHaveLength(1);
  expect(stats['feedexport/failed_count/FullStorage']).toBe(1);
  expect(closed).toEqual([]);
  expect((await dir.read('a.jsonl')).split('\n')).toHaveLength(51);
});

test('batches are stored when they are full, and none is empty', async () => {
  await using dir = await folder();
  const { stats } = await crawl(
    dir.path,
    { 'a-%(batch_id)03d.json': { batchItemCount: 2 } },
    [1, 2, 3, 4].map((n) => ({ n })),
  );
  expect(await dir.names()).toEqual(['a-001.json', 'a-002.json']);
  expect(JSON.parse(await dir.read('a-002.json'))).toEqual([{ n: 3 }, { n: 4 }]);
  expect(stats['feedexport/success_count/FileFeedStorage']).toBe(2);
});

test('items may be chosen by class and by a function', async () => {
  await using dir = await folder();
  class Book {
    readonly title: string;
    constructor(title: string) {
      this.title = title;
    }
  }
  const items = [new Book('x'), { title: 'y' }, new Book('z')];
  await crawl(
    dir.path,
    { 'a.jsonl': { itemClasses: [Book] }, 'b.jsonl': { itemFilter: (item) => item !== items[0] } },
    items,
  );
  expect(await dir.read('a.jsonl')).toBe('{"title":"x"}\n{"title":"z"}\n');
  expect(await dir.read('b.jsonl')).toBe('{"title":"y"}\n{"title":"z"}\n');
});

test('two feeds in one file are refused', async () => {
  await using dir = await folder();
  const { errors } = await crawl(dir.path, { 'a.jsonl': {}, './a.jsonl': {} }, []);
  expect(errors[0]?.message).toContain('both go to');
});

test('feeds are compressed when they are complete', async () => {
  await using dir = await folder();
  await crawl(dir.path, { 'a.csv.gz': {}, 'a.jsonl': { postprocessing: ['zstd'] } }, [
    { a: 1 },
    { b: 2 },
  ]);
  expect(gunzipSync(await readFile(join(dir.path, 'a.csv.gz'))).toString()).toBe('a,b\n1,\n,2\n');
  expect(zstdDecompressSync(await readFile(join(dir.path, 'a.jsonl'))).toString()).toBe(
    '{"a":1}\n{"b":2}\n',
  );
});

test('what a killed crawl left is continued by -o, and by a job in any mode', async () => {
  await using dir = await folder();
  await writeFile(join(dir.path, 'a.jsonl'), '{"a":0}\n');
  await writeFile(join(dir.path, 'a.jsonl.part'), '{"a":0}\n{"a":1}\n{"a":');
  await writeFile(join(dir.path, 'b.csv.part'), 'a\n1\na,b\n1,2\n3,');
  await writeFile(join(dir.path, 'c.json.part'), '[\n{"a":1},\n{"a"');
  const feeds = { 'a.jsonl': {}, 'b.csv': {}, 'c.json': { overwrite: true } };
  await crawl(dir.path, feeds, [{ a: 2, c: 3 }], { JOBDIR: join(dir.path, 'job') });
  expect(await dir.read('a.jsonl')).toBe('{"a":0}\n{"a":1}\n{"a":2,"c":3}\n');
  expect(await dir.read('b.csv')).toBe('a,b,c\n1,,\n1,2,\n2,,3\n');
  expect(JSON.parse(await dir.read('c.json'))).toEqual([{ a: 1 }, { a: 2, c: 3 }]);
});

test('a job goes on with its batches and its names, whatever lay there before it', async () => {
  await using dir = await folder();
  const job = { JOBDIR: join(dir.path, 'job') };
  const feeds = {
    'b%(batch_id)d.jsonl': { batchItemCount: 3, overwrite: true },
    't%(batch_time)s.csv': { batchItemCount: 3 },
    'all-%(time)s.json': { overwrite: true },
  };
  for (const n of [1, 2, 3]) await writeFile(join(dir.path, `b${n}.jsonl`), '{"old":1}\n');
  const items = (from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, i) => ({ n: from + i }));
  await crawl(dir.path, feeds, items(1, 5), job, 1);
  await crawl(dir.path, feeds, [], job, 1);
  // Stopped when its batch is full: the next has its part from the first item on.
  await crawl(dir.path, feeds, items(6, 6), job, 1);
  await crawl(dir.path, feeds, items(7, 8), job);
  const names = (await dir.names()).filter((name) => name !== 'job');
  expect(names).toEqual([
    expect.stringMatching(/^all-.*json$/),
    'b1.jsonl',
    'b2.jsonl',
    'b3.jsonl',
    expect.stringMatching(/^t.*csv$/),
    expect.stringMatching(/^t.*csv$/),
    expect.stringMatching(/^t.*csv$/),
  ]);
  const lines = (list: readonly object[]) =>
    list.map((item) => `${JSON.stringify(item)}\n`).join('');
  expect(await dir.read('b1.jsonl')).toBe(lines(items(1, 3)));
  expect(await dir.read('b2.jsonl')).toBe(lines(items(4, 6)));
  expect(await dir.read('b3.jsonl')).toBe(lines(items(7, 8)));
  expect(JSON.parse(await dir.read(names[0]!))).toEqual(items(1, 8));
  expect(await Promise.all(names.slice(4).map((name) => dir.read(name)))).toEqual([
    'n\n1\n2\n3\n',
    'n\n4\n5\n6\n',
    'n\n7\n8\n',
  ]);
  await writeFile(join(dir.path, 'job', 'feeds', 'names.json'), '{"time"');
  const { errors, closed } = await crawl(dir.path, feeds, [], job);
  expect(errors[0]?.message).toContain('lycosa job clear');
  expect(closed).toEqual(['feed_error']);
});

test('-o does not take up a part that would have replaced the file', async () => {
  await using dir = await folder();
  await writeFile(join(dir.path, 'a.jsonl'), '{"a":0}\n');
  await writeFile(join(dir.path, 'a.jsonl.part'), '{"new":1}\n');
  const { errors } = await crawl(dir.path, { 'a.jsonl': {} }, []);
  expect(errors[0]?.message).toContain('lycosa feed repair');
  expect(await dir.names()).toEqual(['a.jsonl', 'a.jsonl.part']);
});

test('many items wait for the disk, and none is lost or torn', async () => {
  await using dir = await folder();
  const items = Array.from({ length: 3000 }, (_, n) => ({ n, text: 'x'.repeat(1000) }));
  await crawl(dir.path, { 'a.jsonl': {} }, items);
  const lines = (await dir.read('a.jsonl')).trimEnd().split('\n');
  expect(lines.map((line) => (JSON.parse(line) as { n: number }).n)).toEqual(
    items.map(({ n }) => n),
  );
});

test('a crawl killed while it writes leaves no final file, and whole lines but for the one it was writing', async () => {
  await using dir = await folder();
  const child = spawn(
    process.execPath,
    [
      '--input-type=module',
      '--eval',
      `const { FileFeedStorage } = await import(${JSON.stringify(new URL('./storages/file.ts', import.meta.url))});
       const { FeedSlot } = await import(${JSON.stringify(new URL('./feed-slot.ts', import.meta.url))});
       const { JsonLinesExporter } = await import(${JSON.stringify(new URL('./exporters/jsonlines.ts', import.meta.url))});
       const storage = new FileFeedStorage('a.jsonl', { format: 'jsonl' });
       const slot = new FeedSlot({ encoding: 'utf-8', postprocessing: [], exporter: new JsonLinesExporter(), storage, onError() {} });
       await slot.open();
       for (let n = 0; ; n++) {
         await slot.add({ n, text: 'x'.repeat(10_000) });
         if (n === 500) process.stdout.write('ready');
         await new Promise(setImmediate);
       }`,
    ],
    { cwd: dir.path, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  await once(child.stdout, 'data');
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(await dir.names()).toEqual(['a.jsonl.part']);
  // The system may stop a write between two pages of memory; what follows the last line end is no record.
  const lines = (await dir.read('a.jsonl.part')).split('\n').slice(0, -1);
  expect(lines.map((line) => (JSON.parse(line) as { n: number }).n)).toEqual([...lines.keys()]);
  expect(lines.length).toBeGreaterThan(100);
  const repaired = await repairFeed(join(dir.path, 'a.jsonl.part'));
  expect(repaired.records).toBe(lines.length);
  expect(await dir.read('a.jsonl')).toBe(`${lines.join('\n')}\n`);
});

test('standard output gets the feed, csv once its columns are known; a reader that leaves is no crash', async () => {
  const script = (count: number): string =>
    `const { StdoutFeedStorage } = await import(${JSON.stringify(new URL('./storages/stdout.ts', import.meta.url))});
     const { SpooledFeedStorage } = await import(${JSON.stringify(new URL('./storages/spooled.ts', import.meta.url))});
     const { FeedSlot } = await import(${JSON.stringify(new URL('./feed-slot.ts', import.meta.url))});
     const { CsvExporter } = await import(${JSON.stringify(new URL('./exporters/csv.ts', import.meta.url))});
     const storage = new SpooledFeedStorage(new StdoutFeedStorage());
     const slot = new FeedSlot({ encoding: 'utf-8', postprocessing: [], exporter: new CsvExporter(), storage, onError() {} });
     await slot.open();
     for (let n = 0; n < ${count}; n++) await slot.add({ ['f' + n % 2]: n });
     console.error(await slot.close());`;
  const run = async (
    count: number,
    leave: boolean,
  ): Promise<{ out: string; err: string; code: unknown }> => {
    const child = spawn(process.execPath, ['--input-type=module', '--eval', script(count)], {
      cwd: fileURLToPath(new URL('.', import.meta.url)),
    });
    let [out, err] = ['', ''];
    child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
    if (leave) child.stdout.destroy();
    else child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
    const [code] = (await once(child, 'close')) as unknown[];
    return { out, err, code };
  };
  expect(await run(2, false)).toEqual({ out: 'f0,f1\n0,\n,1\n', err: 'stored\n', code: 0 });
  expect(await run(100_000, true)).toEqual({ out: '', err: 'stored\n', code: 0 });
});
