import { SettingsError } from '../errors.ts';
import { defaultSettings } from './default-settings.ts';
import { nearest } from './nearest.ts';

type DefaultSettings = typeof defaultSettings;

/** Every setting and its type. Add your own by declaration merging. */
export interface SettingsMap extends DefaultSettings {}

/** Settings as a project, a spider or a caller gives them; your own are welcome. */
export type SettingsInput = { readonly [K in keyof SettingsMap]?: SettingsMap[K] } & {
  readonly [name: string]: unknown;
};

/** Who set a value. The higher one wins, and of equals the later. */
export type SettingPriority =
  | 'default'
  | 'command'
  | 'addon'
  | 'project'
  | 'spider'
  | 'cmdline'
  | number;

const priorities: Readonly<Record<Exclude<SettingPriority, number>, number>> = {
  default: 0,
  command: 10,
  addon: 15,
  project: 20,
  spider: 30,
  cmdline: 40,
};

interface Setting {
  readonly value: unknown;
  readonly priority: number;
}

/** One for all: a process may have thousands of spiders. */
const defaults: ReadonlyMap<string, Setting> = new Map(
  Object.entries(defaultSettings).map(([name, value]) => [name, { value, priority: 0 }]),
);

/** Settings with their priorities. Text is turned into the type of the default once, when it is set. */
export class Settings {
  /** Those that were set; of all others the default holds. */
  readonly #values = new Map<string, Setting>();
  #isFrozen = false;

  constructor(values: SettingsInput = {}, priority: SettingPriority = 'project') {
    this.update(values, priority);
  }

  get<K extends keyof SettingsMap>(name: K): SettingsMap[K];
  get(name: string): unknown;
  get(name: string): unknown {
    return this.#setting(name)?.value;
  }

