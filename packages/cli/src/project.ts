import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

import type { LycosaConfig, Settings, SpiderClass, SpiderLoader } from 'lycosa';

import { redisSettings } from './commands/fleet-settings.ts';
import { CommandError, type GlobalOptions, parsePairs } from './options.ts';

/** A folder with a `lycosa.config.ts`. */
export interface Project {
  readonly root: string;
  readonly config: LycosaConfig;
}

const configNames = ['lycosa.config.ts', 'lycosa.config.js', 'lycosa.config.mjs'];

/**
 * The project that a folder is in: the nearest config file in it or above it.
 *
 * @throws CommandError for a config file that cannot be imported.
 */
export async function findProject(from: string = process.cwd()): Promise<Project | undefined> {
  for (let folder = resolve(from); ; folder = dirname(folder)) {
    const file = configFileOf(folder);
    if (file !== undefined) return { root: folder, config: await importConfig(file) };
    if (folder === dirname(folder)) return undefined;
  }
}

/** The config file of a project's folder. */
export function configFileOf(folder: string): string | undefined {
  return configNames.map((name) => join(folder, name)).find((path) => existsSync(path));
}

/** @throws CommandError outside of a project. */
export async function needProject(command: string): Promise<Project> {
  const project = await findProject();
  if (project === undefined) {
    throw new CommandError(
      `No project here: there is no lycosa.config.ts in this folder or above it, and ${command} needs one. Make a project with: lycosa startproject <name>`,
    );
  }
  return project;
}

/**
 * The settings of the project, with those of the command line over them.
 *
 * @throws SettingsError, CommandError for a value that cannot be.
 */
export async function loadSettings(
  project: Project | undefined,
  options: GlobalOptions,
): Promise<Settings> {
  const { Settings: SettingsClass } = await import('lycosa');
  const settings = new SettingsClass(project?.config.settings ?? {}, 'project');
  settings.update(parsePairs(options.set, '-s'), 'cmdline');
  const { loglevel, logfile, nolog } = options;
  if (loglevel !== undefined) settings.set('LOG_LEVEL', loglevel, 'cmdline');
  if (logfile !== undefined) settings.set('LOG_FILE', resolve(logfile), 'cmdline');
  if (loglevel !== undefined || logfile !== undefined) settings.set('LOG_ENABLED', true, 'cmdline');
  if (nolog) settings.set('LOG_ENABLED', false, 'cmdline');
  return settings;
}

/** Settings of the project and of the spider that do not exist but look like one that does. */
export async function misspelledSettings(settings: Settings): Promise<string[]> {
  const { defaultSettings, nearest } = await import('lycosa');
  return settings.names().flatMap((name) => {
    const near = name in defaultSettings ? undefined : nearest(name, Object.keys(defaultSettings));
    return near ? [`There is no built-in setting ${name}. Was ${near} meant?`] : [];
  });
}

/**
 * A setting of `-s` must exist: built in, in the project's config, or in `customSettings` of the spider.
 *
 * @throws CommandError that names the nearest.
 */
export async function checkSettings(
  options: GlobalOptions,
  project: Project | undefined,
  spider?: SpiderClass,
): Promise<void> {
  const { defaultSettings, nearest } = await import('lycosa');
  const known = new Set([
    ...Object.keys(defaultSettings),
    ...redisSettings,
    ...Object.keys(project?.config.settings ?? {}),
    ...Object.keys(spider?.customSettings ?? {}),
  ]);
  for (const name of Object.keys(parsePairs(options.set, '-s'))) {
    if (known.has(name)) continue;
    const near = nearest(name, known);
    const hint = near ? `Did you mean ${near}?` : 'lycosa settings shows all.';
    throw new CommandError(
      `There is no setting ${JSON.stringify(name)}. ${hint} A setting of your own gets its default in lycosa.config.ts or in customSettings.`,
    );
  }
}

/** @throws SpiderLoadError for a spider file that cannot be imported, unless `SPIDER_LOADER_WARN_ONLY`. */
export async function loadSpiders(project: Project, settings: Settings): Promise<SpiderLoader> {
  const { SpiderLoader: Loader } = await import('lycosa');
  const warn = (error: Error): void => console.error(`lycosa: warning: ${error.message}`);
  try {
    return await Loader.load(
      project.root,
      project.config.spiders,
      settings.get('SPIDER_LOADER_WARN_ONLY') ? warn : undefined,
    );
  } catch (thrown) {
    throw withPlace(thrown);
  }
}

/**
 * The last spider of a file.
 *
 * @throws CommandError, SpiderLoadError
 */
export async function loadSpiderFile(file: string): Promise<SpiderClass> {
  if (!existsSync(file)) {
    throw new CommandError(
      `There is no file ${file}. lycosa crawl runs a spider of the project by its name.`,
    );
  }
  const { SpiderLoader: Loader } = await import('lycosa');
  try {
    return await Loader.loadFile(file);
  } catch (thrown) {
    throw withPlace(thrown);
  }
}

async function importConfig(file: string): Promise<LycosaConfig> {
  let module: { readonly default?: unknown };
  try {
    module = (await import(pathToFileURL(file).href)) as typeof module;
  } catch (cause) {
    throw new CommandError(
      `${relative('', file)} cannot be imported: ${importFault(cause, file)}`,
      { cause },
    );
  }
  const config = module.default;
  if (typeof config !== 'object' || config === null) {
    throw new CommandError(
      `${relative('', file)} must export its config. Write: export default defineConfig({ … })`,
    );
  }
  const unknown = Object.keys(config).filter((name) => name !== 'spiders' && name !== 'settings');
  if (unknown.length > 0) {
    throw new CommandError(
      `${relative('', file)} has ${JSON.stringify(unknown[0])}, which means nothing there. It may have spiders and settings.`,
    );
  }
  return config;
}

/** What was thrown, and the line of the user's file that threw it. */
function importFault(cause: unknown, file: string): string {
  if (!(cause instanceof Error)) return String(cause);
  const line = lineIn(cause.stack ?? '', file) ?? syntaxErrorLine(cause, file);
  const where = line === undefined ? '' : ` (${relative('', file)}:${line})`;
  return `${cause.name}: ${cause.message.split('\n')[0]}${where}`;
}

function lineIn(text: string, file: string): string | undefined {
  const [, after = ''] = text.split(`${file}:`, 2);
  return /^\d+/.exec(after)?.[0];
}

/** V8 keeps the place of a syntax error in JavaScript from programs, but Node prints it. */
function syntaxErrorLine(error: unknown, file: string): string | undefined {
  if (!(error instanceof SyntaxError)) return undefined;
  const { stderr } = spawnSync(process.execPath, ['--check', file], { encoding: 'utf8' });
  return lineIn(stderr ?? '', file);
}

/** Adds its place to the message of a syntax error that has none. */
function withPlace(thrown: unknown): Error {
  if (!(thrown instanceof Error)) return new Error(String(thrown));
  if (/:\d+\)$/.test(thrown.message)) return thrown;
  const file = /^(.+) cannot be imported: /.exec(thrown.message)?.[1];
  const line = file && syntaxErrorLine(thrown.cause, file);
  if (file && line) thrown.message += ` (${relative('', file)}:${line})`;
  return thrown;
}
