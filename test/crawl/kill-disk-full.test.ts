import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { type Site, startSite } from '@lycosa/site';
import { afterAll, beforeAll, expect, test } from 'vitest';

const pages = 400;
let folder: string;
let site: Site;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lycosa-full-'));
  site = await startSite({
    '*': ({ url }) => {
      const id = Number(url.slice(1));
      const links = [2 * id + 1, 2 * id + 2].filter((child) => child < pages);
      const text = `page ${id} `.repeat(50);
      return `<p>${text}</p>${links.map((child) => `<a href="/${child}">${child}</a>`).join('')}`;
    },
  });
});
afterAll(async () => {
  await site[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

interface Outcome {
  readonly reason: string;
  readonly ok: boolean;
  readonly error?: string;
  readonly log: string[];
}

/** A crawl in a process that may write no file longer than `limit` kB. */
function crawlWithin(limit: number | 'unlimited', feed: string): Promise<Outcome> {
  const script = fileURLToPath(new URL('./job-crawl.ts', import.meta.url));
  return new Promise((resolve) => {
    execFile(
      'bash',
      [
        '-c',
        'ulimit -f $0; exec "$@"',
        String(limit),
        process.execPath,
        '--conditions=lycosa-source',
        script,
        site.url,
        join(folder, `job-${feed}`),
        join(folder, feed),
      ],
      (_, stdout, stderr) => {
        resolve({
          ...(JSON.parse(stdout) as Outcome),
          log: stderr.split('\n').filter((line) => line.includes('ERROR')),
        });
      },
    );
  });
}

test.each([
  ['early', 120],
  ['later', 200],
  ['when all is but done', 300],
])(
  'a disk that is full %s ends the crawl, named once, and the next run completes it',
  async (name, limit) => {
    const feed = `${name.replaceAll(' ', '-')}.jsonl`;
    const full = await crawlWithin(limit, feed);
    expect(full.ok).toBe(false);
    expect(full.error).toMatch(/cannot be written|could not be written/);
    expect(full.log.length).toBeGreaterThan(0);
    const told = full.log.map((line) => line.replace(/^\S+ \S+ /, ''));
    expect(new Set(told).size).toBe(told.length);
    expect(full.log.filter((line) => line.includes(full.error!))).toHaveLength(1);

    expect(await crawlWithin('unlimited', feed)).toMatchObject({ ok: true, reason: 'finished' });
    const lines = readFileSync(join(folder, feed), 'utf8').trim().split('\n');
    const paths = new Set(lines.map((line) => (JSON.parse(line) as { path: string }).path));
    expect(paths.size).toBe(pages);
  },
);