  #setting(name: string): Setting | undefined {
    return this.#values.get(name) ?? defaults.get(name);
  }

  /**
   * Sets a value, unless one of a higher priority stands.
   *
   * @throws SettingsError when the value cannot be, or the settings are frozen.
   */
  set(name: string, value: unknown, priority: SettingPriority = 'project'): void {
    if (this.#isFrozen) {
      throw new SettingsError(
        `${name} cannot be set any more: the crawl has begun. Set it in lycosa.config.ts, in customSettings or with -s.`,
      );
    }
    const rank = typeof priority === 'number' ? priority : priorities[priority];
    const old = this.#setting(name);
    if (old !== undefined && old.priority > rank) return;
    this.#values.set(name, { value: checked(name, cast(name, value)), priority: rank });
  }

  /** Sets many; `undefined` is left out. */
  update(values: SettingsInput, priority: SettingPriority = 'project'): void {
    for (const [name, value] of Object.entries(values)) {
      if (value !== undefined) this.set(name, value, priority);
    }
  }

  /** The number of who set it, 0 for a default. */
  getPriority(name: string): number | undefined {
    return this.#setting(name)?.priority;
  }

  has(name: string): boolean {
    return this.#setting(name) !== undefined;
  }

  names(): string[] {
    return [...new Set([...defaults.keys(), ...this.#values.keys()])];
  }

  /** A copy that is not frozen. */
  copy(): Settings {
    const copy = new Settings();
    for (const [name, setting] of this.#values) copy.#values.set(name, setting);
    return copy;
  }

  freeze(): void {
    this.#isFrozen = true;
  }

  get isFrozen(): boolean {
    return this.#isFrozen;
  }

  toJSON(): Record<string, unknown> {
    return Object.fromEntries(this.names().map((name) => [name, this.get(name)]));
  }
}

/** Names that are no built-in settings but look like one, with the one they were meant to be. */
export function unknownSettings(settings: Settings): { name: string; nearest: string }[] {
  const known = Object.keys(defaultSettings);
  return settings
    .names()
    .filter((name) => !Object.hasOwn(defaultSettings, name))
    .flatMap((name) => {
      const near = nearest(name, known);
      return near === undefined ? [] : [{ name, nearest: near }];
    });
}

/** Text from a command line or the environment becomes what the default is. */
function cast(name: string, value: unknown): unknown {
  if (!Object.hasOwn(defaultSettings, name)) return value;
  const model: unknown = defaultSettings[name as keyof DefaultSettings];
  if (typeof model === 'number') {
    const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
    if (typeof number !== 'number' || Number.isNaN(number)) throw bad(name, value, 'a number');
    return number;
  }
  if (typeof model === 'boolean') {
    if (typeof value === 'boolean') return value;
    if (value === 1 || value === '1' || /^true$/i.test(String(value))) return true;
    if (value === 0 || value === '0' || /^false$/i.test(String(value))) return false;
    throw bad(name, value, 'true or false');
  }
  if (typeof value !== 'string') {
    const isClass = typeof value === 'function' && name === 'HTTPCACHE_POLICY';
    if (typeof model === 'string' && value !== undefined && !isClass)
      throw bad(name, value, 'text');
    if (Array.isArray(model) && !Array.isArray(value)) throw bad(name, value, 'a list');
    return value;
  }
  if (Array.isArray(model)) {
    const parts = value.trim().startsWith('[')
      ? parse(name, value)
      : value
          .split(',')
          .map((part) => part.trim())
          .filter(Boolean);
    if (typeof model[0] !== 'number' && !name.endsWith('_CODES')) return parts;
    const numbers = (parts as unknown[]).map(Number);
    if (numbers.some(Number.isNaN)) throw bad(name, value, 'numbers');
    return numbers;
  }
  if (typeof model === 'object' && model !== null) return parse(name, value);
  return value;
}

function parse(name: string, text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw bad(name, text, 'JSON');
  }
}

const choices: Readonly<Record<string, readonly string[]>> = {
  LOG_LEVEL: ['DEBUG', 'INFO', 'WARNING', 'ERROR', 'CRITICAL'],
  DEFAULT_DROPITEM_LOG_LEVEL: ['DEBUG', 'INFO', 'WARNING', 'ERROR', 'CRITICAL'],
  RETRY_GIVE_UP_LOG_LEVEL: ['DEBUG', 'INFO', 'WARNING', 'ERROR', 'CRITICAL'],
  LOG_FORMAT: ['text', 'json'],
  SCHEDULER_MEMORY_QUEUE: ['lifo', 'fifo'],
  SLOT_SCOPE: ['process', 'crawler'],
};
/** Numbers that may be below zero. */
const signed = new Set([
  'DEPTH_PRIORITY',
  'REDIRECT_PRIORITY_ADJUST',
  'RETRY_PRIORITY_ADJUST',
  'AUTOTHROTTLE_TARGET_CONCURRENCY',
]);

function checked(name: string, value: unknown): unknown {
  if (!Object.hasOwn(defaultSettings, name)) return value;
  const allowed = choices[name];
  if (allowed) {
    const text = String(value);
    const found = allowed.find((choice) => choice.toLowerCase() === text.toLowerCase());
    if (found === undefined) throw bad(name, value, `one of ${allowed.join(', ')}`);
    return found;
  }
  const model: unknown = (defaultSettings as Record<string, unknown>)[name];
  if (typeof model === 'number' && !signed.has(name) && (value as number) < 0) {
    throw bad(name, value, 'a number ≥ 0');
  }
  if (name === 'DOWNLOAD_DELAY_JITTER' && (value as number) > 1) {
    throw bad(name, value, 'a share from 0 to 1');
  }
  return value;
}

function bad(name: string, value: unknown, wanted: string): SettingsError {
  const example = JSON.stringify((defaultSettings as Record<string, unknown>)[name]);
  return new SettingsError(
    `${name} must be ${wanted}, got ${JSON.stringify(value)}. Set it in lycosa.config.ts or with -s ${name}=${example ?? '…'}.`,
  );
}
