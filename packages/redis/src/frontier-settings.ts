import { type Settings, SettingsError } from 'lycosa';

import { flagOf, numberOf } from './connection.ts';

declare module 'lycosa' {
  interface SettingsMap {
    /** Name of the crawl that workers share; its keys are `{name}:…`. The spider's name if absent. */
    FRONTIER_KEY: string | undefined;
    /** Seconds after which the requests of a worker that is silent go to others; 30 if absent. */
    FRONTIER_LEASE: number | undefined;
    /** Most bytes of a request in Redis; 262144 if absent. Longer ones are set aside. */
    REDIS_MAX_ENTRY_SIZE: number | undefined;
    /** Keep the seen set of a crawl that has finished; false if absent. */
    SCHEDULER_PERSIST: boolean | undefined;
    /** Empty the frontier when the first worker opens it; false if absent. */
    SCHEDULER_FLUSH_ON_START: boolean | undefined;
    /** Seconds without any work anywhere before a worker closes; 0 if absent. */
    SCHEDULER_IDLE_BEFORE_CLOSE: number | undefined;
  }
}

/** How the frontier in Redis is used. */
export interface FrontierSettings {
  readonly name: string;
  readonly leaseMs: number;
  readonly maxEntryBytes: number;
  readonly persist: boolean;
  readonly flushOnStart: boolean;
  readonly idleMs: number;
}

/**
 * The settings of the frontier; text from a command line becomes what it should be.
 *
 * @throws SettingsError for a value that cannot be.
 */
export function frontierSettings(
  settings: Pick<Settings, 'get'>,
  spider: string,
): FrontierSettings {
  const number = (name: string, absent: number, least: number): number =>
    numberOf(name, settings.get(name) ?? absent, least, 1e9);
  const flag = (name: string): boolean => flagOf(name, settings.get(name) ?? false);
  return {
    name: frontierName(settings, spider),
    leaseMs: Math.round(number('FRONTIER_LEASE', 30, 0.1) * 1000),
    maxEntryBytes: number('REDIS_MAX_ENTRY_SIZE', 262_144, 100),
    persist: flag('SCHEDULER_PERSIST'),
    flushOnStart: flag('SCHEDULER_FLUSH_ON_START'),
    idleMs: number('SCHEDULER_IDLE_BEFORE_CLOSE', 0, 0) * 1000,
  };
}

/** @throws SettingsError for a name that would put its keys into several hash slots. */
export function frontierName(settings: Pick<Settings, 'get'>, spider: string): string {
  const name = settings.get('FRONTIER_KEY') || spider;
  if (!/[{}]/.test(name)) return name;
  throw new SettingsError(`FRONTIER_KEY must have no braces, got ${JSON.stringify(name)}.`);
}
