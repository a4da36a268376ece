import type { Crawler } from '../crawler/crawler.ts';
import type { SlotSettings } from '../downloader/slot-registry.ts';
import type { Slot } from '../downloader/slot.ts';
import { NotConfigured, SettingsError } from '../errors.ts';
import type { Request } from '../http/request.ts';
import type { Response } from '../http/response.ts';
import type { Extension } from './extension.ts';
import { LoopLag } from './loop-lag.ts';

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
export function nextDelay({ delay, latency, status, target, min, max }: DelayStep): number {
  const aim = latency / target;
  const next = Math.min(Math.max(min, aim, (delay + aim) / 2), max);
  return status !== 200 && next <= delay ? delay : next;
}

/** A target above what may be under way at once is never reached. */
function warnOfCaps({ settings, log }: AutoThrottleHost, common: number): void {
  const perSite =
    settings.get('CONCURRENT_REQUESTS_PER_IP') > 0
      ? 'CONCURRENT_REQUESTS_PER_IP'
      : 'CONCURRENT_REQUESTS_PER_DOMAIN';
  const warn = (what: string, target: number, name: string, cap: number): void => {
    if (!cap || target <= cap) return;
    log.warn(
      `${what} is ${target}, which ${name}=${cap} does not allow. Raise the second, or lower the first.`,
    );
  };
  for (const name of ['CONCURRENT_REQUESTS', perSite] as const)
    warn('AUTOTHROTTLE_TARGET_CONCURRENCY', common, name, settings.get(name));
  for (const [key, own] of Object.entries(settings.get('DOWNLOAD_SLOTS'))) {
    const { targetConcurrency: target = common, concurrency } = own;
    if (target === common && concurrency === undefined) continue;
    const what = `The target concurrency of ${key} in DOWNLOAD_SLOTS`;
    if (concurrency === undefined) warn(what, target, perSite, settings.get(perSite));
    else warn(what, target, 'its concurrency', concurrency);
  }
}

function checkSlots(
  slots: Readonly<Record<string, SlotSettings>>,
  commonMin: number,
  commonMax: number,
): void {
  for (const [key, { targetConcurrency, minDelay, maxDelay }] of Object.entries(slots)) {
    if (targetConcurrency !== undefined && !(targetConcurrency > 0)) {
      throw new SettingsError(
        `targetConcurrency of ${key} in DOWNLOAD_SLOTS must be above 0, got ${targetConcurrency}.`,
      );
    }
    if ((minDelay ?? commonMin) > (maxDelay ?? commonMax)) {
      throw new SettingsError(
        `minDelay of ${key} in DOWNLOAD_SLOTS (${minDelay ?? commonMin} s) is above its maxDelay (${maxDelay ?? commonMax} s).`,
      );
    }
  }
}

/** What throttling needs of a crawler. */
export type AutoThrottleHost = Pick<Crawler, 'settings' | 'signals' | 'stats' | 'log' | 'slots'>;

/**
 * Adapts the delay of each slot to the latency of its site. It hears every response that came over the network,
 * redirects and errors included; not cached ones, and not requests that got no response.
 *
 * Override the protected methods to decide by slot.
 */
export class AutoThrottle implements Extension {
  /**
   * @throws SettingsError when `DOWNLOAD_DELAY` is above `AUTOTHROTTLE_MAX_DELAY`.
   */
  static fromCrawler(crawler: Crawler): AutoThrottle {
    const { settings } = crawler;
    if (!settings.get('AUTOTHROTTLE_ENABLED')) throw new NotConfigured();
    const target = settings.get('AUTOTHROTTLE_TARGET_CONCURRENCY');
    if (!(target > 0)) {
      throw new NotConfigured(
        `AUTOTHROTTLE_TARGET_CONCURRENCY must be above 0, got ${target}. 1 is a polite value.`,
      );
    }
    const min = settings.get('DOWNLOAD_DELAY');
    const max = settings.get('AUTOTHROTTLE_MAX_DELAY');
    if (min > max) {
      throw new SettingsError(
        `DOWNLOAD_DELAY (${min} s) is above AUTOTHROTTLE_MAX_DELAY (${max} s). Raise the second, or lower the first.`,
      );
    }
    warnOfCaps(crawler, target);
    checkSlots(settings.get('DOWNLOAD_SLOTS'), min, max);
    return new this(crawler);
  }

