import { readdir, readFile, stat } from 'node:fs/promises';
import { relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

import { SpiderLoadError } from '../errors.ts';
import { nearest } from '../settings/nearest.ts';
import { Spider, type SpiderClass } from '../spider/spider.ts';

/** Finds spider classes by name in the files of a project. */
export class SpiderLoader {
  readonly #spiders = new Map<string, { readonly spider: SpiderClass; readonly file: string }>();

  /**
   * Imports all spider files below `paths`.
   *
   * @param root - Folder that `paths` are seen from.
   * @param onError - Takes files that cannot be imported, for `SPIDER_LOADER_WARN_ONLY`; absent, they throw.
   * @throws SpiderLoadError for a file that cannot be imported and for two spiders of one name.
   */
  static async load(
    root: string,
    paths: string | readonly string[] = './spiders',
    onError?: (error: SpiderLoadError) => void,
  ): Promise<SpiderLoader> {
    const loader = new SpiderLoader();
    for (const path of typeof paths === 'string' ? [paths] : paths) {
      for (const file of await spiderFiles(resolve(root, path))) {
        try {
          for (const spider of await spidersOf(file)) loader.#add(spider, relative(root, file));
        } catch (error) {
          if (!(error instanceof SpiderLoadError) || onError === undefined) throw error;
          onError(error);
        }
      }
    }
    return loader;
  }

  /** The last spider class of one file, as `runspider` takes it. */
  static async loadFile(path: string): Promise<SpiderClass> {
    const spiders = await spidersOf(resolve(path));
    const last = spiders.at(-1);
    if (last === undefined) {
      throw new SpiderLoadError(
        `${path} exports no spider. Write: export class MySpider extends Spider { static override readonly name = 'my'; … }`,
      );
    }
    return last;
  }

  /** Names of all spiders, sorted. */
  list(): string[] {
    return [...this.#spiders.keys()].toSorted();
  }

  /** @throws SpiderLoadError that names the nearest spider. */
  load(name: string): SpiderClass {
    const found = this.#spiders.get(name);
    if (found !== undefined) return found.spider;
    const near = nearest(name, this.list());
    const hint =
      near !== undefined
        ? `Did you mean ${near}?`
        : this.#spiders.size > 0
          ? 'lycosa list shows all.'
          : 'The project has no spiders yet: lycosa genspider makes one.';
    throw new SpiderLoadError(`There is no spider ${JSON.stringify(name)}. ${hint}`);
  }

  #add(spider: SpiderClass, file: string): void {
    const other = this.#spiders.get(spider.name);
    if (other !== undefined && other.spider !== spider) {
      throw new SpiderLoadError(
        `Two spiders are named ${JSON.stringify(spider.name)}: in ${other.file} and in ${file}. Give one another static name.`,
      );
    }
    this.#spiders.set(spider.name, { spider, file });
  }
}

async function spiderFiles(path: string): Promise<string[]> {
  const info = await stat(path).catch((cause: unknown) => {
    throw new SpiderLoadError(
      `The spiders folder ${path} does not exist. Make it, or set spiders in lycosa.config.ts.`,
      { cause },
    );
  });
  if (info.isFile()) return [path];
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && /\.[cm]?[jt]s$/.test(entry.name))
    .filter((entry) => !/\.d\.[cm]?ts$|\.(test|spec)\.[cm]?[jt]s$/.test(entry.name))
    .map((entry) => resolve(entry.parentPath, entry.name))
    .filter((file) => !file.includes('node_modules'))
    .toSorted();
}

async function spidersOf(file: string): Promise<SpiderClass[]> {
  let module: Record<string, unknown>;
  try {
    module = (await import(pathToFileURL(file).href)) as Record<string, unknown>;
  } catch (cause) {
    throw new SpiderLoadError(`${file} cannot be imported: ${importError(cause, file)}`, { cause });
  }
  // A module lists its exports by the alphabet; "the last spider of a file" is meant as it is written.
  const source = await readFile(file, 'utf8');
  const place = (name: string): number =>
    source.search(new RegExp(`class\\s+${name.replaceAll('$', '\\$')}\\b`));
  const exports = Object.entries(module).toSorted(([a], [b]) => place(a) - place(b));
  const spiders = new Set<SpiderClass>();
  for (const [, value] of exports) {
    if (isSpiderClass(value)) spiders.add(value);
    else if (isForeignSpider(value)) {
      throw new SpiderLoadError(
        `${file} extends the Spider of another copy of lycosa than the one that runs. Run the project's own: npx lycosa …`,
      );
    }
  }
  return [...spiders];
}

/** A class that extends Spider and says its name; one without a name is a base for others. */
function isSpiderClass(value: unknown): value is SpiderClass {
  if (typeof value !== 'function' || !(value.prototype instanceof Spider)) return false;
  // Every class has a name of its own, but only a static field of the author's can be written.
  return Object.getOwnPropertyDescriptor(value, 'name')?.writable === true;
}

/** It has all of a spider but for our base class. */
function isForeignSpider(value: unknown): boolean {
  if (typeof value !== 'function' || value === Spider || value.prototype instanceof Spider)
    return false;
  const { fromCrawler, updateSettings } = value as unknown as Record<string, unknown>;
  return typeof fromCrawler === 'function' && typeof updateSettings === 'function';
}

function importError(cause: unknown, file: string): string {
  if (!(cause instanceof Error)) return String(cause);
  // Node puts the place of a syntax error in the first line of the stack.
  const place = /^(?:file:\/\/)?(\S+?):(\d+)(?::\d+)?$/m.exec(cause.stack ?? '');
  const where =
    place && !place[1]!.startsWith('node:')
      ? ` (${relative(process.cwd(), place[1]!.startsWith('/') ? place[1]! : file)}:${place[2]})`
      : '';
  return `${cause.name}: ${cause.message.split('\n')[0]}${where}`;
}
