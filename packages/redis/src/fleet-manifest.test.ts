import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { readManifest } from './fleet-manifest.ts';

test('spiders are found by the text of their files, which are not imported', async () => {
  const root = await mkdtemp(join(tmpdir(), 'lycosa-manifest-'));
  await mkdir(join(root, 'spiders', 'shops'), { recursive: true });
  const files: Readonly<Record<string, string>> = {
    'a.ts': `throw new Error('imported');
      export class A extends Spider { static override readonly name = 'a'; }
      export class B extends Spider<Item> { static readonly name: string = "b-2"; }`,
    'shops/c.js': 'class C extends A { static name = `c`; }',
    'a.test.ts': "class T extends Spider { static override readonly name = 'test'; }",
    'computed.ts': 'class D extends Spider { static override readonly name = `d-${1}`; }',
    'text.txt': "static name = 'text'",
  };
  for (const [name, text] of Object.entries(files))
    await writeFile(join(root, 'spiders', name), text);
  const manifest = await readManifest(root);
  expect(Object.fromEntries(manifest)).toEqual({
    a: join(root, 'spiders/a.ts'),
    'b-2': join(root, 'spiders/a.ts'),
    c: join(root, 'spiders/shops/c.js'),
  });
  expect((await readManifest(root, ['spiders/shops/c.js', 'nowhere'])).size).toBe(1);
  await rm(root, { recursive: true });
});
