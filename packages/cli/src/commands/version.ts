import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { arch, platform, release } from 'node:os';
import { dirname, join } from 'node:path';

import type { Command } from '../cli.ts';
import type { GlobalOptions } from '../options.ts';

interface Options extends GlobalOptions {
  readonly verbose?: boolean;
}

export const versionCommand: Command<Options> = {
  builder: (parser) =>
    parser.option('verbose', {
      alias: 'v',
      type: 'boolean',
      describe: 'With the versions of Node and of the libraries',
    }),

  async run({ verbose }) {
    if (!verbose) {
      printVersion();
      return 0;
    }
    const rows = versions();
    const width = Math.max(...rows.map(([name]) => name.length));
    for (const [name, value] of rows) console.log(`${name.padEnd(width)}  ${value}`);
    return 0;
  },
};

export function printVersion(): void {
  console.log(`Lycosa ${version()}`);
}

/** The version of this command. */
export function version(): string {
  return versionIn(new URL('../../package.json', import.meta.url));
}

function versions(): (readonly [name: string, version: string])[] {
  const own = createRequire(import.meta.url);
  const core = own.resolve('lycosa/package.json');
  const fromCore = createRequire(core);
  const library = (require: NodeJS.Require, name: string): readonly [string, string] => [
    name,
    libraryVersion(require, name),
  ];
  return [
    ['@lycosa/cli', version()],
    ['lycosa', versionIn(core)],
    ['Node', process.version.slice(1)],
    ['V8', process.versions.v8],
    ['OpenSSL', process.versions.openssl],
    ['Platform', `${platform()} ${release()} ${arch()}`],
    ...['undici', 'cheerio', 'pino', 'tough-cookie'].map((name) => library(fromCore, name)),
    library(own, 'yargs'),
  ];
}

/** Not every package lets its package.json be imported: it is found above what it does. */
function libraryVersion(require: NodeJS.Require, name: string): string {
  try {
    for (
      let folder = dirname(require.resolve(name));
      folder !== dirname(folder);
      folder = dirname(folder)
    ) {
      const manifest = readManifest(join(folder, 'package.json'));
      if (manifest?.name === name) return manifest.version ?? 'unknown';
    }
  } catch {
    // Told below.
  }
  return 'not found';
}

function versionIn(file: string | URL): string {
  return readManifest(file)?.version ?? 'unknown';
}

function readManifest(file: string | URL): { name?: string; version?: string } | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as { name?: string; version?: string };
  } catch {
    return undefined;
  }
}
