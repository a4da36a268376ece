import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { type Site, startSite } from '@lycosa/site';

const script = fileURLToPath(new URL('./job-crawl.ts', import.meta.url));

/**
 * A tree of `pages` pages with links back, some of which are redirects and some of which fail at first.
 *
 * @param delayMs - How long each answer takes.
 */
function treeSite(pages: number, delayMs: number): Promise<Site> {
  const failed = new Set<number>();
  return startSite({
    '*': async (request) => {
      await sleep(delayMs);
      const id = Number(request.url.slice(1));
      if (!Number.isInteger(id) || id < 0 || id >= pages) return { status: 404 };
      if (id % 17 === 5 && !failed.has(id)) {
        failed.add(id);
        return { status: 503 };
      }
      if (id % 23 === 7 && id + 1 < pages)
        return { status: 302, headers: { location: `/${id + 1}` } };
      const children = [3 * id + 1, 3 * id + 2, 3 * id + 3, Math.floor(id / 2), 0].filter(
        (n) => n < pages,
      );
      return `<p>page ${id}</p>${children.map((n) => `<a href="/${n}">${n}</a>`).join('')}`;
    },
  });
}

/** The paths that a whole crawl of `treeSite(pages)` yields. */
function expectedPaths(pages: number): Set<string> {
  const seen = new Set<number>();
  const found = new Set<string>();
  const todo = [0];
  for (let id = todo.pop(); id !== undefined; id = todo.pop()) {
    if (seen.has(id) || id >= pages) continue;
    seen.add(id);
    if (id % 23 === 7 && id + 1 < pages) {
      todo.push(id + 1);
      continue;
    }
    found.add(`/${id}`);
    todo.push(3 * id + 1, 3 * id + 2, 3 * id + 3);
  }
  return found;
}

export interface KillReport {
  readonly kills: number;
  /** Pages that are in no line of the feed, or in no batch of the other. */
  readonly lost: number;
  /** Requests beyond one for each page, redirect and failing answer. */
  readonly refetched: number;
  readonly failedResumes: number;
  readonly badLines: number;
  readonly lines: number;
  /** Files of the feed in batches of 50, and the most lines in one. */
  readonly batches: number;
  readonly largestBatch: number;
  /** Parts that nobody took up. */
  readonly leftParts: number;
}

/** Crawls the tree, killing the process `kills` times at random moments, and takes it up again until it is done. */
export async function killTest(options: {
  folder: string;
  pages: number;
  kills: number;
  seed: number;
  delayMs: number;
  lifeMs: number;
}): Promise<KillReport> {
  const { folder, pages, kills } = options;
  await using site = await treeSite(pages, options.delayMs);
  const feed = join(folder, 'pages.jsonl');
  let state = options.seed;
  const random = (): number => (state = (state * 48271) % 2147483647) / 2147483647;
  let killed = 0;
  let failedResumes = 0;
  for (let run = 0; run < kills + 20; run++) {
    const child = spawn(
      process.execPath,
      [
        '--conditions=lycosa-source',
        script,
        site.url,
        join(folder, 'job'),
        feed,
        join(folder, 'batches', '%(batch_id)05d.jsonl'),
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    const output = collect(child);
    const exit = new Promise<number | null>((resolve) => child.once('exit', resolve));
    if (killed < kills) {
      // From its first request on, so that kills fall into the crawl and not into the start of Node.
      const before = site.requests.length;
      while (site.requests.length === before && child.exitCode === null) await sleep(5);
      await sleep(random() * options.lifeMs);
      if (child.exitCode === null) {
        child.kill('SIGKILL');
        killed++;
      }
    }
    const code = await exit;
    if (code === 0 && (await output).includes('"finished"')) break;
    if (code !== null) failedResumes++;
  }
  const pagesOf = (lines: readonly string[]): Set<string> => {
    const paths = new Set<string>();
    for (const line of lines) {
      try {
        paths.add((JSON.parse(line) as { path: string }).path);
      } catch {
        badLines++;
      }
    }
    return paths;
  };
  let badLines = 0;
  const lines = linesOf(feed);
  const folderOfBatches = join(folder, 'batches');
  const batches = readdirSync(folderOfBatches)
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => linesOf(join(folderOfBatches, name)));
  const paths = pagesOf(lines);
  const batchedPaths = pagesOf(batches.flat());
  const lost = [...expectedPaths(pages)].filter(
    (path) => !paths.has(path) || !batchedPaths.has(path),
  ).length;
  const distinct = new Set(site.requests.map((request) => request.url)).size;
  const failing = [...new Set(site.requests.map((request) => Number(request.url.slice(1))))].filter(
    (id) => id % 17 === 5,
  ).length;
  return {
    kills: killed,
    lost,
    refetched: site.requests.length - distinct - failing,
    failedResumes,
    badLines,
    lines: lines.length,
    batches: batches.length,
    leftParts: readdirSync(folderOfBatches).filter((name) => name.endsWith('.part')).length,
    largestBatch: Math.max(...batches.map(({ length }) => length)),
  };
}

function linesOf(file: string): string[] {
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [];
}

async function collect(child: ChildProcess): Promise<string> {
  let text = '';
  for await (const chunk of child.stdout!) text += String(chunk);
  return text;
}
