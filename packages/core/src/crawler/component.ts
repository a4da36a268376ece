import { createRequire } from 'node:module';
import { isAbsolute, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

import { NotConfigured, SettingsError } from '../errors.ts';
import type { Crawler } from './crawler.ts';

/** A class of components: built by `fromCrawler` where it has one, else by `new` without arguments. */
export interface ComponentClass<T> {
  new (...args: never[]): T;
  readonly name: string;
  fromCrawler?(crawler: Crawler): T;
}

/**
 * Components and their order, low numbers near the engine. `null` switches one off. A text `./file.ts#Export` or
 * `package#Export` stands for a class where only text fits.
 */
export type ComponentPriorities<T> = readonly (readonly [
  ComponentClass<T> | string,
  number | null,
])[];

/** The user's list laid over the base list: a class named again gets the new number, `null` takes it out. */
export function mergeComponents<T>(
  base: readonly (readonly [ComponentClass<T>, number | null])[],
  user: readonly (readonly [ComponentClass<T>, number | null])[],
): (readonly [ComponentClass<T>, number])[] {
  const orders = new Map<ComponentClass<T>, number | null>([...base, ...user]);
  return [...orders]
    .filter((entry): entry is [ComponentClass<T>, number] => entry[1] !== null)
    .toSorted((a, b) => a[1] - b[1]);
}

/** Builds one component. */
export function buildComponent<T>(componentClass: ComponentClass<T>, crawler: Crawler): T {
  return componentClass.fromCrawler
    ? componentClass.fromCrawler(crawler)
    : new (componentClass as new () => T)();
}

/** Builds the components in their order; one that throws `NotConfigured` is left out. */
export function buildComponents<T>(
  list: readonly (readonly [ComponentClass<T>, number])[],
  crawler: Crawler,
): T[] {
  const built: T[] = [];
  for (const [componentClass] of list) {
    try {
      built.push(buildComponent(componentClass, crawler));
    } catch (thrown) {
      if (!(thrown instanceof NotConfigured)) throw thrown;
      if (thrown.message) crawler.log.warn(`${componentClass.name} is off: ${thrown.message}`);
    }
  }
  return built;
}

/**
 * Replaces `./file.ts#Export` and `package#Export` by the classes they name.
 *
 * @param root - Folder that files and packages are seen from.
 * @throws SettingsError when there is no such file or export.
 */
export async function resolveComponents<T>(
  list: ComponentPriorities<T>,
  root: string,
): Promise<(readonly [ComponentClass<T>, number | null])[]> {
  const resolved: (readonly [ComponentClass<T>, number | null])[] = [];
  for (const entry of list) {
    if (!Array.isArray(entry) || entry.length !== 2) {
      throw new SettingsError(
        `A list of components holds [Class, order] pairs, not ${JSON.stringify(entry)}.`,
      );
    }
    const [component, order] = entry as readonly [ComponentClass<T> | string, number | null];
    resolved.push([await resolveClass(component, root), order]);
  }
  return resolved;
}

/**
 * The class that a text names; a class is returned as it is.
 *
 * @throws SettingsError when there is no such file, package or export.
 */
export async function resolveClass<C extends object>(
  component: C | string,
  root: string,
): Promise<C> {
  if (typeof component !== 'string') return component;
  const text = component;
  const [path = '', name = ''] = text.split('#', 2);
  let module: Record<string, unknown>;
  try {
    module = (await import(locate(path, root))) as Record<string, unknown>;
  } catch (cause) {
    throw new SettingsError(
      `The component ${JSON.stringify(text)} cannot be imported: ${(cause as Error).message}`,
      { cause },
    );
  }
  const found = module[name];
  if (typeof found !== 'function') {
    throw new SettingsError(
      `${JSON.stringify(text)} names no class: ${path} exports ${Object.keys(module).join(', ') || 'nothing'}. Write './file.ts#ClassName'.`,
    );
  }
  return found as unknown as C;
}

/** Packages are those of the project, wherever Lycosa itself is installed. */
function locate(path: string, root: string): string {
  if (path.startsWith('.') || isAbsolute(path)) return pathToFileURL(resolve(root, path)).href;
  try {
    const file = createRequire(join(root, 'lycosa.config.ts')).resolve(path);
    return isAbsolute(file) ? pathToFileURL(file).href : file;
  } catch {
    // One that only `import` can find; or there is none, which the import tells best.
    return path;
  }
}
