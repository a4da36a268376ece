import type { Crawler } from 'lycosa';

import type { HostWatch } from './frontier-hosts.ts';
import type { KnownUrls } from './frontier-known.ts';
import type { Leases } from './frontier-leases.ts';
import type { FrontierSettings } from './frontier-settings.ts';
import type { Frontier } from './frontier.ts';

/** What the scheduler needs of a crawler. */
export type RedisSchedulerHost = Pick<
  Crawler,
  | 'settings'
  | 'slots'
  | 'fingerprints'
  | 'stats'
  | 'log'
  | 'signals'
  | 'startHosts'
  | 'dropped'
  | 'flushFeeds'
  | 'spider'
>;

/** What the parts of the scheduler of one worker share. */
export interface FrontierWorker {
  readonly host: RedisSchedulerHost;
  readonly settings: FrontierSettings;
  readonly frontier: Frontier;
  readonly leases: Leases;
  readonly hosts: HostWatch;
  readonly known: KnownUrls;
  readonly account: Account;
  /** Nothing can be done any more. */
  fail(thrown: unknown): void;
}

/**
 * The account of a worker: a request is in that of whoever takes it out of the frontier. What a worker puts in leaves
 * its account, so that scheduled = done + failed + dropped + left holds for each.
 */
export class Account {
  readonly #stats: Crawler['stats'];

  constructor(stats: Crawler['stats']) {
    this.#stats = stats;
  }

  /** One was taken out to be made. */
  taken(): void {
    this.#stats.inc('account/scheduled');
    this.#stats.inc('scheduler/dequeued');
    this.#stats.inc('scheduler/dequeued/redis');
  }

  /** So many are in the frontier now. */
  accepted(count: number): void {
    this.handedOver(count);
    this.#stats.inc('scheduler/enqueued', count);
    this.#stats.inc('scheduler/enqueued/redis', count);
  }

  /** So many are another worker's, or will be. */
  handedOver(count: number): void {
    if (count > 0) this.#stats.inc('account/scheduled', -count);
  }

  /** The lease of one has ended, or is no longer ours for certain. */
  lost(): void {
    this.#stats.inc('scheduler/lease_lost');
  }
}
