import type { Crawler } from '../../crawler/crawler.ts';
import { NotConfigured } from '../../errors.ts';
import type { Request } from '../../http/request.ts';
import type { Response } from '../../http/response.ts';
import type { DownloaderMiddleware } from '../middleware.ts';
import { retryAfterOf } from '../retry-after.ts';
import { ownHeaders } from './cookies.ts';

// An import of `node:http` loads all of Node's fetch with it, for two getters among its exports.
const { STATUS_CODES } = process.getBuiltinModule('node:http');

export interface RetryOptions {
  readonly crawler: Crawler;
  /** Counted in `retry/reason_count/{reason}` and logged: a text, or the error that was the reason. */
  readonly reason?: string | Error;
  /** Over `meta.maxRetryTimes` and `RETRY_TIMES`. */
  readonly maxRetryTimes?: number;
  /** Over `meta.priorityAdjust` and `RETRY_PRIORITY_ADJUST`. */
  readonly priorityAdjust?: number;
  /** Seconds to wait at least, as a server asked for. At most `RETRY_AFTER_MAX`. */
  readonly retryAfter?: number;
  /** First part of the stats' names; `retry` by default. */
  readonly statsBaseKey?: string;
}

/**
 * A copy of `request` to try again, or undefined when its retries are used up. It passes the duplicate filter
 * and is not sent before its back-off is over. Yield it from a callback to retry a page that came but is no good.
 */
export function getRetryRequest(request: Request, options: RetryOptions): Request | undefined {
  const { crawler, reason = 'unspecified', statsBaseKey = 'retry' } = options;
  const { settings, stats, log } = crawler;
  const { meta } = request;
  const retryTimes = (meta.retryTimes ?? 0) + 1;
  const maxRetryTimes = options.maxRetryTimes ?? meta.maxRetryTimes ?? settings.get('RETRY_TIMES');
  const why = typeof reason === 'string' ? reason : reason.name;
  if (retryTimes > maxRetryTimes) {
    stats.inc(`${statsBaseKey}/max_reached`);
    log.log(
      meta.giveUpLogLevel ?? settings.get('RETRY_GIVE_UP_LOG_LEVEL'),
      `Gave up retrying ${request.toString()} (failed ${retryTimes} times): ${why}`,
    );
    return undefined;
  }
  const waitMs = waitOf(crawler, retryTimes, options.retryAfter);
  const adjust =
    options.priorityAdjust ?? meta.priorityAdjust ?? settings.get('RETRY_PRIORITY_ADJUST');
  stats.inc(`${statsBaseKey}/count`);
  stats.inc(`${statsBaseKey}/reason_count/${why}`);
  if (log.isEnabled('DEBUG')) {
    log.debug(
      `Retrying ${request.toString()} in ${(waitMs / 1000).toFixed(1)} s (failed ${retryTimes} times): ${why}`,
    );
  }
  return request.replace({
    headers: ownHeaders(request),
    meta: { ...meta, retryTimes },
    dontFilter: true,
    priority: request.priority + adjust,
    notBefore: waitMs > 0 ? Date.now() + waitMs : undefined,
  });
}

/** Twice as long each time, up to `RETRY_BACKOFF_MAX`, each time from half to the whole of it. */
function waitOf(crawler: Crawler, retryTimes: number, retryAfter: number | undefined): number {
  const { settings } = crawler;
  const full = Math.min(
    settings.get('RETRY_BACKOFF') * 2 ** (retryTimes - 1),
    settings.get('RETRY_BACKOFF_MAX'),
  );
  const backoff = full * (0.5 + Math.random() / 2);
  const max = settings.get('RETRY_AFTER_MAX');
  // Otherwise Backoff tells, once for the whole slot.
  if (retryAfter !== undefined && retryAfter > max && !settings.get('BACKOFF_ENABLED')) {
    crawler.stats.inc('security/blocked/RETRY_AFTER_MAX');
    crawler.log.warn(
      `A server asks for a wait of ${retryAfter} s; ${max} s are kept (RETRY_AFTER_MAX).`,
    );
  }
  return Math.max(backoff, Math.min(retryAfter ?? 0, max)) * 1000;
}

/** Tries again what failed for a passing reason: the statuses of `RETRY_HTTP_CODES`, the errors of `RETRY_EXCEPTIONS`. */
export class RetryMiddleware implements DownloaderMiddleware {
  static fromCrawler(crawler: Crawler): RetryMiddleware {
    if (!crawler.settings.get('RETRY_ENABLED')) throw new NotConfigured();
    return new RetryMiddleware(crawler);
  }

  readonly #crawler: Crawler;
  readonly #statuses: ReadonlySet<number>;
  readonly #errors: ReadonlySet<string>;

  constructor(crawler: Crawler) {
    this.#crawler = crawler;
    this.#statuses = new Set(crawler.settings.get('RETRY_HTTP_CODES'));
    this.#errors = new Set(crawler.settings.get('RETRY_EXCEPTIONS'));
  }

  /** The response stays what it is once its retries are used up. */
  processResponse(request: Request, response: Response): Request | Response {
    const { status } = response;
    if (!this.#statuses.has(status) || request.meta.dontRetry) return response;
    const retry = getRetryRequest(request, {
      crawler: this.#crawler,
      reason: `${status} ${STATUS_CODES[status] ?? 'Unknown Status'}`,
      retryAfter: retryAfterOf(response),
    });
    return retry ?? response;
  }

  processException(request: Request, error: Error): Request | undefined {
    if (request.meta.dontRetry || !this.#isPassing(error)) return undefined;
    return getRetryRequest(request, { crawler: this.#crawler, reason: error });
  }

  /** By its code, or by the name of its class or one above it. */
  #isPassing(error: Error): boolean {
    const { code } = error as { code?: string };
    if (code !== undefined && this.#errors.has(code)) return true;
    for (
      let type: unknown = error.constructor;
      typeof type === 'function';
      type = Object.getPrototypeOf(type)
    ) {
      if (this.#errors.has(type.name)) return true;
    }
    return false;
  }
}
