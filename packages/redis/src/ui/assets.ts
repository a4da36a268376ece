import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import * as nodeModule from 'node:module';

/** A file of the page. */
export interface Asset {
  readonly body: string;
  readonly type: string;
  readonly etag: string;
}

const types: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  js: 'text/javascript; charset=utf-8',
};

/** True in the sources, where Node and the browser get our files without a build. */
const isSource = import.meta.url.endsWith('.ts');
// The package has its sources with it: the same path leads there from `src/ui` and from `dist/ui`.
const sources = new URL('../../src/ui/page/', import.meta.url);

/** All files of the page by name, read once. */
export async function loadAssets(): Promise<ReadonlyMap<string, Asset>> {
  const assets = new Map<string, Asset>();
  for (const name of await readdir(sources)) {
    const type = types[name.split('.').at(-1)!];
    if (type) assets.set(name, assetOf(await readFile(new URL(name, sources), 'utf8'), type));
  }
  const scripts = isSource ? sources : new URL('./page/', import.meta.url);
  for (const name of await readdir(scripts)) {
    if (!/^[\w-]+\.[jt]s$/.test(name)) continue;
    const text = await readFile(new URL(name, scripts), 'utf8');
    const script = assetOf(
      name.endsWith('.ts') ? nodeModule.stripTypeScriptTypes(text) : text,
      types['js']!,
    );
    assets.set(name, script);
    if (name === 'main.ts') assets.set('main.js', script);
  }
  return assets;
}

function assetOf(body: string, type: string): Asset {
  const hash = createHash('sha256').update(body).digest('base64url').slice(0, 16);
  return { body, type, etag: `"${hash}"` };
}
