import { NotConfigured, SettingsError } from '../errors.js';
/**
 * AutoThrottle's rule: the delay of a slot after a response, in seconds.
 *
 * With a delay of latency ÷ target, about `target` requests are under way at a time. A higher aim is taken at once, a
 * lower one by halving the distance. A response other than 200 never lowers the delay: errors tend to be quick.
 *
 * @see {@link https://docs.scrapy.org/en/latest/topics/autothrottle.html | AutoThrottle in Scrapy}
 */
export function nextDelay({ delay, latency, status, target, min, max }) {
  const aim = latency / target;
  const next = Math.min(Math.max(min, aim, (delay + aim) / 2), max);
  return status !== 200 && next <= delay ? delay : next;
}
/**
 * Adapts the delay of each slot to the latency of its site. It hears every response that came over the network,
 * redirects and errors included; not cached ones, and not requests that got no response.
 *
 * Override the protected methods to decide by slot.
 */
export class AutoThrottle {
  /**
   * @throws SettingsError when `DOWNLOAD_DELAY` is above `AUTOTHROTTLE_MAX_DELAY`.
   */
  static fromCrawler(crawler) {
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
    return new this(crawler);
  }
  #host;
  #target;
  #isDebug;
  constructor(host) {
    this.#host = host;
    this.#target = host.settings.get('AUTOTHROTTLE_TARGET_CONCURRENCY');
    this.#isDebug = host.settings.get('AUTOTHROTTLE_DEBUG');
    host.signals.connect('spider_opened', () => {
      host.slots.defaultDelay = this.startDelay();
    });
    host.signals.connect('response_downloaded', (event) => {
      this.#downloaded(event.response, event.request);
    });
  }
  /** The lowest delay, in seconds. */
  minDelay(_slot) {
    return this.#host.settings.get('DOWNLOAD_DELAY');
  }
  /** The highest delay, in seconds. */
  maxDelay(_slot) {
    return this.#host.settings.get('AUTOTHROTTLE_MAX_DELAY');
  }
  /** The delay that new slots start with, in seconds. */
  startDelay() {
    return Math.max(this.minDelay(), this.#host.settings.get('AUTOTHROTTLE_START_DELAY'));
  }
  /** The slot that a response speaks for; undefined leaves all as they are. */
  getSlot(request) {
    const { slots } = this.#host;
    return slots.get(slots.keyOf(request));
  }
  /** Sets the delay of `slot` after a response with this latency, in seconds. */
  adjustDelay(slot, latency, response) {
    slot.delay = nextDelay({
      delay: slot.delay,
      latency,
      status: response.status,
      target: this.#target,
      min: this.minDelay(slot),
      max: this.maxDelay(slot),
    });
  }
  #downloaded(response, request) {
    const { downloadLatency: latency, autothrottleDontAdjustDelay: isExempt } = request.meta;
    if (latency === undefined || isExempt === true) return;
    const slot = this.getSlot(request);
    if (slot === undefined) return;
    const before = slot.delay;
    this.adjustDelay(slot, latency, response);
    const change = slot.delay - before;
    const decision = change > 0 ? 'raised' : change < 0 ? 'lowered' : 'kept';
    this.#host.stats.inc(`autothrottle/${decision}`);
    if (this.#isDebug) this.#log(slot, change, latency, response);
  }
  /** The transfer of the response itself still counts among `conc`. */
  #log(slot, change, latency, response) {
    const number = (value, width) => String(Math.trunc(value)).padStart(width);
    const sign = Math.trunc(change * 1000) < 0 ? '' : '+';
    this.#host.log.info(
      `slot: ${slot.key} | conc:${number(slot.transferring, 2)} | ` +
        `delay:${number(slot.delay * 1000, 5)} ms (${sign}${number(change * 1000, 0)}) | ` +
        `latency:${number(latency * 1000, 5)} ms | size:${number(response.body.length, 6)} bytes`,
    );
  }
}
//# sourceMappingURL=auto-throttle.js.map
