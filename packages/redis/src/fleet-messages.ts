import type { SpiderArgs } from 'lycosa';

import type { ReasonVerdict, RunRecord } from './reasons.ts';

/** What the agent says to a host. */
export type ToHost =
  | {
      readonly type: 'run';
      readonly id: number;
      readonly spider: string;
      readonly args: SpiderArgs;
    }
  | { readonly type: 'stop'; readonly id: number; readonly mode: 'graceful' | 'fast' }
  | { readonly type: 'exit' };

/** What a host says to the agent. */
export type FromHost =
  | {
      readonly type: 'ended';
      readonly id: number;
      readonly verdict: ReasonVerdict;
      readonly record: RunRecord;
    }
  | { readonly type: 'beat'; readonly rssMb: number };

/** What a host is started with, as JSON in its environment. */
export interface HostConfig {
  /** Folder of the project. */
  readonly root: string;
  /** The `lycosa.config.ts`, where there is one. */
  readonly config?: string;
  /** Settings over those of the config. */
  readonly settings: Readonly<Record<string, unknown>>;
}
