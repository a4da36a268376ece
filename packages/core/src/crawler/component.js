var __rewriteRelativeImportExtension =
  (this && this.__rewriteRelativeImportExtension) ||
  function (path, preserveJsx) {
    if (typeof path === 'string' && /^\.\.?\//.test(path)) {
      return path.replace(
        /\.(tsx)$|((?:\.d)?)((?:\.[^./]+?)?)\.([cm]?)ts$/i,
        function (m, tsx, d, ext, cm) {
          return tsx
            ? preserveJsx
              ? '.jsx'
              : '.js'
            : d && (!ext || !cm)
              ? m
              : d + ext + '.' + cm.toLowerCase() + 'js';
        },
      );
    }
    return path;
  };
import { isAbsolute, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

import { NotConfigured, SettingsError } from '../errors.js';
/** The user's list laid over the base list: a class named again gets the new number, `null` takes it out. */
export function mergeComponents(base, user) {
  const orders = new Map([...base, ...user]);
  return [...orders].filter((entry) => entry[1] !== null).toSorted((a, b) => a[1] - b[1]);
}
/** Builds the components in their order; one that throws `NotConfigured` is left out. */
export function buildComponents(list, crawler) {
  const built = [];
  for (const [componentClass] of list) {
    try {
      built.push(
        componentClass.fromCrawler ? componentClass.fromCrawler(crawler) : new componentClass(),
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
export async function resolveComponents(list, root) {
  const resolved = [];
  for (const entry of list) {
    if (!Array.isArray(entry) || entry.length !== 2) {
      throw new SettingsError(
        `A list of components holds [Class, order] pairs, not ${JSON.stringify(entry)}.`,
      );
    }
    const [component, order] = entry;
    resolved.push([typeof component === 'string' ? await load(component, root) : component, order]);
  }
  return resolved;
}
async function load(text, root) {
  const [path = '', name = ''] = text.split('#', 2);
  const isFile = path.startsWith('.') || isAbsolute(path);
  let module;
  try {
    module = await import(
      __rewriteRelativeImportExtension(isFile ? pathToFileURL(resolve(root, path)).href : path)
    );
  } catch (cause) {
    throw new SettingsError(
      `The component ${JSON.stringify(text)} cannot be imported: ${cause.message}`,
      { cause },
    );
  }
  const found = module[name];
  if (typeof found !== 'function') {
    throw new SettingsError(
      `${JSON.stringify(text)} names no class: ${path} exports ${Object.keys(module).join(', ') || 'nothing'}. Write './file.ts#ClassName'.`,
    );
  }
  return found;
}
//# sourceMappingURL=component.js.map
