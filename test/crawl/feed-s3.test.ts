import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, request as forward, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';

import {
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { type Site, startSite } from '@lycosa/site';
import { type FauxqsServer, startFauxqs } from 'fauxqs';
import {
  clearJob,
  CloseSpider,
  type FeedsInput,
  repairFeed,
  Request,
  type SettingsInput,
  Spider,
  type SpiderOutput,
} from 'lycosa';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';

import { crawl, type Scraped } from './scrape.ts';

const secret = 'do-not-show-this-secret';
let site: Site;
let store: FauxqsServer;
let front: Server;
let client: S3Client;
let folder: string;
let seen: IncomingMessage[] = [];
/** Answers in place of the store with this status. */
let refuse: (request: IncomingMessage) => number | undefined = () => undefined;

/** What the feeds talk to: it passes all on to the store, but for what a test refuses. */
async function startFront(): Promise<Server> {
  const server = createServer((request, response) => {
    seen.push(request);
    const status = refuse(request);
    if (status !== undefined) {
      request.resume();
      request.once('end', () => {
        response.writeHead(status, { 'content-type': 'application/xml' });
        response.end(
          `<Error><Code>Refused</Code><Message>key test-key, ${secret}</Message></Error>`,
        );
      });
      return;
    }
    const { method, url: path, headers } = request;
    const passed = forward({ host: '127.0.0.1', port: store.port, method, path, headers });
    passed.once('response', (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    request.pipe(passed);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

beforeAll(async () => {
  site = await startSite({ '*': '<p>page</p>' });
  store = await startFauxqs({ port: 0, host: '127.0.0.1', logger: false });
  front = await startFront();
  client = new S3Client({
    endpoint: `http://127.0.0.1:${store.port}`,
    region: 'us-east-1',
    forcePathStyle: true,
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
  });
});
afterAll(async () => {
  client.destroy();
  front.close();
  front.closeAllConnections();
  await store.stop();
  await site[Symbol.asyncDispose]();
});
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lycosa-s3-'));
  store.createBucket('shop');
  store.emptyBucket('shop');
  refuse = () => undefined;
  seen = [];
  return () => rmSync(folder, { recursive: true, force: true });
});

const whole = [1, 2, 3, 4, 5, 6].map((n) => ({ n }));
const stopping = whole.map((item) => (item.n === 2 ? { stop: true } : item));

/** Yields what it is told, and stops at an item that says so. */
class ItemSpider extends Spider {
  static override readonly name = 'shop';
  static items: readonly object[] = [];
  override *start(): SpiderOutput {
    for (const [id] of ItemSpider.items.entries()) {
      yield new Request(`${site.url}/${id}`, { callback: this.one, cbKwargs: { id } });
    }
  }
  *one(_: unknown, { id }: { id: number }): SpiderOutput {
    const item = ItemSpider.items[id]!;
    if ('stop' in item) throw new CloseSpider('enough');
    yield item;
  }
}

const settings = (feeds: FeedsInput, more: SettingsInput = {}): SettingsInput => ({
  FEEDS: feeds,
  FEED_TEMPDIR: folder,
  AWS_ACCESS_KEY_ID: 'test-key',
  AWS_SECRET_ACCESS_KEY: secret,
  AWS_ENDPOINT_URL: `http://127.0.0.1:${(front.address() as AddressInfo).port}`,
  CONCURRENT_REQUESTS: 1,
  ...more,
});

/** A crawl of these items, of whose log and result nothing is secret. */
async function run(
  items: readonly object[],
  feeds: FeedsInput,
  more: SettingsInput = {},
): Promise<Scraped> {
  ItemSpider.items = items;
  const scraped = await crawl(ItemSpider, settings(feeds, more));
  const { error } = scraped.result;
  const shown = JSON.stringify([scraped.log, scraped.result, error?.message, error?.stack]);
  expect(shown).not.toContain(secret);
  return scraped;
}

async function object(key: string): Promise<Buffer> {
  const { Body } = await client.send(new GetObjectCommand({ Bucket: 'shop', Key: key }));
  return Buffer.from(await Body!.transformToByteArray());
}

async function keys(): Promise<string[]> {
  const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: 'shop' }));
  return Contents.map(({ Key }) => Key!);
}

const put = (key: string, text: string): Promise<unknown> =>
  client.send(new PutObjectCommand({ Bucket: 'shop', Key: key, Body: text }));

test('feeds in s3: are objects once they are complete, and nothing of them stays here', async () => {
  const { result } = await run(
    [{ a: 1 }, { b: 'x' }],
    {
      's3://shop/out/%(name)s 1.jsonl': {},
      's3://shop/out/b.csv': {},
      's3://shop/c.json.gz': {},
    },
    { FEED_STORAGE_S3_ACL: 'public-read' },
  );
  expect(result).toMatchObject({ ok: true, reason: 'finished' });
  expect(result.stats['feedexport/success_count/S3FeedStorage']).toBe(3);
  expect(String(await object('out/shop 1.jsonl'))).toBe('{"a":1}\n{"b":"x"}\n');
  expect(String(await object('out/b.csv'))).toBe('a,b\n1,\n,x\n');
  expect(JSON.parse(String(gunzipSync(await object('c.json.gz'))))).toEqual([{ a: 1 }, { b: 'x' }]);
  expect(readdirSync(folder)).toEqual([]);
  const sent = seen.filter(({ method }) => method === 'PUT');
  expect(sent.map(({ headers }) => headers['x-amz-acl'])).toEqual(Array(3).fill('public-read'));
});

test('an object is replaced unless it is asked for to add to it', async () => {
  await put('a.jsonl', '{"old":1}\n');
  await put('b.jsonl', '{"old":1}');
  await put('c.json', '[1]');
  const added = {
    's3://shop/b.jsonl': { overwrite: false },
    's3://shop/new.csv': { overwrite: false },
  };
  await run([{ a: 1 }], { 's3://shop/a.jsonl': {}, ...added });
  expect(String(await object('a.jsonl'))).toBe('{"a":1}\n');
  expect(String(await object('b.jsonl'))).toBe('{"old":1}\n{"a":1}\n');
  expect(String(await object('new.csv'))).toBe('a\n1\n');
  const { result } = await run([{ a: 1 }], { 's3://shop/c.json': { overwrite: false } });
  expect(result).toMatchObject({ ok: false, reason: 'feed_error' });
  expect(result.error?.message).toContain('nothing can be appended');
  expect(readdirSync(folder)).toEqual([]);
});

test('batches are sent when they are full', async () => {
  const feeds = { 's3://shop/%(batch_id)03d.jsonl': { batchItemCount: 2 } };
  await run([{ n: 1 }, { n: 2 }, { n: 3 }], feeds);
  expect(await keys()).toEqual(['001.jsonl', '002.jsonl']);
  expect(String(await object('002.jsonl'))).toBe('{"n":3}\n');
});

test('a large feed is sent in parts, and becomes an object only if all of them arrive', async () => {
  const large = Array.from({ length: 20 }, (_, n) => ({ n, text: 'x'.repeat(1_000_000) }));
  const feeds = { 's3://shop/large.jsonl': {} };
  refuse = ({ method, url }) =>
    method === 'PUT' && url!.includes('partNumber=2') ? 403 : undefined;
  const { result } = await run(large, feeds);
  expect(result).toMatchObject({ ok: false, reason: 'finished' });
  const { message } = result.error!;
  expect(message).toMatch(
    /^The feed s3:\/\/shop\/large\.jsonl could not be stored: Refused \(403\)/,
  );
  expect(message).toContain('key ***, ***');
  // What could not be sent is complete, and here.
  const kept = /The complete feed is in (.*)$/.exec(message)![1]!;
  expect(readFileSync(kept, 'utf8').trimEnd().split('\n')).toHaveLength(20);
  expect(await keys()).toEqual([]);
  expect(seen.filter(({ method }) => method === 'DELETE')).toHaveLength(1);

  refuse = () => undefined;
  expect((await run(large, feeds)).result.ok).toBe(true);
  expect((await object('large.jsonl')).length).toBeGreaterThan(20_000_000);
});

test('a bucket that is not there, or a store that does not answer, ends the crawl before its first request', async () => {
  const items = [{ a: 1 }];
  const missing = await run(items, { 's3://nobody/a.jsonl': {} });
  expect(missing.result).toMatchObject({ ok: false, reason: 'feed_error' });
  expect(missing.result.error?.message).toContain('There is no bucket nobody');
  const away = await run(
    items,
    { 's3://shop/a.jsonl': {} },
    { AWS_ENDPOINT_URL: 'http://127.0.0.1:1' },
  );
  expect(away.result.error?.message).toMatch(/could not be opened: .*ECONNREFUSED/);
  expect([...missing.items, ...away.items]).toEqual([]);
  // One who may only write cannot look at the bucket.
  refuse = ({ method }) => (method === 'HEAD' ? 403 : undefined);
  expect((await run(items, { 's3://shop/a.jsonl': {} })).result.ok).toBe(true);
});

test('credentials are refused in a URI and in halves, and never repeated', async () => {
  const inUri = await run([], { [`s3://key:${secret}@shop/a.jsonl`]: {} });
  expect(inUri.result.error?.message).toContain('s3://***@shop/a.jsonl');
  const half = await run([], { 's3://shop/a.jsonl': {} }, { AWS_ACCESS_KEY_ID: undefined });
  expect(half.result.error?.message).toContain('belong together');
});

test('a job that is stopped keeps its part, goes on with it, and sends it once it is done', async () => {
  const feeds = { 's3://shop/a.json': {} };
  const job = { JOBDIR: join(folder, 'job') };
  await run(stopping, feeds, job);
  expect(await keys()).toEqual([]);
  const { result } = await run(whole, feeds, job);
  expect(result).toMatchObject({ ok: true, reason: 'finished' });
  const all = JSON.parse(String(await object('a.json'))) as { n: number }[];
  expect(all.map(({ n }) => n).toSorted((a, b) => a - b)).toEqual([1, 3, 4, 5, 6]);
  // The job is over; what comes to it later is added to what was sent.
  await run([...whole, { n: 7 }], feeds, job);
  expect(JSON.parse(String(await object('a.json')))).toEqual([...all, { n: 7 }]);
  expect(readdirSync(join(folder, 'job'))).not.toContain('feeds');
});

test('batches of a job go on too: the part of one, and one that was full but could not be sent', async () => {
  const feeds = { 's3://shop/b%(batch_id)d.jsonl': { batchItemCount: 3 } };
  const job = { JOBDIR: join(folder, 'job') };
  const numbers = async (key: string): Promise<number[]> =>
    String(await object(key))
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { n: number }).n);
  await run(stopping, feeds, job);
  expect(await keys()).toEqual([]);
  refuse = ({ method }) => (method === 'PUT' ? 403 : undefined);
  expect((await run(whole, feeds, job)).result.ok).toBe(false);
  expect(await keys()).toEqual([]);
  refuse = () => undefined;
  expect((await run(whole, feeds, job)).result).toMatchObject({ ok: true, reason: 'finished' });
  expect((await keys()).toSorted()).toEqual(['b1.jsonl', 'b2.jsonl']);
  const [first, second] = [await numbers('b1.jsonl'), await numbers('b2.jsonl')];
  expect(first).toHaveLength(3);
  // What came when a batch failed is done again.
  expect(new Set([...first, ...second])).toEqual(new Set([1, 3, 4, 5, 6]));
});

