import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { type Site, startSite } from '@lycosa/site';
import {
  clearJob,
  CloseSpider,
  readJob,
  Request,
  type Response,
  type SettingsInput,
  Spider,
  type SpiderOutput,
} from 'lycosa';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { crawl } from './scrape.ts';

let folder: string;
let site: Site;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lycosa-jobs-'));
  site = await startSite({
    '/login': { headers: { 'set-cookie': 'session=abc; Path=/' }, body: '<p>in</p>' },
    '*': ({ headers }) => `<p>${headers.cookie ?? 'no cookie'}</p>`,
  });
});
afterEach(async () => {
  await site[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

/** Logs in, counts pages in its state, and stops after as many as it is told. */
class ShopSpider extends Spider {
  static override readonly name = 'shop';
  static stopAfter = Infinity;
  static starts: unknown[] = [];
  override *start(): SpiderOutput {
    ShopSpider.starts.push(this.state.next);
    for (let id = Number(this.state.next ?? 0); id < 6; id++) {
      this.state.next = id;
      yield new Request(`${site.url}/${id === 0 ? 'login' : id}`, { dontFilter: true });
    }
  }
  override *parse(response: Response): SpiderOutput {
    this.state.pages = Number(this.state.pages ?? 0) + 1;
    yield { path: new URL(response.url).pathname, text: response.css('p::text').get() };
    if (this.state.pages === ShopSpider.stopAfter) throw new CloseSpider('enough');
  }
}

const settings = (more: SettingsInput = {}): SettingsInput => ({
  JOBDIR: folder,
  CONCURRENT_REQUESTS: 1,
  START_QUEUE_SIZE: 2,
  ...more,
});

/** Writes into the file of the job what no crawl would. */
function tamper(sql: string): void {
  const db = new DatabaseSync(join(folder, 'job.sqlite'));
  db.exec(sql);
  db.close();
}

test('the next run has the cookies, the state and the stats of the one before, and start() goes on from its place', async () => {
  ShopSpider.stopAfter = 3;
  ShopSpider.starts = [];
  const first = await crawl(ShopSpider, settings());
  expect(first.result.reason).toBe('enough');
  ShopSpider.stopAfter = Infinity;
  const second = await crawl(ShopSpider, settings());
  expect(second.result).toMatchObject({ reason: 'finished', ok: true });
  expect(ShopSpider.starts[0]).toBeUndefined();
  expect(ShopSpider.starts[1]).toBeGreaterThan(0);
  expect([...first.items, ...second.items]).toEqual(
    ['/login', '/1', '/2', '/3', '/4', '/5'].map((path) => ({
      path,
      text: path === '/login' ? 'in' : 'session=abc',
    })),
  );
  expect(second.result.stats).toMatchObject({
    item_scraped_count: 6,
    'account/scheduled': Number(second.result.stats['account/dropped'] ?? 0) + 6,
    'account/done': 6,
    'account/left': 0,
  });
  const job = await readJob(folder);
  expect(job).toMatchObject({ pending: [], runs: 2 });
  await clearJob(folder);
  await expect(readJob(folder)).rejects.toThrow('There is no job');
});

test('what is damaged or hostile in the file is set aside and counted, and the crawl goes on', async () => {
  ShopSpider.stopAfter = 1;
  const first = await crawl(ShopSpider, settings({ START_QUEUE_SIZE: 1000 }));
  const bad = [
    '{"u":"http://127.0.0.1/',
    '[]',
    '{"u":42}',
    '{"u":"no url"}',
    `{"u":"${site.url}/x","m":"BAD METHOD"}`,
    `{"u":"${site.url}/x","cb":"missing"}`,
    `{"u":"${site.url}/x","cb":"constructor"}`,
    `{"u":"${site.url}/x","cb":"__defineGetter__"}`,
    `{"u":"${site.url}/x","eb":"bind"}`,
    `{"u":"${site.url}/x","h":7}`,
    `{"u":"${site.url}/x","c":7}`,
  ];
  bad.forEach((data, at) =>
    tamper(
      `INSERT INTO requests SELECT id, 0, 0, ${-1000 - at}, '${data.replaceAll("'", "''")}' FROM slots LIMIT 1`,
    ),
  );
  tamper(
    `INSERT INTO requests SELECT id, 0, 0, -2000, '{"u":"${site.url}/proto","t":{"__proto__":{"polluted":1},"a":1},"k":{"__proto__":{"polluted":1}}}' FROM slots LIMIT 1`,
  );
  tamper(
    `UPDATE state SET value = '{"__proto__":{"polluted":1},"pages":1,"next":5}' WHERE key = 'state'`,
  );
  tamper(`UPDATE state SET value = '{broken' WHERE key = 'slots'`);
  tamper(
    `INSERT OR REPLACE INTO cookies VALUES ('""', 'x.test', '{broken'), ('[]', 'x.test', '[]')`,
  );
  ShopSpider.stopAfter = Infinity;
  const { result, items, log } = await crawl(ShopSpider, settings());
  expect(result).toMatchObject({ reason: 'finished', ok: true });
  expect(result.stats['scheduler/set_aside']).toBe(bad.length);
  const paths = [...first.items, ...items].map((item) => (item as { path: string }).path);
  expect(paths.toSorted()).toEqual(['/1', '/2', '/3', '/4', '/5', '/login', '/proto']);
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  expect(
    log.filter((line) => line.level === 'WARNING' && line.msg.includes('set aside')),
  ).toHaveLength(1);
  expect((await readJob(folder)).setAside).toBe(bad.length);
});

test('a job that is run is not cleared, and is named by who runs it', async () => {
  let seen: unknown;
  class CuriousSpider extends Spider {
    static override readonly name = 'curious';
    override readonly startUrls = [site.url];
    override async parse(): Promise<void> {
      seen = await readJob(folder);
      await clearJob(folder).catch((error: Error) => {
        seen = [seen, error.message];
      });
    }
  }
  const { result } = await crawl(CuriousSpider, { JOBDIR: folder });
  expect(result.ok).toBe(true);
  expect(seen).toEqual([
    expect.objectContaining({ heldBy: expect.stringContaining(`process ${process.pid}`) }),
    expect.stringContaining('is being run by'),
  ]);
});

test('what closed() and listeners of spider_closed put into the state is there in the next run', async () => {
  const seen: unknown[] = [];
  class TidySpider extends Spider {
    static override readonly name = 'tidy';
    override readonly startUrls = [site.url];
    override parse(): void {
      seen.push({ ...this.state });
      this.crawler.signals.connect('spider_closed', () => void (this.state.heard = true));
      this.state.parsed = true;
    }
    override async closed(reason: string): Promise<void> {
      seen.push({ ...this.state });
      await new Promise((resolve) => setTimeout(resolve, 20));
      this.state.closed = reason;
    }
  }
  for (let run = 0; run < 2; run++) {
    const { result } = await crawl(TidySpider, { JOBDIR: folder });
    expect(result).toMatchObject({ reason: 'finished', ok: true });
  }
  const all = { parsed: true, heard: true };
  expect(seen).toEqual([{}, all, { ...all, closed: 'finished' }]);
  expect((await readJob(folder)).stats).toMatchObject({ finish_reason: 'finished' });
});

test.each(['jsonlines', 'json', 'csv', 'xml'])(
  'a finished job that is run again keeps its %s feed, -O or not',
  async (format) => {
    const feed = join(folder, 'pages');
    writeFileSync(feed, 'older than the job');
    const run = async (): Promise<string> => {
      const { result } = await crawl(
        ShopSpider,
        settings({ FEEDS: { [feed]: { format, overwrite: true } } }),
      );
      expect(result).toMatchObject({ reason: 'finished', ok: true });
      return readFileSync(feed, 'utf8');
    };
    const first = await run();
    expect(first).toContain('/login');
    expect(first).not.toContain('older');
    expect(await run()).toBe(first);
    // The spider goes on from its place, so page 5 is asked for once and is in the feed once.
    expect(first.split('/5').length).toBe(2);
  },
);
