import type { Crawler } from '../crawler/crawler.ts';
import type { Slot } from '../downloader/slot.ts';
import type { Request } from '../http/request.ts';
import type { Response } from '../http/response.ts';
import type { Extension } from './extension.ts';
/** One observation; all times in seconds. */
export interface DelayStep {
  /** The delay of the slot now. */
  readonly delay: number;
  /** From the request to the headers of its response. */
  readonly latency: number;
  readonly status: number;
  /** How many requests should be under way at a time, on average. */
  readonly target: number;
  readonly min: number;
  /** Wins where it is smaller than `min`. */
  readonly max: number;
}
/**
 * AutoThrottle's rule: the delay of a slot after a response, in seconds.
 *
 * With a delay of latency ÷ target, about `target` requests are under way at a time. A higher aim is taken at once, a
 * lower one by halving the distance. A response other than 200 never lowers the delay: errors tend to be quick.
 *
 * @see {@link https://docs.scrapy.org/en/latest/topics/autothrottle.html | AutoThrottle in Scrapy}
 */
export declare function nextDelay({ delay, latency, status, target, min, max }: DelayStep): number;
/** What throttling needs of a crawler. */
export type AutoThrottleHost = Pick<Crawler, 'settings' | 'signals' | 'stats' | 'log' | 'slots'>;
/**
 * Adapts the delay of each slot to the latency of its site. It hears every response that came over the network,
 * redirects and errors included; not cached ones, and not requests that got no response.
 *
 * Override the protected methods to decide by slot.
 */
export declare class AutoThrottle implements Extension {
  #private;
  /**
   * @throws SettingsError when `DOWNLOAD_DELAY` is above `AUTOTHROTTLE_MAX_DELAY`.
   */
  static fromCrawler(crawler: Crawler): AutoThrottle;
  constructor(host: AutoThrottleHost);
  /** The lowest delay, in seconds. */
  protected minDelay(_slot?: Slot): number;
  /** The highest delay, in seconds. */
  protected maxDelay(_slot?: Slot): number;
  /** The delay that new slots start with, in seconds. */
  protected startDelay(): number;
  /** The slot that a response speaks for; undefined leaves all as they are. */
  protected getSlot(request: Request): Slot | undefined;
  /** Sets the delay of `slot` after a response with this latency, in seconds. */
  protected adjustDelay(slot: Slot, latency: number, response: Response): void;
}
//# sourceMappingURL=auto-throttle.d.ts.map