test('a job that is closed before start() has yielded all keeps its part, whatever is left to do', async () => {
  class SlowStart extends ItemSpider {
    override async *start(): SpiderOutput {
      yield { n: 1 };
      throw new CloseSpider('enough');
    }
  }
  const feeds = { 's3://shop/a.jsonl': {} };
  const { result } = await crawl(SlowStart, settings(feeds, { JOBDIR: join(folder, 'job') }));
  expect(result).toMatchObject({ reason: 'enough', stats: { 'account/left': 0 } });
  expect(await keys()).toEqual([]);
});

test('a feed that a job could not send is sent by its next run', async () => {
  const feeds = { 's3://shop/a.jsonl': {} };
  const job = { JOBDIR: join(folder, 'job') };
  refuse = ({ method }) => (method === 'PUT' ? 403 : undefined);
  expect((await run([{ n: 1 }], feeds, job)).result.ok).toBe(false);
  refuse = () => undefined;
  expect((await run([{ n: 1 }], feeds, job)).result.ok).toBe(true);
  expect(String(await object('a.jsonl'))).toBe('{"n":1}\n');
});

test('a part that a crash left is repaired to a local file, and goes with the job it was of', async () => {
  const job = join(folder, 'job');
  await run(stopping, { 's3://shop/a.json': {} }, { JOBDIR: job });
  const [hash] = readdirSync(join(job, 'feeds'));
  const part = join(job, 'feeds', hash!, 'a.json.part');
  const { path } = await repairFeed(part);
  expect(JSON.parse(readFileSync(path, 'utf8'))).toContainEqual({ n: 1 });
  await clearJob(job);
  expect(readdirSync(folder)).toEqual([]);
});

