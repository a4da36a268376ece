import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { afterEach, beforeEach, expect, test } from 'vitest';

import { SpiderLoader } from './spider-loader.ts';

const spiderModule = pathToFileURL(join(import.meta.dirname, '../spider/spider.ts')).href;
const spider = (className: string, name: string): string =>
  `export class ${className} extends Spider { static name = '${name}'; }\n`;
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lycosa-loader-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

function write(file: string, text: string): void {
  writeFileSync(join(folder, file), `import { Spider } from '${spiderModule}';\n${text}`);
}

test('finds spiders by their names; a class without one is a base for others', async () => {
  write(
    'a.mjs',
    `${spider('B', 'beta')}export class Base extends Spider {}\n${spider('A', 'alpha')}`,
  );
  write('a.test.mjs', spider('C', 'not-me'));
  const loader = await SpiderLoader.load(folder, '.');
  expect(loader.list()).toEqual(['alpha', 'beta']);
  expect(loader.load('alpha').name).toBe('alpha');
  expect(() => loader.load('alhpa')).toThrow('Did you mean alpha?');
});

test('two spiders of one name are told with both files', async () => {
  write('one.mjs', spider('A', 'same'));
  write('two.mjs', spider('B', 'same'));
  await expect(SpiderLoader.load(folder, '.')).rejects.toThrow(
    /"same": in one\.mjs and in two\.mjs/,
  );
});

test('a file that cannot be imported is an error, or a warning where that is wanted', async () => {
  write('good.mjs', spider('A', 'good'));
  write('bad.mjs', 'import "./missing.mjs";');
  await expect(SpiderLoader.load(folder, '.')).rejects.toThrow('bad.mjs cannot be imported');
  const warnings: string[] = [];
  const loader = await SpiderLoader.load(folder, '.', (error) => warnings.push(error.message));
  expect(loader.list()).toEqual(['good']);
  expect(warnings).toHaveLength(1);
});

test('runspider takes the last spider of a file as it is written', async () => {
  write('many.mjs', spider('Zebra', 'first') + spider('Ant', 'last'));
  expect((await SpiderLoader.loadFile(join(folder, 'many.mjs'))).name).toBe('last');
  write('none.mjs', 'export const x = 1;');
  await expect(SpiderLoader.loadFile(join(folder, 'none.mjs'))).rejects.toThrow(
    'exports no spider',
  );
});
