import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { CrawlerSlots, SlotRegistry } from '../downloader/slot-registry.ts';
import { Request, type RequestOptions } from '../http/request.ts';
import type { Logger } from '../log/logger.ts';
import { Spider } from '../spider/spider.ts';
import { StatsCollector } from '../stats/stats-collector.ts';
import { JobScheduler } from './job-scheduler.ts';
import { JobFile } from './job.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lycosa-job-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

class TestSpider extends Spider {
  parsePage(): void {}
}

async function build(order: 'lifo' | 'fifo' = 'lifo') {
  const slots = new CrawlerSlots(new SlotRegistry(), {
    concurrency: Infinity,
    delay: 0,
    jitter: 0,
    slots: {},
  });
  const job = await JobFile.open(folder);
  const beforeCommit = vi.fn<() => boolean>(() => true);
  const scheduler = new JobScheduler({
    job,
    order,
    slots,
    stats: new StatsCollector(),
    log: { info: () => {} } as unknown as Logger,
    onReady: () => {},
    beforeCommit,
    onError: (error) => {
      throw error;
    },
  });
  await scheduler.open(new TestSpider());
  const add = (url: string, options?: RequestOptions): boolean =>
    scheduler.enqueue(new Request(url, options)) === true;
  const close = async (): Promise<void> => {
    await scheduler.close();
    job.close();
  };
  return { scheduler, slots, job, add, beforeCommit, close };
}

test('what was not done is there in the next run, in the same order, and what was seen stays seen', async () => {
  const first = await build();
  first.add('http://a.test/start', { dontFilter: true, meta: { isStartRequest: true } });
  for (const page of [1, 2, 3])
    first.add(`http://a.test/${page}`, {
      meta: { page },
      cbKwargs: { page },
      callback: 'parsePage',
    });
  const done = first.scheduler.next(first.slots)!;
  expect(done.url).toBe('http://a.test/3');
  first.scheduler.done(done);
  first.scheduler.next(first.slots); // leased, and never done
  await first.close();

  const second = await build();
  expect(second.scheduler.pending).toBe(3);
  expect(second.add('http://a.test/3')).toBe(false);
  expect(
    second.add('http://a.test/start', { dontFilter: true, meta: { isStartRequest: true } }),
  ).toBe(false);
  const urls: unknown[] = [];
  for (
    let next = second.scheduler.next(second.slots);
    next;
    next = second.scheduler.next(second.slots)
  ) {
    urls.push([next.url, next.callback, next.meta.page, next.cbKwargs?.page]);
  }
  expect(urls).toEqual([
    ['http://a.test/2', 'parsePage', 2, 2],
    ['http://a.test/1', 'parsePage', 1, 1],
    ['http://a.test/start', undefined, undefined, undefined],
  ]);
  await second.close();
});

test.each(['lifo', 'fifo'] as const)(
  '%s: thousands beyond the window come in order, each once',
  async (order) => {
    const { scheduler, slots, add, close } = await build(order);
    const count = 7000;
    for (let i = 0; i < count; i++) add(`http://a.test/${i}`, { priority: i % 3 });
    const got: number[] = [];
    // New ones are added while the old are taken, and some are given back.
    let returned = 0;
    for (let next = scheduler.next(slots); next; next = scheduler.next(slots)) {
      const id = Number(next.url.split('/').pop());
      if (id % 1000 === 7 && returned < 7 && !got.includes(-id)) {
        got.push(-id);
        returned++;
        scheduler.release(next);
        continue;
      }
      got.push(id);
      scheduler.done(next);
      if (got.length % 500 === 0) await scheduler.commit();
    }
    const served = got.filter((id) => id >= 0);
    expect(new Set(served).size).toBe(count);
    expect(served).toHaveLength(count);
    for (let i = 1; i < served.length; i++) {
      expect(served[i]! % 3).toBeLessThanOrEqual(served[i - 1]! % 3);
    }
    await close();
  },
);

test('among thousands of slots each request comes once and in the order of priorities, over two runs', async () => {
  const hosts = 2000;
  const perHost = 4;
  let run = await build();
  // Priorities in no order, so that the best of a slot is rarely the last that came.
  const priorityOf = (host: number, page: number): number => (host * 7 + page * 5) % 11;
  for (let page = 0; page < perHost; page++)
    for (let host = 0; host < hosts; host++)
      run.add(`http://h${host}.test/${page}`, { priority: priorityOf(host, page) });
  const got: string[] = [];
  let priority = Infinity;
  let returned = 0;
  let left: number | undefined;
  for (let next = run.scheduler.next(run.slots); next; next = run.scheduler.next(run.slots)) {
    expect(next.priority).toBeLessThanOrEqual(priority);
    ({ priority } = next);
    if (got.length % 1000 === 500 && returned++ < 3) {
      run.scheduler.release(next);
      continue;
    }
    got.push(next.url);
    run.scheduler.done(next);
    if (got.length % 2500 === 0) await run.scheduler.commit();
    if (got.length === 3000) {
      await run.close();
      run = await build();
      left = run.scheduler.pending;
    }
  }
  expect(left).toBe(hosts * perHost - 3000);
  expect(new Set(got).size).toBe(hosts * perHost);
  expect(got).toHaveLength(hosts * perHost);
  await run.close();
});

test('a request waits its rest in the next run', async () => {
  const first = await build();
  const due = Date.now() + 60_000;
  first.add('http://a.test/later', { notBefore: due });
  await first.close();
  const second = await build();
  expect(second.scheduler.next(second.slots)).toBeUndefined();
  expect(second.scheduler.nextDue).toBe(due);
  await second.close();
});

test('a second process is told who holds the job', async () => {
  const first = await build();
  await expect(JobFile.open(folder)).rejects.toThrow(`process ${process.pid}`);
  await first.close();
});

test('a file of a newer format is refused with the way out', async () => {
  const first = await build();
  await first.close();
  const db = new DatabaseSync(join(folder, 'job.sqlite'));
  db.exec('PRAGMA user_version = 99');
  db.close();
  await expect(JobFile.open(folder)).rejects.toThrow('newer Lycosa');
});

test('a done request is forgotten only after what it led to is safe', async () => {
  const { scheduler, slots, add, beforeCommit, job, close } = await build();
  add('http://a.test/1');
  scheduler.done(scheduler.next(slots)!);
  beforeCommit.mockImplementationOnce(() => {
    expect(job.slots()).toEqual([{ slot: 'a.test', count: 1, priority: 0 }]);
    return true;
  });
  await scheduler.commit();
  expect(beforeCommit).toHaveBeenCalled();
  expect(job.slots()).toEqual([]);
  await close();
});