test('without the AWS SDK a feed in s3: says how to install it, and no other crawl needs it', async () => {
  const script = `
    import { registerHooks } from 'node:module';
    registerHooks({ resolve(name, context, next) {
      if (name.startsWith('@aws-sdk/')) throw Object.assign(new Error('gone'), { code: 'ERR_MODULE_NOT_FOUND' });
      return next(name, context);
    } });
    const { CrawlerProcess, Spider } = await import('lycosa');
    class One extends Spider {
      static name = 'one';
      startUrls = ['data:,1'];
      parse() { return { a: 1 }; }
    }
    for (const uri of ['s3://shop/a.jsonl', process.argv[1]]) {
      await using crawls = new CrawlerProcess({ settings: { FEEDS: { [uri]: {} }, LOG_ENABLED: false } });
      const { ok, error } = await crawls.crawl(One);
      console.log(ok, error?.message ?? '');
    }`;
  const flags = ['--conditions=lycosa-source', '--input-type=module', '--eval', script];
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [...flags, join(folder, 'a.jsonl')],
    { cwd: fileURLToPath(new URL('.', import.meta.url)) },
  );
  expect(stdout).toMatch(
    /^false .*npm install @aws-sdk\/client-s3 @aws-sdk\/lib-storage\ntrue \n$/,
  );
});
