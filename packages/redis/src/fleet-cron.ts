import { Queue, Worker } from 'bullmq';
import { UsageError } from 'lycosa';

import { clientOptions } from './connection.ts';
import { type FleetOptions, queuePrefix } from './fleet-settings.ts';
import type { FleetOrder } from './fleet.ts';

/** Orders that come back at fixed times. */
export interface FleetSchedule {
  readonly id: string;
  readonly orders: readonly FleetOrder[];
  /** Five or six fields, as of cron: `0 3 * * *`. */
  readonly pattern: string;
  /** Time zone of the pattern: `Europe/Paris`; that of the machine by default. */
  readonly tz?: string;
  /** When it comes next, in milliseconds since the epoch. */
  readonly next?: number;
}

interface CronJob {
  readonly orders: readonly FleetOrder[];
}

const cronName = 'cron';

/** @internal BullMQ's job schedulers, in a queue of their own: what falls due there is ordered like by hand. */
export class FleetCron {
  readonly #options: FleetOptions;
  #queue: Queue<CronJob> | undefined;

  constructor(options: FleetOptions) {
    this.#options = options;
  }

  /** @throws UsageError for a pattern that is none. */
  async add(id: string, schedule: Omit<FleetSchedule, 'id' | 'next'>): Promise<void> {
    const { orders, pattern, tz } = schedule;
    try {
      await this.#open().upsertJobScheduler(
        id,
        { pattern, ...(tz !== undefined && { tz }) },
        { name: id, data: { orders }, opts: { removeOnComplete: true, removeOnFail: true } },
      );
    } catch (cause) {
      throw new UsageError(
        `The schedule ${JSON.stringify(pattern)}${tz === undefined ? '' : ` in ${tz}`} cannot be: ${(cause as Error).message}. Write five fields as for cron: "0 3 * * *" is three at night.`,
        { cause },
      );
    }
  }

  async remove(id: string): Promise<boolean> {
    return this.#open().removeJobScheduler(id);
  }

  async list(): Promise<FleetSchedule[]> {
    const found = await this.#open().getJobSchedulers(0, -1, true);
    return found.map(({ key, pattern, tz, next, template }) => ({
      id: key,
      orders: template?.data?.orders ?? [],
      pattern: pattern ?? '',
      ...(tz !== undefined && { tz }),
      ...(next !== undefined && { next }),
    }));
  }

  /** Carries out what falls due, until it is closed. Any number of machines may: each time comes to one of them. */
  work(order: (orders: readonly FleetOrder[]) => Promise<unknown>): Worker<CronJob> {
    const { redis, sets } = this.#options;
    const worker = new Worker<CronJob>(
      cronName,
      async (job) => void (await order(job.data.orders)),
      {
        connection: { ...clientOptions(redis), maxRetriesPerRequest: null } as never,
        prefix: queuePrefix(sets.prefix ?? ''),
      },
    );
    worker.on('error', () => {});
    return worker;
  }

  async close(): Promise<void> {
    await this.#queue?.close();
  }

  #open(): Queue<CronJob> {
    const { redis, sets } = this.#options;
    if (this.#queue === undefined) {
      this.#queue = new Queue<CronJob>(cronName, {
        connection: clientOptions(redis),
        prefix: queuePrefix(sets.prefix ?? ''),
      });
      this.#queue.on('error', () => {});
    }
    return this.#queue;
  }
}
