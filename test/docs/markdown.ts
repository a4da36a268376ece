import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root: string = fileURLToPath(new URL('../..', import.meta.url));

/** Names of the pages of the manual. */
export const pages: readonly string[] = readdirSync(join(root, 'docs')).filter((name) =>
  name.endsWith('.md'),
);

export function readPage(name: string): string {
  return readFileSync(join(root, 'docs', name), 'utf8');
}

/** A fenced block of a page. */
export interface CodeBlock {
  readonly language: string;
  /** Line of its fence, from 1. */
  readonly line: number;
  readonly code: string;
  /** The file that the first line names in a comment. */
  readonly file: string | undefined;
}

export function codeBlocks(page: string): CodeBlock[] {
  return [...page.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(
    ({ 1: language, 2: code, index }) => ({
      language: language!,
      line: page.slice(0, index).split('\n').length,
      code: code!,
      file: /^\/\/ ([\w./-]+\.ts)\n/.exec(code!)?.[1],
    }),
  );
}

/** The cells of each table row whose first cell begins with code. */
export function tableRows(text: string): string[][] {
  return [...text.matchAll(/^\| (`.*) \|$/gm)].map(([, row]) =>
    row!.split(/ *(?<!\\)\| */).map((cell) => cell.trim()),
  );
}

/** What stands between backticks. */
export function codes(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, code]) => code!);
}

/** The part of a page below a heading, up to the next of its level or above. */
export function section(page: string, heading: string): string {
  const level = /^#+/.exec(heading)![0].length;
  const start = page.indexOf(`\n${heading}\n`);
  if (start < 0) throw new Error(`There is no heading ${JSON.stringify(heading)}.`);
  const rest = page.slice(start + heading.length + 2);
  const end = rest.search(new RegExp(`^#{1,${level}} `, 'm'));
  return end < 0 ? rest : rest.slice(0, end);
}

/** Text of all source files of the packages, but for their tests. */
export function sources(): string[] {
  const texts: string[] = [];
  for (const name of readdirSync(join(root, 'packages'))) {
    const folder = join(root, 'packages', name, 'src');
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile() || !/(?<!\.test)\.ts$/.test(entry.name)) continue;
      texts.push(readFileSync(join(entry.parentPath, entry.name), 'utf8'));
    }
  }
  return texts;
}
