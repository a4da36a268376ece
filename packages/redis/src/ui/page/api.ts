/** What the server of the dashboard tells its page, as JSON. Times are in milliseconds since the epoch. */

export type State = 'pending' | 'running' | 'finished' | 'failed';

/** A column that the table of spiders can be sorted by. */
export type SortKey =
  | 'name'
  | 'state'
  | 'changedAt'
  | 'seconds'
  | 'items'
  | 'responses'
  | 'rate'
  | 'machine'
  | 'why';

/** A spider as one row. */
export interface Row {
  readonly name: string;
  readonly spider: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly state: State;
  readonly priority: number;
  readonly group?: string;
  readonly changedAt: number;
  /** Runs that have begun. */
  readonly attempts: number;
  /** Of the run under way, or else of the last one. */
  readonly startedAt?: number;
  readonly seconds?: number;
  readonly expectedSeconds?: number;
  readonly items?: number;
  readonly responses?: number;
  readonly itemsPerMinute?: number;
  readonly responsesPerMinute?: number;
  readonly errors?: number;
  /** Id of the agent: `machine/pid/id`. */
  readonly machine?: string;
  readonly reason?: string;
  readonly error?: string;
  /** Somebody asked it to stop, and it has not yet. */
  readonly isStopping?: boolean;
}

export interface Page {
  readonly total: number;
  readonly rows: readonly Row[];
}

/** One run of a spider. */
export interface Run {
  readonly attempt: number;
  readonly machine: string;
  readonly startedAt: number;
  readonly endedAt?: number;
  readonly state?: State;
  readonly reason?: string;
  readonly error?: string;
  readonly items?: number;
  readonly responses?: number;
  readonly seconds?: number;
}

export interface SpiderPage {
  readonly row: Row;
  /** The last one first. */
  readonly runs: readonly Run[];
}

export interface Log {
  readonly attempt: number;
  readonly lines: readonly string[];
}

export interface Machine {
  readonly id: string;
  readonly running: number;
  readonly count: number;
  readonly hosts: number;
  readonly rssMb: number;
  readonly freeMb: number;
  readonly totalMb: number;
  /** 0 to 1. */
  readonly cpu: number;
  readonly lagMs: number;
  readonly closedBy?: string;
  readonly version?: string;
  readonly since: number;
  readonly at: number;
  /** `cpu` every five seconds, the latest last. */
  readonly cpus: readonly number[];
}

export interface SlotStep {
  readonly time: number;
  readonly from: number;
  readonly to: number;
  readonly cause: string;
}

/** A host that spiders visit, and its delay in seconds. */
export interface Slot {
  readonly key: string;
  readonly machine: string;
  readonly spider?: string;
  readonly delay: number;
  readonly floor: number;
  readonly learnt?: number;
  readonly backoff: number;
  /** `null` where there is no limit. */
  readonly concurrency: number | null;
  readonly transferring: number;
  readonly queued: number;
  /** `null` until somebody resumes it. */
  readonly pausedUntil?: number | null;
  readonly changes: readonly SlotStep[];
}

export interface Slots {
  readonly total: number;
  readonly slots: readonly Slot[];
}

/** Spiders that failed alike. */
export interface Failure {
  /** What they have in common: numbers are left out. */
  readonly why: string;
  readonly example: string;
  readonly count: number;
}

/** Spiders that ended within one step of time. */
export interface Ended {
  readonly at: number;
  readonly finished: number;
  readonly failed: number;
}

export interface Overview {
  /** By the clock of the server. */
  readonly now: number;
  /** When the rest was read from Redis. */
  readonly takenAt: number;
  readonly redis: { readonly url: string; readonly error?: string };
  readonly hasToken: boolean;
  readonly counts: Readonly<Record<State, number>>;
  readonly isDraining: boolean;
  /** Spiders that failed before and will be tried again. */
  readonly retrying: number;
  /** Of the failed, those that somebody stopped. */
  readonly stopped: number;
  /** Why the others failed. */
  readonly failures: readonly Failure[];
  readonly machines: readonly Machine[];
  /** Half a minute each, the latest last. */
  readonly ended: readonly Ended[];
  /** What Redis should be set to and is not. */
  readonly warnings: readonly string[];
}

/** What became of an order of the operator. */
export interface Outcome {
  readonly done: number;
  /** Spiders that it did not fit, as they had moved on. */
  readonly missed: number;
}
