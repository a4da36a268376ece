import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { startSite } from '@lycosa/site';
import { afterAll, expect, it } from 'vitest';

import { codeBlocks, readPage, root } from './markdown.ts';
import { quotesSite } from './quotes-site.ts';

const temp = mkdtempSync(join(tmpdir(), 'lycosa-tutorial-'));
afterAll(() => rmSync(temp, { recursive: true, force: true }));

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the command line from its sources. */
function lycosa(args: readonly string[], cwd: string): Promise<Outcome> {
  return new Promise((resolve) => {
    const bin = join(root, 'packages/cli/src/bin.ts');
    const child = execFile(
      process.execPath,
      ['--conditions=lycosa-source', bin, ...args],
      { cwd },
      (_, stdout, stderr) => resolve({ code: child.exitCode ?? -1, stdout, stderr }),
    );
  });
}

interface Typed extends Outcome {
  readonly line: string;
  /** What is in the feed after it. */
  readonly feed: string;
}

/** Types the tutorial in, with a copy of the site in place of the site. */
async function typeIn(url: string): Promise<{ readonly typed: Typed[]; readonly folder: string }> {
  const typed: Typed[] = [];
  let folder = temp;
  for (const { language, code, file } of codeBlocks(readPage('tutorial.md'))) {
    if (language === 'ts') {
      mkdirSync(dirname(join(folder, file!)), { recursive: true });
      writeFileSync(join(folder, file!), takesSite(code) ? code : moved(code, url));
    } else if (language === 'sh') {
      for (const line of code.trim().split('\n')) {
        const words = line.split(' ');
        const [program, command] = words;
        if (program === 'cd') folder = join(folder, command!);
        // A project made by a checkout is linked to it.
        else if (line === 'npm install') continue;
        else if (line.startsWith('npm create lycosa ')) {
          typed.push({ line, feed: '', ...(await lycosa(['startproject', words[3]!], folder)) });
        } else typed.push(await typeCommand(line, folder, url));
      }
    }
  }
  return { typed, folder };
}

async function typeCommand(line: string, folder: string, url: string): Promise<Typed> {
  const [npx, program, command, ...args] = line.split(' ');
  if (npx !== 'npx' || program !== 'lycosa') throw new Error(`${line} is no command for here.`);
  if (command === 'crawl') {
    const spider = readFileSync(join(folder, 'spiders', `${args[0]}.ts`), 'utf8');
    if (takesSite(spider)) args.push('-a', `site=${url}`);
    // The waits of politeness are somebody else's test.
    args.push('-s', 'AUTOTHROTTLE_ENABLED=false');
  }
  const outcome = await lycosa([command!, ...args], folder);
  const output = args[args.indexOf('-O') + 1]!;
  const isFeed = args.includes('-O') && existsSync(join(folder, output));
  return { line, feed: isFeed ? readFileSync(join(folder, output), 'utf8') : '', ...outcome };
}

function takesSite(code: string): boolean {
  return code.includes('this.args.site') || !code.includes('extends Spider');
}

function moved(code: string, url: string): string {
  return code
    .replaceAll('https://quotes.toscrape.com', url)
    .replaceAll("'quotes.toscrape.com'", `'${new URL(url).hostname}'`);
}

function jsonLines(feed: string): unknown[] {
  return feed
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);
}

it('the tutorial works when it is typed in', { timeout: 120_000 }, async () => {
  await using site = await startSite(quotesSite());
  const { typed, folder } = await typeIn(site.url);
  const problems = typed.filter(({ code, line }) => code !== (line.includes('ITEMCOUNT') ? 4 : 0));
  expect(problems).toEqual([]);

  const [, , list, first, all, humor, authors, setting, some, ...rest] = typed;
  expect(rest).toEqual([]);
  expect(list!.stdout).toBe('quotes\n');
  expect(jsonLines(first!.feed)).toHaveLength(10);
  expect(jsonLines(first!.feed)[0]).toEqual({
    text: '“Quote, number 1”',
    author: 'Author 1',
    tags: ['humor', 'life'],
  });
  expect(jsonLines(all!.feed)).toHaveLength(100);
  const rows = humor!.feed.trim().split('\n');
  expect(rows[0]).toBe('text,author,tags');
  expect(rows).toHaveLength(13);
  expect(humor!.feed).not.toContain('“');
  const found = JSON.parse(authors!.feed) as Record<string, string>[];
  expect(found).toHaveLength(20);
  expect(found.find(({ name }) => name === 'Author 1')).toEqual({
    name: 'Author 1',
    born: 'May 1, 1900',
    foundOn: `${site.url}/`,
  });
  expect(setting!.stdout).toBe('0\n');
  expect(jsonLines(some!.feed)).toHaveLength(20);
  expect(readFileSync(join(folder, 'crawl.log'), 'utf8')).toContain('DEBUG');
});
