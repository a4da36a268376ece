import { type Settings, SettingsError } from 'lycosa';

import { type RedisConnectOptions, redisOptions } from './connection.ts';
import { countOf, type SpiderSetsOptions, spiderSetsOptions } from './spider-sets.ts';

declare module 'lycosa' {
  interface SettingsMap {
    /** Times that a spider is started in all when it fails, with growing pauses; 3 if absent. */
    FLEET_ATTEMPTS: number | undefined;
    /** Seconds before the second attempt; doubled for each further one. 5 if absent. */
    FLEET_BACKOFF: number | undefined;
    /** Seconds between two looks for spiders whose machine is gone; 15 if absent. */
    FLEET_STALLED_INTERVAL: number | undefined;
    /** Seconds without a sign of life after which a process with spiders is killed; 60 if absent. */
    FLEET_BLOCK_LIMIT: number | undefined;
    /** Seconds after which a waiting spider goes before the others of its priority, however short it is; 3600 if absent. */
    FLEET_MAX_WAIT: number | undefined;
    /** Spiders of a group that may run at once: `{ 'example.com': 2 }`; one where a group is not named. */
    FLEET_GROUPS: Readonly<Record<string, number>> | undefined;
    /** The version of the project: orders that carry one run only on machines that have the same. None if absent. */
    FLEET_VERSION: string | undefined;
    /** Megabytes of memory that must be free on the machine for a further spider to begin; 256 if absent, 0 is no limit. */
    FLEET_MIN_FREE_MB: number | undefined;
    /** Seconds that an event loop with spiders may be late for a further spider to begin; 1 if absent, 0 is no limit. */
    FLEET_MAX_LAG: number | undefined;
    /** Where an agent keeps its logs, and what it could not tell Redis; `.lycosa/fleet` if absent. */
    FLEET_DIR: string | undefined;
    /** Folder with the `JOBDIR` of each job, best on storage that all machines share; without it spiders begin anew. */
    FLEET_JOBDIR: string | undefined;
    /** Last log lines of a run that are kept in Redis for a week; 200 if absent, 0 is none. */
    FLEET_LOG_LINES: number | undefined;
  }
}

/** How a fleet is reached, and how it treats orders. */
export interface FleetOptions {
  readonly redis: RedisConnectOptions;
  readonly sets: SpiderSetsOptions;
  /** 3 by default. */
  readonly attempts?: number;
  /** 5000 by default. */
  readonly backoffMs?: number;
  /** Milliseconds after which a waiting spider goes before the others of its priority; an hour by default. */
  readonly maxWaitMs?: number;
  /** What orders carry that name no version themselves. */
  readonly version?: string;
}

/** The fleet as the settings describe it. */
export function fleetOptions(settings: Pick<Settings, 'get'>): FleetOptions {
  const version = settings.get('FLEET_VERSION');
  return {
    redis: redisOptions(settings),
    // How many run on a machine is its agent's to say: it starts anew where its lost runs still have a lease.
    sets: { ...spiderSetsOptions(settings), limit: 0 },
    attempts: Math.max(1, countOf('FLEET_ATTEMPTS', settings.get('FLEET_ATTEMPTS') ?? 3)),
    backoffMs: countOf('FLEET_BACKOFF', settings.get('FLEET_BACKOFF') ?? 5) * 1000,
    maxWaitMs: countOf('FLEET_MAX_WAIT', settings.get('FLEET_MAX_WAIT') ?? 3600) * 1000,
    ...(version !== undefined && { version: String(version) }),
  };
}

/** @internal */
export const queueName = 'spiders';

/** @internal The keys of the queues stand apart from the sets. */
export function queuePrefix(prefix: string): string {
  return `${prefix}fleet:queue`;
}

/** How an agent works, as far as settings say. */
export interface FleetAgentSettings {
  readonly count: number;
  readonly lockMs: number;
  readonly stalledMs: number;
  readonly blockMs: number;
  readonly graceMs: number;
  readonly minFreeMb: number;
  readonly maxLagMs: number;
  readonly dir: string;
  readonly logLines: number;
  readonly version: string | undefined;
}

export function agentOptions(settings: Pick<Settings, 'get'>): FleetAgentSettings {
  const { limit = 20, leaseMs = 120_000 } = spiderSetsOptions(settings);
  const stalled = settings.get('FLEET_STALLED_INTERVAL') ?? 15;
  const block = settings.get('FLEET_BLOCK_LIMIT') ?? 60;
  const version = settings.get('FLEET_VERSION');
  return {
    // BullMQ knows no lack of a limit.
    count: limit || 1000,
    lockMs: leaseMs,
    stalledMs: Math.max(100, countOf('FLEET_STALLED_INTERVAL', stalled) * 1000),
    blockMs: countOf('FLEET_BLOCK_LIMIT', block) * 1000,
    graceMs: settings.get('SHUTDOWN_TIMEOUT') * 1000,
    minFreeMb: countOf('FLEET_MIN_FREE_MB', settings.get('FLEET_MIN_FREE_MB') ?? 256),
    maxLagMs: countOf('FLEET_MAX_LAG', settings.get('FLEET_MAX_LAG') ?? 1) * 1000,
    dir: settings.get('FLEET_DIR') ?? '.lycosa/fleet',
    logLines: countOf('FLEET_LOG_LINES', settings.get('FLEET_LOG_LINES') ?? 200),
    version: version === undefined ? undefined : String(version),
  };
}

/**
 * How many spiders of each group may run at once.
 *
 * @throws SettingsError for what is no number.
 */
export function groupLimits(settings: Pick<Settings, 'get'>): Map<string, number> {
  const value: unknown = settings.get('FLEET_GROUPS') ?? {};
  const groups: unknown = typeof value === 'string' ? parse(value) : value;
  if (typeof groups !== 'object' || groups === null || Array.isArray(groups)) {
    throw new SettingsError(
      `FLEET_GROUPS must be an object of numbers, got ${JSON.stringify(value)}. Write { "example.com": 2 }.`,
    );
  }
  return new Map(
    Object.entries(groups).map(([group, count]) => [
      group,
      countOf(`FLEET_GROUPS.${group}`, count),
    ]),
  );
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
