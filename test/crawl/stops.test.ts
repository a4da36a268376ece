import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { startSite } from '@lycosa/site';
import {
  CrawlerProcess,
  createLogger,
  readJob,
  Request,
  type SettingsInput,
  Spider,
  type SpiderOutput,
} from 'lycosa';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { type LogLine, quick } from './scrape.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lycosa-stops-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** A process whose log is kept. */
function logged(settings: SettingsInput): { crawls: CrawlerProcess; log: LogLine[] } {
  const log: LogLine[] = [];
  const logger = createLogger({
    level: 'DEBUG',
    format: 'json',
    destination: { write: (line: string) => void log.push(JSON.parse(line) as LogLine) },
  });
  return { crawls: new CrawlerProcess({ settings: { ...quick, ...settings }, logger }), log };
}

test('SIGTERM does not wait for requests behind a delay: the process is gone and they are back in the job', async () => {
  await using site = await startSite({ '*': '<p>page</p>' });
  const script = fileURLToPath(new URL('./stop-crawl.ts', import.meta.url));
  const child = spawn(process.execPath, ['--conditions=lycosa-source', script, site.url, folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (data) => (output += String(data)));
  while (site.requests.length === 0) await sleep(5);
  // Let its answer arrive.
  await sleep(200);
  const begin = performance.now();
  child.kill('SIGTERM');
  const [code] = (await once(child, 'exit')) as [number | null];
  expect(performance.now() - begin).toBeLessThan(2000);
  expect({ code, output }).toEqual({ code: 0, output: 'shutdown' });
  const job = await readJob(folder);
  expect(site.requests.length + job.pending[0]!.count).toBe(17);
  expect(job).toMatchObject({ runs: 1, seen: 17, setAside: 0 });
  expect(job.stats).toMatchObject({ 'account/done': site.requests.length });
});

class StuckSpider extends Spider {
  static override readonly name = 'stuck';
  static url = '';
  static isStuck = true;
  override *start(): SpiderOutput {
    yield new Request(`${StuckSpider.url}/`, { callback: this.parseForever });
  }
  async *parseForever(): SpiderOutput {
    if (StuckSpider.isStuck) await new Promise(() => {});
    yield { page: 1 };
  }
}

test('a stop that takes long names what is held, and a fast one gives up a callback that never returns', async () => {
  await using site = await startSite({ '/': '<p>page</p>' });
  StuckSpider.url = site.url;
  StuckSpider.isStuck = true;
  const { crawls, log } = logged({ SHUTDOWN_TIMEOUT: 0.1, JOBDIR: folder });
  await using _ = crawls;
  const running = crawls.crawl(StuckSpider);
  while (site.requests.length === 0) await sleep(5);
  await sleep(50);
  // It becomes a fast one by itself, and that one does not wait for ever.
  crawls.stop();
  const result = await running;
  expect(result).toMatchObject({ reason: 'shutdown', ok: false });
  expect(result.stats).toMatchObject({ 'account/scheduled': 1, 'account/left': 1 });
  const held = log.filter((line) => line.msg.includes('Still held'));
  expect(held.map((line) => line.msg)).toEqual([
    `Closing takes longer than 0.1 s. Still held: <GET ${site.url}/> in parseForever`,
  ]);

  StuckSpider.isStuck = false;
  const again = await logged({ JOBDIR: folder }).crawls.crawl(StuckSpider);
  expect(again).toMatchObject({ reason: 'finished', ok: true });
  expect(again.stats).toMatchObject({ item_scraped_count: 1, 'account/done': 1 });
});

test('a transfer that never ends is broken off by a fast stop, and its request is in the job', async () => {
  await using site = await startSite({ '/': () => new Promise<never>(() => {}) });
  StuckSpider.url = site.url;
  const { crawls } = logged({ JOBDIR: folder });
  await using _ = crawls;
  const running = crawls.crawl(StuckSpider);
  while (site.requests.length === 0) await sleep(5);
  crawls.stop('fast');
  expect(await running).toMatchObject({ reason: 'shutdown', ok: false });
  expect((await readJob(folder)).pending.map(({ count }) => count)).toEqual([1]);
});
