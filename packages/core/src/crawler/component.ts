import { isAbsolute, resolve } from 'node:path';
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
 * Components and their order, low numbers near the engine. `null` switches one off. A text `./file.ts#Export` stands
 * for a class where only text fits.
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

/** Builds the components in their order; one that throws `NotConfigured` is left out. */
export function buildComponents<T>(
  list: readonly (readonly [ComponentClass<T>, number])[],
  crawler: Crawler,
): T[] {
  const built: T[] = [];
  for (const [componentClass] of list) {
    try {
      built.push(
        componentClass.fromCrawler
          ? componentClass.fromCrawler(crawler)
          : new (componentClass as new () => T)(),
      );
    } catch (thrown) {
      if (!(thrown instanceof NotConfigured)) throw thrown;
      if (thrown.message) crawler.log.warn(`${componentClass.name} is off: ${thrown.message}`);
    }
  }
  return built;
}

/**
 * Replaces `./file.ts#Export` by the class it names.
 *
 * @param root - Folder that the paths are seen from.
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
    resolved.push([
      typeof component === 'string' ? await load<T>(component, root) : component,
      order,
    ]);
  }
  return resolved;
}

async function load<T>(text: string, root: string): Promise<ComponentClass<T>> {
  const [path = '', name = ''] = text.split('#', 2);
  const isFile = path.startsWith('.') || isAbsolute(path);
  let module: Record<string, unknown>;
  try {
    module = (await import(isFile ? pathToFileURL(resolve(root, path)).href : path)) as Record<
      string,
      unknown
    >;
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
  return found as unknown as ComponentClass<T>;
}
