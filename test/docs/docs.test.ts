import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { defaultSettings } from 'lycosa';
import { describe, expect, it } from 'vitest';

import { codes, pages, readPage, root, section, sources, tableRows } from './markdown.ts';

const run = promisify(execFile);
const texts = sources();
const firstCodes = (text: string): string[] => tableRows(text).map(([cell]) => codes(cell!)[0]!);
const sorted = (names: Iterable<string>): string[] => [...new Set(names)].toSorted();

/** The first group of every match in the sources. */
function found(pattern: RegExp): string[] {
  return texts.flatMap((text) => [...text.matchAll(pattern)].map(([, name]) => name!));
}

describe('docs/settings.md', () => {
  const rows = tableRows(readPage('settings.md')).filter(([name]) => /^`[A-Z\d_]+`$/.test(name!));

  it('has one line for every setting, and none for others', () => {
    expect(rows.map(([name]) => codes(name!)[0]!).toSorted()).toEqual(
      Object.keys(defaultSettings).toSorted(),
    );
  });

  it('shows the default, a unit and a meaning', () => {
    for (const [name, value, unit, meaning] of rows) {
      const setting = codes(name!)[0]!;
      const shown = JSON.stringify(defaultSettings[setting as keyof typeof defaultSettings]);
      expect(`${setting} ${codes(value!)[0]}`).toBe(`${setting} ${shown ?? 'undefined'}`);
      expect(`${setting} ${unit}`).toMatch(/ \S/);
      expect(`${setting} ${meaning}`).toMatch(/ \S.*\.$/);
    }
  });
});

describe('docs/signals.md', () => {
  const rows = tableRows(section(readPage('signals.md'), '## The signals'));
  const map = readFileSync(join(root, 'packages/core/src/signals/signal-map.ts'), 'utf8');
  const entries = map
    .slice(map.indexOf('interface SignalMap {'))
    .matchAll(/\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s+(\w+): (object|\{[^}]*\});/g);
  const signals = [...entries].map(([, doc, name, event]) => ({
    name: name!,
    fields: [...event!.matchAll(/(\w+):/g)].map(([, field]) => field!),
    isAwaited: doc!.includes('Awaited'),
  }));

  it('has one line for every signal, and none for others', () => {
    expect(signals.length).toBeGreaterThan(20);
    expect(rows.map(([name]) => codes(name!)[0]!).toSorted()).toEqual(
      signals.map(({ name }) => name).toSorted(),
    );
  });

  it('says what each event holds and whether it is awaited', () => {
    for (const { name, fields, isAwaited } of signals) {
      const [, event, awaited] = rows.find(([cell]) => cell === `\`${name}\``)!;
      expect({ name, fields: codes(event!), awaited }).toEqual({
        name,
        fields,
        awaited: isAwaited ? 'yes' : 'no',
      });
    }
  });
});

describe('docs/stats.md', () => {
  const documented = firstCodes(readPage('stats.md'));
  const counted = texts.flatMap(statKeys);

  it('has a line for every stat that the sources count', () => {
    expect(counted.length).toBeGreaterThan(50);
    const missing = counted.filter((key) => !documented.some((name) => isSame(key, name)));
    expect(sorted(missing)).toEqual([]);
  });

  it('has no line for a stat that nobody counts', () => {
    expect(documented.filter((name) => !counted.some((key) => isSame(key, name)))).toEqual([]);
  });
});

/** Keys of `stats.inc(…)`, `set`, `max` and `min`; `*` stands for what is only known when it runs. */
function statKeys(text: string): string[] {
  const keys: string[] = [];
  const literal = /(['`])((?:(?!\1)[^\\])+)\1/;
  for (const [, argument] of text.matchAll(
    /stats[!?]?\.(?:inc|set|max|min)\(\s*([^;]*?\s*[,)])/g,
  )) {
    const direct = literal.exec(argument!)?.[2];
    if (direct !== undefined) {
      keys.push(direct);
      continue;
    }
    const variable = /^(\w+)[,)]/.exec(argument!)?.[1];
    const assigned = new RegExp(`\\b${variable} = (['\`])([^'\`]+)\\1`).exec(text)?.[2];
    // The collector itself hands on what it is given.
    if (assigned !== undefined) keys.push(assigned);
  }
  return keys.map((key) => key.replaceAll(/\$\{[^}]+\}/g, '*'));
}

