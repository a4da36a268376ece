import type { SlotReport, SpiderArgs } from 'lycosa';

import type { FleetProgress } from './fleet-jobs.ts';
import type { ReasonVerdict, RunRecord } from './reasons.ts';

/** What the agent says to a host. */
export type ToHost =
  | {
      readonly type: 'run';
      readonly id: number;
      /** The name in the sets. */
      readonly job: string;
      readonly attempt: number;
      readonly token: number;
      readonly spider: string;
      readonly args: SpiderArgs;
      /** The file of the spider, where it is known. */
      readonly file?: string;
    }
  | {
      readonly type: 'stop';
      readonly id: number;
      readonly mode: 'graceful' | 'fast' | 'lost';
      /** It is not run again; else it was handed back. */
      readonly isForGood?: boolean;
    }
  /** Whether the run is still the latest of its job, and may put its feeds in place. */
  | { readonly type: 'holds'; readonly id: number; readonly holds: boolean }
  | { readonly type: 'exit' };

/** What a host says to the agent. */
export type FromHost =
  | {
      readonly type: 'ended';
      readonly id: number;
      readonly verdict: ReasonVerdict;
      readonly record: RunRecord;
    }
  | { readonly type: 'holds'; readonly id: number }
  | { readonly type: 'log'; readonly id: number; readonly lines: readonly string[] }
  | HostBeat;

/** A sign of life. */
export interface HostBeat {
  readonly type: 'beat';
  readonly rssMb: number;
  /** Milliseconds that the event loop was late at most since the last beat. */
  readonly lagMs: number;
  /** Absent where it tells of nothing new. */
  readonly slots?: readonly SlotReport[];
  /** By the id of the run. */
  readonly runs?: readonly (readonly [id: number, progress: FleetProgress])[];
}

/** What a host is started with, as JSON in its environment. */
export interface HostConfig {
  /** Folder of the project. */
  readonly root: string;
  /** The `lycosa.config.ts`, where there is one. */
  readonly config?: string;
  /** Settings over those of the config. */
  readonly settings: Readonly<Record<string, unknown>>;
}
