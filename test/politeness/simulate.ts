import { Slot } from 'lycosa';
import { vi } from 'vitest';

/** What became of a simulated crawl of one site, second by second. */
export interface Simulated {
  readonly good: readonly number[];
  readonly refused: readonly number[];
}

/** A site that allows so many requests in any window and refuses the others. */
export interface SimulatedSite {
  /** Requests that a window allows, at so many seconds since the start. */
  readonly rate: number | ((second: number) => number);
  /** 1 by default. */
  readonly windowSeconds?: number;
  /** Seconds, in the header of that name. */
  readonly retryAfter?: number | undefined;
  /** What AutoThrottle has learnt, in seconds. */
  readonly learnt?: number;
}

/**
 * Crawls a site for so many seconds under the fake clock, with eight transfers at once. A refusal is answered as the
 * Backoff extension does.
 */
export async function simulate(
  { rate, windowSeconds = 1, retryAfter, learnt }: SimulatedSite,
  seconds: number,
): Promise<Simulated> {
  const slot = new Slot('site.test');
  slot.addWish({ concurrency: 8, delay: 0, jitter: 0.5, adaptive: learnt !== undefined });
  if (learnt !== undefined) slot.delay = learnt;
  const rateAt = typeof rate === 'number' ? () => rate : rate;
  const good = Array.from({ length: seconds }, () => 0);
  const refused = [...good];
  let allowed: number[] = [];
  const start = performance.now();
  const end = start + seconds * 1000;
  const worker = async (): Promise<void> => {
    for (;;) {
      const turn = slot.enter(slot);
      if (turn && !(await turn)) return;
      const sent = performance.now();
      if (sent >= end) return slot.leave();
      allowed = allowed.filter((time) => time > sent - windowSeconds * 1000);
      const isAllowed = allowed.length < rateAt((sent - start) / 1000);
      if (isAllowed) allowed.push(sent);
      await new Promise((resolve) => setTimeout(resolve, 50));
      (isAllowed ? good : refused)[Math.floor((sent - start) / 1000)]!++;
      if (isAllowed) slot.relieved(sent);
      else if (
        slot.congested(
          {
            dispatchedAt: sent,
            factor: retryAfter ? 1.25 : 2,
            pause: retryAfter ?? 0,
            start: 1,
            max: 60,
          },
          '429',
        ) &&
        retryAfter
      )
        slot.pauseUntil(performance.now() + retryAfter * 1000);
      slot.leave();
    }
  };
  const workers = Promise.all(Array.from({ length: 8 }, worker));
  await vi.advanceTimersByTimeAsync(seconds * 1000 + 120_000);
  await workers;
  slot.close();
  return { good, refused };
}

export const sum = (counts: readonly number[], from = 0, to?: number): number =>
  counts.slice(from, to).reduce((total, count) => total + count, 0);
