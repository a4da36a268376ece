import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import {
  CloseSpider,
  type Crawler,
  readJob,
  repairJob,
  Request,
  Spider,
  type SpiderOutput,
} from 'lycosa';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { crawl } from './scrape.ts';

const count = 3000;
const pageSize = 4096;
let base: string;
let whole: string;
let made = 0;

/** Leaves thousands of requests for 30 sites in its job and makes none of them. */
class LeavingSpider extends Spider {
  static override readonly name: string = 'leaving';
  override readonly startUrls = ['data:,start'];
  override *parse(): SpiderOutput {
    for (let id = 0; id < count; id++)
      yield new Request(`http://site-${id % 30}.test/some/path/to/a/page-${id}.html`);
    throw new CloseSpider('enough');
  }
}

beforeAll(async () => {
  base = mkdtempSync(join(tmpdir(), 'lycosa-damaged-'));
  whole = join(base, 'whole');
  await crawl(LeavingSpider, { JOBDIR: whole });
});
afterAll(() => {
  rmSync(base, { recursive: true, force: true });
});

/** A copy of the job, and its file. */
function copyJob(): { folder: string; file: string } {
  const folder = join(base, `copy-${made++}`);
  cpSync(whole, folder, { recursive: true });
  return { folder, file: join(folder, 'job.sqlite') };
}

async function pendingOf(folder: string): Promise<number> {
  const { pending } = await readJob(folder);
  return pending.reduce((sum, one) => sum + one.count, 0);
}

test.each([
  ['a page zeroed', (bytes: Buffer) => bytes.fill(0, 40 * pageSize, 41 * pageSize)],
  ['its last page cut off', (bytes: Buffer) => bytes.subarray(0, -pageSize)],
  ['its last 1,000 bytes cut off', (bytes: Buffer) => bytes.subarray(0, -1000)],
  [
    'noise in its middle',
    (bytes: Buffer) => bytes.fill('noise', 70 * pageSize - 500, 70 * pageSize + 500),
  ],
])(
  'a job with %s is refused with the way out, and repaired but for what the damage held',
  async (_, damage) => {
    const { folder, file } = copyJob();
    writeFileSync(file, damage(readFileSync(file)));
    const { result } = await crawl(LeavingSpider, { JOBDIR: folder });
    expect(result).toMatchObject({ reason: 'bootstrap_failed', ok: false });
    expect(result.error!.message).toContain(`lycosa job repair ${folder}`);

    const saved = await repairJob(folder);
    expect(existsSync(saved.damagedPath)).toBe(true);
    // Damage in an inner page of the tree hides a few leaves.
    expect(saved.requests).toBeGreaterThan(count / 2);
    expect(await pendingOf(folder)).toBe(saved.requests);
    expect(saved.seen).toBeGreaterThan(0);
    const again = await crawl(LeavingSpider, { JOBDIR: folder, CLOSESPIDER_TIMEOUT: 0.01 });
    expect(again.result.reason).not.toBe('bootstrap_failed');
    await expect(repairJob(folder)).rejects.toThrow('Move it away first');
  },
);

test('wherever bytes of the file are flipped, the job opens or says how to repair it', async () => {
  let state = 4711;
  const random = (below: number): number => (state = (state * 48271) % 2147483647) % below;
  let refused = 0;
  for (let round = 0; round < 12; round++) {
    const { folder, file } = copyJob();
    const bytes = readFileSync(file);
    for (let flip = 0; flip < 40; flip++) {
      const at = pageSize + random(bytes.length - pageSize);
      bytes[at] = bytes[at]! ^ (1 << random(8));
    }
    writeFileSync(file, bytes);
    let refusal: Error | undefined;
    try {
      await readJob(folder);
    } catch (thrown) {
      refusal = thrown as Error;
    }
    const says = refusal?.message.includes(`lycosa job repair ${folder}`) ?? true;
    expect(says).toBe(true);
    if (refusal === undefined) {
      rmSync(folder, { recursive: true });
      continue;
    }
    refused++;
    const { requests } = await repairJob(folder);
    expect(await pendingOf(folder)).toBe(requests);
    rmSync(folder, { recursive: true });
  }
  expect(refused).toBeGreaterThan(0);
});

test('a file that is no database at all is refused; one that is gone but for its log is too', async () => {
  const { folder, file } = copyJob();
  const size = statSync(file).size;
  writeFileSync(file, Buffer.alloc(size, 'not a database '));
  await expect(readJob(folder)).rejects.toThrow(`lycosa job clear ${folder}`);
  truncateSync(file);
  writeFileSync(`${file}-wal`, 'the log of what was here');
  const { result } = await crawl(LeavingSpider, { JOBDIR: folder });
  expect(result.error!.message).toContain('it is gone, and only job.sqlite-wal is left');
});

test('a killed job whose log was deleted says that something is lost', async () => {
  const { folder } = copyJob();
  const killed = join(base, 'killed');
  class CopyJob {
    static fromCrawler({ signals }: Crawler): CopyJob {
      signals.connect('spider_opened', () => {
        mkdirSync(killed, { recursive: true });
        // What is on the disk at this moment, as a kill would leave it.
        for (const name of ['job.sqlite', 'job.lock'])
          copyFileSync(join(folder, name), join(killed, name));
        throw new CloseSpider('enough');
      });
      return new CopyJob();
    }
  }
  await crawl(LeavingSpider, { JOBDIR: folder, EXTENSIONS: [[CopyJob, 0]] });
  const { result, log } = await crawl(LeavingSpider, { JOBDIR: killed, CLOSESPIDER_TIMEOUT: 0.01 });
  expect(result.reason).not.toBe('bootstrap_failed');
  expect(log.filter((line) => line.msg.includes('job.sqlite-wal was deleted'))).toHaveLength(1);
});

test('a job is not taken up by another spider', async () => {
  const { folder } = copyJob();
  class OtherSpider extends LeavingSpider {
    static override readonly name = 'other';
  }
  const { result } = await crawl(OtherSpider, { JOBDIR: folder });
  expect(result.reason).toBe('bootstrap_failed');
  expect(result.error!.message).toContain('is of the spider "leaving", not of other');
  expect(await pendingOf(folder)).toBe(count);
});

test('a folder that cannot be made or written to is named with what to do', async () => {
  const file = join(base, 'a-file');
  writeFileSync(file, '');
  for (const folder of [file, join(file, 'job')]) {
    const { result } = await crawl(LeavingSpider, { JOBDIR: folder });
    expect(result.reason).toBe('bootstrap_failed');
    expect(result.error!.message).toMatch(
      /cannot be opened as a job: .* JOBDIR must name a folder that can be written to/,
    );
  }
});
