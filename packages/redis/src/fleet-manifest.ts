import { readdir, readFile, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';

/** How a spider says its name. */
const named =
  /\bstatic\s+(?:override\s+|readonly\s+)*name\s*(?::\s*[\w' |]+)?=\s*(['"`])((?:(?!\1|\$\{|\\).)+)\1/g;

/**
 * The spiders of a project by name, each with its file, read from the text: no file is imported, so that three thousand
 * spiders are not three thousand imports. A spider whose name is no plain text in its class is not found.
 *
 * @param root - Folder that `paths` are seen from.
 */
export async function readManifest(
  root: string,
  paths: string | readonly string[] = './spiders',
): Promise<Map<string, string>> {
  const manifest = new Map<string, string>();
  for (const path of [paths].flat()) {
    for (const file of await spiderFiles(resolve(root, path))) {
      const text = await readFile(file, 'utf8');
      for (const [, , name] of text.matchAll(named)) if (name) manifest.set(name, file);
    }
  }
  return manifest;
}

async function spiderFiles(path: string): Promise<string[]> {
  const info = await stat(path).catch(() => undefined);
  if (info === undefined) return [];
  if (info.isFile()) return [path];
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && /(?<!\.d|\.test|\.spec)\.[cm]?[jt]s$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !file.includes('node_modules'))
    .toSorted();
}