  readonly #lag = new LoopLag();
  readonly #isTotal: boolean;
  readonly #host: AutoThrottleHost;
  readonly #target: number;
  readonly #isDebug: boolean;

  constructor(host: AutoThrottleHost) {
    this.#host = host;
    this.#target = host.settings.get('AUTOTHROTTLE_TARGET_CONCURRENCY');
    this.#isTotal = host.settings.get('AUTOTHROTTLE_LATENCY') === 'total';
    this.#isDebug = host.settings.get('AUTOTHROTTLE_DEBUG');
    host.signals.connect('spider_opened', () => {
      host.slots.defaultDelay = this.startDelay();
      this.#lag.start();
    });
    host.signals.connect('spider_closed', () => {
      this.#lag.stop();
      host.stats.set('event_loop/lag_max_ms', Math.round(this.#lag.maxMs));
    });
    host.signals.connect('response_downloaded', (event) => {
      this.#downloaded(event.response, event.request);
    });
  }

  /** The lowest delay, in seconds. */
  protected minDelay(slot?: Slot): number {
    const own = slot && this.#host.slots.settingsOf(slot.key);
    return own?.minDelay ?? this.#host.settings.get('DOWNLOAD_DELAY');
  }

  /** The highest delay, in seconds. */
  protected maxDelay(slot?: Slot): number {
    const own = slot && this.#host.slots.settingsOf(slot.key);
    return own?.maxDelay ?? this.#host.settings.get('AUTOTHROTTLE_MAX_DELAY');
  }

  /** How many requests should be under way at a time. */
  protected targetConcurrency(slot: Slot): number {
    return this.#host.slots.settingsOf(slot.key)?.targetConcurrency ?? this.#target;
  }

  /** The delay that new slots start with, in seconds. */
  protected startDelay(): number {
    return Math.max(this.minDelay(), this.#host.settings.get('AUTOTHROTTLE_START_DELAY'));
  }

  /** The slot that a response speaks for; undefined leaves all as they are. */
  protected getSlot(request: Request): Slot | undefined {
    const { slots } = this.#host;
    return slots.get(slots.keyOf(request));
  }

  /** Sets the delay of `slot` after a response with this latency, in seconds. */
  protected adjustDelay(slot: Slot, latency: number, response: Response): void {
    const delay = nextDelay({
      // What the site has pushed back to is not its latency.
      delay: slot.throttledDelay,
      latency,
      status: response.status,
      target: this.targetConcurrency(slot),
      min: this.minDelay(slot),
      max: this.maxDelay(slot),
    });
    slot.learn(delay, `latency ${Math.round(latency * 1000)} ms`);
  }

  #downloaded(response: Response, request: Request): void {
    const { downloadLatency, autothrottleDontAdjustDelay: isExempt } = request.meta;
    if (downloadLatency === undefined || isExempt === true) return;
    const slot = this.getSlot(request);
    if (slot === undefined) return;
    const body = response.timings?.body ?? 0;
    const latency = this.#isTotal ? downloadLatency + body / 1000 : downloadLatency;
    const before = slot.throttledDelay;
    if (this.#lag.isSpoilt(performance.now() - (this.#isTotal ? 0 : body), latency * 1000)) {
      this.#host.stats.inc('autothrottle/spoilt');
      // The site was at least so fast, so this may shorten the delay.
      if (latency / this.targetConcurrency(slot) >= before) {
        if (this.#isDebug) this.#log(slot, 0, latency, response);
        return;
      }
    }
    this.adjustDelay(slot, latency, response);
    const change = slot.throttledDelay - before;
    const decision = change > 0 ? 'raised' : change < 0 ? 'lowered' : 'kept';
    this.#host.stats.inc(`autothrottle/${decision}`);
    if (this.#isDebug) this.#log(slot, change, latency, response);
  }

  /** The transfer of the response itself still counts among `conc`. */
  #log(slot: Slot, change: number, latency: number, response: Response): void {
    const number = (value: number, width: number): string =>
      String(Math.trunc(value)).padStart(width);
    const sign = Math.trunc(change * 1000) < 0 ? '' : '+';
    this.#host.log.info(
      `slot: ${slot.key} | conc:${number(slot.transferring, 2)} | ` +
        `delay:${number(slot.throttledDelay * 1000, 5)} ms (${sign}${number(change * 1000, 0)}) | ` +
        `latency:${number(latency * 1000, 5)} ms | size:${number(response.body.length, 6)} bytes`,
    );
  }
}
