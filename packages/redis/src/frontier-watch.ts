import type { Crawler, Logger } from 'lycosa';

import { connectRedis, type RedisConnection, redisOptions } from './connection.ts';

/** What a server says that cannot work now and may later. */
const passing =
  /(^|[ -])(LOADING|BUSY|READONLY|OOM|MISCONF|NOREPLICAS|MASTERDOWN|CLUSTERDOWN|TRYAGAIN)\b|^(Connection is closed|Stream isn't writeable)/;

/** Milliseconds without an answer after which that is told. */
const patienceMs = 5000;

/** Milliseconds before a refused command is tried again; it doubles with each, up to the second. */
const retryMs = [100, 2000] as const;

/**
 * Connects to the Redis of the settings for as long as a crawl lasts: a command is never given up.
 *
 * @param onLost - Told each time the connection is lost.
 */
export async function connectWatched(
  { settings, log }: Pick<Crawler, 'settings' | 'log'>,
  onLost?: () => void,
): Promise<{ redis: RedisConnection; watch: FrontierWatch }> {
  const options = redisOptions(settings);
  let watch: FrontierWatch | undefined;
  const redis = await connectRedis({
    ...options,
    params: { ...options.params, maxRetriesPerRequest: null },
    onLost: (error) => {
      watch?.lost(error);
      onLost?.();
    },
  });
  watch = new FrontierWatch(log, redis.url);
  return { redis, watch };
}

/**
 * Sees to it that a Redis that is away stops a crawl and does not end it: commands wait for its return, and one line
 * tells when it goes and one when it is back.
 */
export class FrontierWatch {
  readonly #log: Logger;
  readonly #name: string;
  /** When the commands under way were sent. */
  readonly #open = new Set<{ since: number; isRefused: boolean }>();
  #awaySince: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** @param name - Where Redis is, as it may be shown. */
  constructor(log: Logger, name: string) {
    this.#log = log;
    this.#name = name;
  }

  /** The connection was lost. */
  lost(error: Error): void {
    this.#away(error.message || 'the connection is lost');
  }

  /** Runs a command until it has an answer; what is wrong with the command itself is thrown. */
  async run<T>(command: () => Promise<T>): Promise<T> {
    const entry = { since: performance.now(), isRefused: false };
    this.#open.add(entry);
    this.#arm();
    try {
      for (let wait: number = retryMs[0]; ; wait = Math.min(2 * wait, retryMs[1])) {
        try {
          const answer = await command();
          entry.isRefused = false;
          this.#back();
          return answer;
        } catch (thrown) {
          const error = thrown as Error;
          if (this.#isClosed || !passing.test(error.message)) throw error;
          entry.isRefused = true;
          this.#away(error.message.replace(/\.? script: .*/s, ''));
          await new Promise((resolve) => {
            setTimeout(resolve, wait);
          });
          entry.since = performance.now();
        }
      }
    } finally {
      this.#open.delete(entry);
    }
  }

  /** What fails from now on is thrown at once. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #arm(): void {
    if (this.#timer !== undefined || this.#isClosed) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (this.#open.size === 0) return;
      const oldest = Math.min(...Array.from(this.#open, ({ since }) => since));
      if (performance.now() - oldest >= patienceMs) this.#away('no answer', oldest);
      this.#arm();
    }, patienceMs).unref();
  }

  #away(why: string, since: number = performance.now()): void {
    if (this.#awaySince !== undefined || this.#isClosed) return;
    this.#awaySince = since;
    this.#log.warn(
      `Redis at ${this.#name} is away (${why}): the crawl waits for it. Downloads under way go on; nothing is lost.`,
    );
  }

  #back(): void {
    if (this.#awaySince === undefined) return;
    // Some commands may work where others are still refused: a full memory.
    for (const { isRefused } of this.#open) if (isRefused) return;
    const seconds = (performance.now() - this.#awaySince) / 1000;
    this.#awaySince = undefined;
    this.#log.info(
      `Redis at ${this.#name} is back after ${seconds.toFixed(1)} s: the crawl goes on`,
    );
  }
}
