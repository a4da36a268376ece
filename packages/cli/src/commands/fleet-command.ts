import type * as redis from '@lycosa/redis';
import type { Fleet } from '@lycosa/redis';
import type { Settings } from 'lycosa';

import { CommandError, type GlobalOptions } from '../options.ts';
import type { Project } from '../project.ts';

export interface FleetCommandOptions extends GlobalOptions {
  readonly action: string;
  readonly names?: readonly (string | number)[];
  readonly arg?: readonly string[];
  readonly all?: boolean;
  readonly priority?: string;
  readonly group?: string;
  readonly 'code-version'?: string;
  readonly count?: string;
  readonly hosts?: string;
  readonly 'until-empty'?: boolean;
  readonly watch?: boolean;
  readonly json?: boolean;
  readonly fast?: boolean;
  readonly state?: string;
  readonly search?: string;
  readonly offset?: string;
  readonly limit?: string;
  readonly attempt?: string;
  readonly tail?: string;
  readonly pattern?: string;
  readonly tz?: string;
}

/** What an action of the fleet works with. */
export interface FleetContext {
  readonly project: Project;
  readonly settings: Settings;
  readonly options: FleetCommandOptions;
  /** What stands after the action. */
  readonly names: readonly string[];
}

/** One action; returns the exit code. */
export type FleetAction = (fleet: Fleet, context: FleetContext) => Promise<number>;

/** @throws CommandError where the package is not there. */
export async function loadRedis(): Promise<typeof redis> {
  try {
    return await import('@lycosa/redis');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw cause;
    throw new CommandError('fleet needs a package: npm install @lycosa/redis', { cause });
  }
}

/** @throws CommandError for what is no whole number, or less than `least`. */
export function wholeNumber(name: string, value: unknown, least = 0): number {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof number === 'number' && Number.isInteger(number) && number >= least) return number;
  throw new CommandError(`${name} takes a whole number ≥ ${least}, got ${JSON.stringify(value)}.`);
}
