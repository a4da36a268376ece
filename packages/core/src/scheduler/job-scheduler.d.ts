import type { CrawlerSlots } from '../downloader/slot-registry.ts';
import type { Request } from '../http/request.ts';
import type { Logger } from '../log/logger.ts';
import type { StatsCollector } from '../stats/stats-collector.ts';
import { type JobFile } from './job.ts';
import type { Scheduler } from './scheduler.ts';
export interface JobSchedulerOptions {
  readonly job: JobFile;
  readonly order: 'lifo' | 'fifo';
  readonly slots: CrawlerSlots;
  readonly stats: StatsCollector;
  readonly log: Logger;
  readonly onReady: () => void;
  /** Runs before each commit: what a done request has led to must be safe before it is forgotten. */
  readonly beforeCommit: () => Promise<void> | void;
  /** Takes what could not be committed. */
  readonly onError: (error: unknown) => void;
}
/** A scheduler over the file of a job: memory is bounded, and `kill -9` loses nothing. */
export declare class JobScheduler implements Scheduler {
  #private;
  constructor(options: JobSchedulerOptions);
  open(): void;
  enqueue(request: Request): boolean;
  next(slots: CrawlerSlots): Request | undefined;
  done(request: Request): void;
  release(request: Request): void;
  get pending(): number;
  get leased(): number;
  get nextDue(): number | undefined;
  /** Makes sure of everything so far. */
  commit(): Promise<void>;
  close(): Promise<void>;
}
//# sourceMappingURL=job-scheduler.d.ts.map