function isSame(key: string, documented: string): boolean {
  const pattern = key
    .split('*')
    .map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`))
    .join('(?:[^/]+)');
  return new RegExp(`^${pattern}$`).test(documented);
}

describe('docs/commands.md', () => {
  const page = readPage('commands.md');
  const help = async (...args: string[]): Promise<string> => {
    const { stdout } = await run(process.execPath, [
      '--conditions=lycosa-source',
      join(root, 'packages/cli/src/bin.ts'),
      ...args,
      '--help',
    ]);
    return stdout;
  };
  const options = (text: string): string[] =>
    [...text.matchAll(/^ +(?:-\w, +)?(--[\w-]+) /gm)].map(([, name]) => name!);
  const documented = (heading: string): string[] =>
    tableRows(section(page, heading)).map(([cell]) => /--[\w-]+/.exec(cell!)![0]);

  it('has a section for every command with a line for every option', async () => {
    const overview = await help();
    const commands = [...overview.matchAll(/^ {2}lycosa (\w+)/gm)].map(([, name]) => name!);
    const headings = [...page.matchAll(/^## ([a-z]\w*)$/gm)].map(([, name]) => name!);
    expect(headings.toSorted()).toEqual(commands.toSorted());

    const global = options(overview);
    expect(documented('## Options of every command').toSorted()).toEqual(global.toSorted());
    const helps = await Promise.all(commands.map((name) => help(name)));
    for (const [at, name] of commands.entries()) {
      const own = options(helps[at]!).filter((option) => !global.includes(option));
      expect({ name, options: documented(`## ${name}`).toSorted() }).toEqual({
        name,
        options: own.toSorted(),
      });
    }
  });
});

describe('docs/errors.md', () => {
  const page = readPage('errors.md');

  it('has a line for every error code', () => {
    const thrown = [
      ...found(/super\(\s*'(ERR_[A-Z_]+)'/g),
      ...found(/new LycosaError\(\s*'(ERR_[A-Z_]+)'/g),
    ];
    expect(firstCodes(section(page, '## Error codes')).toSorted()).toEqual(sorted(thrown));
  });

  it('has a line for every close reason', () => {
    const given = [
      ...found(/closeSpider\([^);]*?'(\w+)'/g),
      ...found(/closeSpider\(reason = '(\w+)'/g),
      ...found(/\breason: '(\w+)', ok/g),
      ...found(/reason: '(bootstrap_failed)'/g),
      'start_error',
      'finished',
    ];
    expect(firstCodes(section(page, '## Close reasons')).toSorted()).toEqual(sorted(given));
  });

  it('has a line for every cause of a dropped request', () => {
    const causes = [
      ...found(/\.dropped\(\w+, '([\w-]+)'/g),
      ...found(/new IgnoreRequest\([^;]*?,\s*'([\w-]+)',?\s*\)/g),
      ...found(/dropCause = '([\w-]+)'/g),
    ];
    expect(firstCodes(section(page, '## Causes of dropped requests')).toSorted()).toEqual(
      sorted(causes),
    );
  });

  it('has a line for every exit code', () => {
    const [codesText] = found(/export type ExitCode = ([^;]+);/g);
    const table = section(page, '## Exit codes').matchAll(/^\| (\d+) /gm);
    expect([...table].map(([, code]) => code)).toEqual(codesText!.split(' | '));
  });
});

describe('links', () => {
  it('lead to pages and headings that exist', () => {
    const broken: string[] = [];
    for (const page of pages) {
      for (const [, target] of readPage(page).matchAll(/\]\(([^)]+)\)/g)) {
        if (/^https?:/.test(target!)) continue;
        const [file, anchor] = target!.split('#', 2);
        const exists = file === '' || existsSync(join(root, 'docs', file!));
        if (!exists || (anchor && !anchors(file || page).includes(anchor))) {
          broken.push(`${page}: ${target}`);
        }
      }
    }
    expect(broken).toEqual([]);
  });
});

/** Headings as they are linked to. */
function anchors(page: string): string[] {
  return [...readPage(page).matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, '')
      .replaceAll(/\s/g, '-'),
  );
}
