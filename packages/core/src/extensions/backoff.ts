import type { Crawler } from '../crawler/crawler.ts';
import { retryAfterOf } from '../downloader/retry-after.ts';
import {
  DownloadFailedError,
  DownloadTimeoutError,
  NotConfigured,
  SettingsError,
} from '../errors.ts';
import type { Request } from '../http/request.ts';
import type { Response } from '../http/response.ts';
import type { Extension } from './extension.ts';

/** What backing off needs of a crawler. */
export type BackoffHost = Pick<
  Crawler,
  'settings' | 'signals' | 'stats' | 'log' | 'slots' | 'engine'
>;

/** How much longer the delay becomes: refused, refused with a time to come back, no answer. */
const factors = { refused: 2, asked: 1.25, lost: 1.25 };

/**
 * Slows down for a site that pushes back. A 429 or 503 with `Retry-After` pauses the whole slot until then; one
 * without doubles its delay; timeouts and broken connections lengthen it a little. Whatever was sent before counts
 * as the same event. Good answers shorten the delay again, down to what the site allows.
 *
 * It works beside AutoThrottle: the longer delay of the two holds.
 */
export class Backoff implements Extension {
  /** @throws SettingsError when `BACKOFF_START_DELAY` is not above 0 or above `BACKOFF_MAX_DELAY`. */
  static fromCrawler(crawler: Crawler): Backoff {
    const { settings } = crawler;
    if (!settings.get('BACKOFF_ENABLED')) throw new NotConfigured();
    const start = settings.get('BACKOFF_START_DELAY');
    const max = settings.get('BACKOFF_MAX_DELAY');
    if (!(start > 0 && start <= max)) {
      throw new SettingsError(
        `BACKOFF_START_DELAY must be above 0 and at most BACKOFF_MAX_DELAY (${max} s), got ${start}.`,
      );
    }
    return new this(crawler);
  }

  readonly #host: BackoffHost;
  readonly #start: number;
  readonly #max: number;
  readonly #maxPause: number;

  constructor(host: BackoffHost) {
    const { settings, signals } = host;
    this.#host = host;
    this.#start = settings.get('BACKOFF_START_DELAY');
    this.#max = settings.get('BACKOFF_MAX_DELAY');
    this.#maxPause = settings.get('RETRY_AFTER_MAX');
    signals.connect('response_downloaded', ({ response, request }) => {
      this.#answered(response, request);
    });
    signals.connect('download_failed', ({ error, request }) => {
      if (error instanceof DownloadTimeoutError || error instanceof DownloadFailedError)
        this.#congested(request, factors.lost, error.name);
    });
  }

  #answered(response: Response, request: Request): void {
    const { status } = response;
    // No network, no word of the site.
    if (request.meta.downloadLatency === undefined) return;
    if (status !== 429 && status !== 503) {
      if (status < 500) this.#relieved(request);
      return;
    }
    const asked = retryAfterOf(response);
    const seconds = Math.min(asked ?? 0, this.#maxPause);
    const factor = seconds > 0 ? factors.asked : factors.refused;
    const isNew = this.#congested(request, factor, status, seconds);
    if (seconds > 0) this.#pause(request, seconds, asked!, isNew);
  }

  #relieved(request: Request): void {
    const slot = this.#slotOf(request);
    if (!slot.relieved(this.#dispatchedAt(request))) return;
    this.#host.stats.inc('backoff/end_count');
    this.#host.log.info(
      `${slot.key} does not push back any more: delay ${slot.delay.toFixed(3)} s`,
    );
  }

  #congested(request: Request, factor: number, sign: string | number, pause = 0): boolean {
    const slot = this.#slotOf(request);
    const dispatchedAt = this.#dispatchedAt(request);
    const isNew = slot.congested(
      { dispatchedAt, factor, pause, start: this.#start, max: this.#max },
      `backoff: ${sign}`,
    );
    const { stats, log } = this.#host;
    if (isNew) stats.inc('backoff/event_count');
    else stats.inc('backoff/same_event_count');
    if (isNew) {
      const paused = pause > 0 ? `, after a pause of ${pause} s` : '';
      log.info(`${slot.key} pushes back (${sign}): delay ${slot.delay.toFixed(3)} s${paused}`);
    }
    return isNew;
  }

  /** A later word in the same burst may make a pause longer, never shorter. */
  #pause(request: Request, seconds: number, asked: number, isNew: boolean): void {
    const { stats, log } = this.#host;
    const slot = this.#slotOf(request);
    const until = performance.now() + seconds * 1000;
    if (until <= slot.pausedUntil) return;
    slot.pauseUntil(until, `paused for ${seconds} s: Retry-After ${asked}`);
    if (!isNew) return;
    stats.inc('backoff/pause_count');
    if (asked <= seconds) return;
    stats.inc('security/blocked/RETRY_AFTER_MAX');
    log.warn(`${slot.key} asks for a wait of ${asked} s; ${seconds} s are kept (RETRY_AFTER_MAX).`);
  }

  #slotOf(request: Request): ReturnType<BackoffHost['slots']['get']> {
    const { slots } = this.#host;
    return slots.get(slots.keyOf(request));
  }

  #dispatchedAt(request: Request): number {
    return this.#host.engine?.downloader.dispatchedAt(request) ?? performance.now();
  }
}
