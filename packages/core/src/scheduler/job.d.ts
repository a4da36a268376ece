import type { Request } from '../http/request.ts';
/** The order of requests in a slot: lower first, compared part by part. */
export type Rank = readonly [priority: number, isStart: number, turn: number];
export declare function compareRanks(a: Rank, b: Rank): number;
/** An entry as it is stored. */
export interface JobEntry {
  readonly id: number;
  readonly rank: Rank;
  readonly request: Request;
}
/**
 * The file of one job, `JOBDIR/job.sqlite`: what waits, what has been seen, and the state of the crawl.
 *
 * Writes are gathered and committed together. A request stays in the file until it is done, so after `kill -9` the
 * next run finds everything that was not.
 */
export declare class JobFile {
  #private;
  readonly folder: string;
  private constructor();
  /**
   * Opens or makes the job of a folder, for this process alone.
   *
   * @throws UsageError when another process holds it, or a newer Lycosa wrote it.
   */
  static open(folder: string): Promise<JobFile>;
  /** True if an earlier run has left its mark. */
  get isResumed(): boolean;
  add(
    slot: string,
    rank: (id: number) => Rank,
    request: Request,
    fingerprint: Uint8Array | undefined,
  ): JobEntry;
  remove(id: number): void;
  markStarted(fingerprint: Uint8Array): void;
  /** Pending entries of a slot worse than `after`, the best first. Entries that cannot be read are set aside. */
  best(slot: string, after: Rank | undefined, limit: number): JobEntry[];
  slots(): {
    slot: string;
    count: number;
  }[];
  seen(table: 'seen' | 'started'): Generator<Buffer>;
  /** A value of the state, JSON. */
  get(key: string): unknown;
  set(key: string, value: unknown): void;
  get hasWrites(): boolean;
  /** What was written since the last commit becomes part of the job, all or nothing. */
  commit(): void;
  close(): void;
}
//# sourceMappingURL=job.d.ts.map
