import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { fakeCrawler } from '../../../../test/fake-crawler.ts';
import { NotConfigured, SettingsError } from '../errors.ts';
import { buildComponents, mergeComponents, resolveComponents } from './component.ts';
import type { Crawler } from './crawler.ts';

class First {}
class Second {}
class Third {}

test('components come in the order of their numbers', () => {
  const merged = mergeComponents<object>(
    [
      [First, 100],
      [Third, 300],
    ],
    [[Second, 200]],
  );
  expect(merged).toEqual([
    [First, 100],
    [Second, 200],
    [Third, 300],
  ]);
});

test('a class named again moves, and null takes it out', () => {
  const merged = mergeComponents<object>(
    [
      [First, 100],
      [Second, 200],
    ],
    [
      [First, 300],
      [Second, null],
    ],
  );
  expect(merged).toEqual([[First, 300]]);
});

test('a component is built by fromCrawler where it has one, else without arguments', () => {
  class Configured {
    static fromCrawler(crawler: Crawler): Configured {
      return new Configured(crawler.settings.get('RETRY_TIMES'));
    }

    readonly times: number;

    constructor(times: number) {
      this.times = times;
    }
  }
  const { crawler } = fakeCrawler({ settings: { RETRY_TIMES: 7 } });
  const built = buildComponents<object>(
    [
      [First, 1],
      [Configured, 2],
    ],
    crawler,
  );
  expect(built).toEqual([new First(), new Configured(7)]);
});

test('what is not configured is left out, and says why where it has something to say', () => {
  class Unwanted {
    constructor() {
      throw new NotConfigured();
    }
  }
  class Incomplete {
    constructor() {
      throw new NotConfigured('it needs a folder');
    }
  }
  const { crawler, lines } = fakeCrawler();
  expect(
    buildComponents(
      [
        [Unwanted, 1],
        [Incomplete, 2],
      ],
      crawler,
    ),
  ).toEqual([]);
  expect(lines).toEqual([expect.stringContaining('WARNING: Incomplete is off: it needs a folder')]);
});

test('any other error while building ends it', () => {
  class Broken {
    constructor() {
      throw new TypeError('broken');
    }
  }
  expect(() => buildComponents([[Broken, 1]], fakeCrawler().crawler)).toThrow('broken');
});

test('a text stands for the class it names, seen from the project', async () => {
  const root = mkdtempSync(join(tmpdir(), 'lycosa-components-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  writeFileSync(join(root, 'auth.mjs'), 'export class Auth {}');
  const [entry] = await resolveComponents<object>([['./auth.mjs#Auth', 5]], root);
  expect([entry?.[0].name, entry?.[1]]).toEqual(['Auth', 5]);
  await expect(resolveComponents([['./auth.mjs#Other', 1]], root)).rejects.toThrow(
    'names no class: ./auth.mjs exports Auth',
  );
  await expect(resolveComponents([['./absent.mjs#Auth', 1]], root)).rejects.toThrow(SettingsError);
});

test('a text may name a class of a package of the project', async () => {
  const root = mkdtempSync(join(tmpdir(), 'lycosa-components-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const folder = join(root, 'node_modules', 'only-here');
  mkdirSync(folder, { recursive: true });
  const manifest = { name: 'only-here', type: 'module', exports: { '.': './main.js' } };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  writeFileSync(join(folder, 'main.js'), 'export class Limit {}');
  const [entry] = await resolveComponents<object>([['only-here#Limit', 5]], root);
  expect(entry?.[0].name).toBe('Limit');
  await expect(resolveComponents([['only-there#Limit', 5]], root)).rejects.toThrow(
    '"only-there#Limit" cannot be imported',
  );
});

test('a list of bare classes is refused', async () => {
  await expect(resolveComponents([First] as never, '.')).rejects.toThrow('[Class, order] pairs');
});
