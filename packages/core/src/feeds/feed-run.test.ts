import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { Crawler, type CrawlResult } from '../crawler/crawler.ts';
import { createLogger } from '../log/logger.ts';
import { Settings } from '../settings/settings.ts';
import { Spider, type SpiderOutput } from '../spider/spider.ts';

class Books extends Spider {
  static override readonly name = 'books';
  override readonly startUrls = ['data:text/plain,x'];

  override async *parse(): SpiderOutput {
    yield { title: this.args['title'] };
  }
}

async function crawl(root: string, attempt: number, mayStore: boolean): Promise<CrawlResult> {
  const settings = new Settings({ FEEDS: { '%(job)s.jsonl': { overwrite: true } } });
  const run = { job: 'books#1', attempt, mayStore: async () => mayStore };
  const log = createLogger({ level: 'OFF' });
  return new Crawler(Books, settings, { log, root, run }).crawl({ title: String(attempt) });
}

test('only the latest run of a job gives its feed the final name, and takes away what earlier ones left', async () => {
  const root = await mkdtemp(join(tmpdir(), 'feeds-'));
  const first = await crawl(root, 1, false);
  expect(first.ok).toBe(false);
  expect(first.error?.message).toContain('a later run of the same job has begun');
  expect(await readdir(root)).toEqual(['books#1.jsonl.attempt-1.part']);
  expect((await crawl(root, 12, true)).ok).toBe(true);
  expect(await readdir(root)).toEqual(['books#1.jsonl']);
  // One that was away for long changes nothing any more.
  await crawl(root, 2, false);
  expect(await readFile(join(root, 'books#1.jsonl'), 'utf8')).toBe('{"title":"12"}\n');
  await rm(root, { recursive: true });
});
