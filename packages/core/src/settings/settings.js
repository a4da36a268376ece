import { SettingsError } from '../errors.js';
import { defaultSettings } from './default-settings.js';
import { nearest } from './nearest.js';
const priorities = {
  default: 0,
  command: 10,
  addon: 15,
  project: 20,
  spider: 30,
  cmdline: 40,
};
/** Settings with their priorities. Text is turned into the type of the default once, when it is set. */
export class Settings {
  #values;
  #isFrozen = false;
  constructor(values = {}, priority = 'project') {
    this.#values = new Map(
      Object.entries(defaultSettings).map(([name, value]) => [name, { value, priority: 0 }]),
    );
    this.update(values, priority);
  }
  get(name) {
    return this.#values.get(name)?.value;
  }
  /**
   * Sets a value, unless one of a higher priority stands.
   *
   * @throws SettingsError when the value cannot be, or the settings are frozen.
   */
  set(name, value, priority = 'project') {
    if (this.#isFrozen) {
      throw new SettingsError(
        `${name} cannot be set any more: the crawl has begun. Set it in lycosa.config.ts, in customSettings or with -s.`,
      );
    }
    const rank = typeof priority === 'number' ? priority : priorities[priority];
    const old = this.#values.get(name);
    if (old !== undefined && old.priority > rank) return;
    this.#values.set(name, { value: checked(name, cast(name, value)), priority: rank });
  }
  /** Sets many; `undefined` is left out. */
  update(values, priority = 'project') {
    for (const [name, value] of Object.entries(values)) {
      if (value !== undefined) this.set(name, value, priority);
    }
  }
  /** The number of who set it, 0 for a default. */
  getPriority(name) {
    return this.#values.get(name)?.priority;
  }
  has(name) {
    return this.#values.has(name);
  }
  names() {
    return [...this.#values.keys()];
  }
  /** A copy that is not frozen. */
  copy() {
    const copy = new Settings();
    for (const [name, setting] of this.#values) copy.#values.set(name, setting);
    return copy;
  }
  freeze() {
    this.#isFrozen = true;
  }
  get isFrozen() {
    return this.#isFrozen;
  }
  toJSON() {
    return Object.fromEntries([...this.#values].map(([name, { value }]) => [name, value]));
  }
}
/** Names that are no built-in settings but look like one, with the one they were meant to be. */
export function unknownSettings(settings) {
  const known = Object.keys(defaultSettings);
  return settings
    .names()
    .filter((name) => !(name in defaultSettings))
    .flatMap((name) => {
      const near = nearest(name, known);
      return near === undefined ? [] : [{ name, nearest: near }];
    });
}
/** Text from a command line or the environment becomes what the default is. */
function cast(name, value) {
  if (!(name in defaultSettings)) return value;
  const model = defaultSettings[name];
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
    if (typeof model === 'string' && value !== undefined) throw bad(name, value, 'text');
    return value;
  }
  if (Array.isArray(model)) {
    const parts = value.trim().startsWith('[')
      ? parse(name, value)
      : value
          .split(',')
          .map((part) => part.trim())
          .filter(Boolean);
    return typeof model[0] === 'number' || name.endsWith('_CODES') ? parts.map(Number) : parts;
  }
  if (typeof model === 'object' && model !== null) return parse(name, value);
  return value;
}
function parse(name, text) {
  try {
    return JSON.parse(text);
  } catch {
    throw bad(name, text, 'JSON');
  }
}
const choices = {
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
function checked(name, value) {
  const allowed = choices[name];
  if (allowed) {
    const text = String(value);
    const found = allowed.find((choice) => choice.toLowerCase() === text.toLowerCase());
    if (found === undefined) throw bad(name, value, `one of ${allowed.join(', ')}`);
    return found;
  }
  const model = defaultSettings[name];
  if (typeof model === 'number' && !signed.has(name) && value < 0) {
    throw bad(name, value, 'a number ≥ 0');
  }
  return value;
}
function bad(name, value, wanted) {
  const example = JSON.stringify(defaultSettings[name]);
  return new SettingsError(
    `${name} must be ${wanted}, got ${JSON.stringify(value)}. Set it in lycosa.config.ts or with -s ${name}=${example ?? '…'}.`,
  );
}
//# sourceMappingURL=settings.js.map
