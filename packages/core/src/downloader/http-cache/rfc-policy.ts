import type { Request } from '../../http/request.ts';
import type { Response } from '../../http/response.ts';
import type { Settings } from '../../settings/settings.ts';
import type { CachedResponse, HttpCachePolicy } from './policy.ts';

/** Seconds; the age from which on a permanent redirect is asked for again. */
const year = 365 * 24 * 3600;
/** Those of RFC 9110 §15.1, and Scrapy's 401. */
const heuristicStatuses = new Set([200, 203, 204, 401, 404, 405, 410, 414, 501]);
const permanentStatuses = new Set([300, 301, 308]);
const isToken = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

type Directives = ReadonlyMap<string, string | undefined>;

/**
 * Caches as a browser would. Only GET and HEAD; what may be stored is kept until it is stale, and then asked for again
 * with its validators.
 *
 * @see {@link https://www.rfc-editor.org/rfc/rfc9111 | RFC 9111}
 */
export class RfcPolicy implements HttpCachePolicy {
  readonly #alwaysStore: boolean;
  readonly #ignoredSchemes: readonly string[];
  readonly #ignoredStatuses: readonly number[];
  readonly #ignoredControls: readonly string[];
  readonly #now: () => number;

  /** @param now - Milliseconds since the epoch. */
  constructor(settings: Settings, now: () => number = Date.now) {
    this.#alwaysStore = settings.get('HTTPCACHE_ALWAYS_STORE');
    this.#ignoredSchemes = settings.get('HTTPCACHE_IGNORE_SCHEMES');
    this.#ignoredStatuses = settings.get('HTTPCACHE_IGNORE_HTTP_CODES').map(Number);
    this.#ignoredControls = settings
      .get('HTTPCACHE_IGNORE_RESPONSE_CACHE_CONTROLS')
      .map((name) => name.toLowerCase());
    this.#now = now;
  }

  shouldCacheRequest(request: Request): boolean {
    if (request.method !== 'GET' && request.method !== 'HEAD') return false;
    if (this.#ignoredSchemes.includes(request.url.slice(0, request.url.indexOf(':')))) return false;
    return !requestControls(request).has('no-store');
  }

  shouldCacheResponse(response: Response): boolean {
    const { status } = response;
    if (this.#ignoredStatuses.includes(status) || status === 304 || status === 206) return false;
    const controls = this.#controls(response);
    if (controls.has('no-store')) return false;
    if (this.#alwaysStore) return true;
    if (controls.has('max-age') || response.headers.has('expires')) return true;
    if (permanentStatuses.has(status)) return true;
    const { headers } = response;
    return heuristicStatuses.has(status) && (headers.has('last-modified') || headers.has('etag'));
  }

  isCachedResponseFresh(cached: CachedResponse, request: Request): boolean {
    const { response } = cached;
    const controls = this.#controls(response);
    const asked = requestControls(request);
    if (controls.has('no-cache') || asked.has('no-cache')) return false;
    const maxAge = secondsOf(asked, 'max-age') ?? Infinity;
    const lifetime = Math.min(this.#lifetime(response, controls, cached.storedAt), maxAge);
    const age = this.#age(cached);
    if (age + (secondsOf(asked, 'min-fresh') ?? 0) < lifetime) return true;
    if (!asked.has('max-stale') || controls.has('must-revalidate')) return false;
    if (asked.get('max-stale') === undefined) return true;
    return age < lifetime + (secondsOf(asked, 'max-stale') ?? 0);
  }

  isCachedResponseValid(cached: CachedResponse, response: Response): boolean {
    if (response.status >= 500) return this.isCachedResponseUsableOnError(cached);
    return response.status === 304;
  }

  isCachedResponseUsableOnError({ response }: CachedResponse): boolean {
    const controls = this.#controls(response);
    return !controls.has('must-revalidate') && !controls.has('no-cache');
  }

  /** RFC 9111 §4.4. */
  invalidates({ method }: Request, { status }: Response): boolean {
    return !/^(?:GET|HEAD|OPTIONS|TRACE)$/.test(method) && status >= 200 && status < 400;
  }

  validators({ response }: CachedResponse): Readonly<Record<string, string>> {
    const modified = response.header('last-modified');
    const tag = response.header('etag');
    return {
      ...(modified !== undefined && { 'if-modified-since': modified }),
      ...(tag !== undefined && { 'if-none-match': tag }),
    };
  }

  varyBy(response: Response): readonly string[] {
    return response.headers
      .getAll('vary')
      .flatMap((value) => value.split(','))
      .map((name) => name.trim().toLowerCase())
      .filter((name) => name !== '');
  }

  #controls(response: Response): Directives {
    const controls = parseControls(response.headers.getAll('cache-control'));
    for (const name of this.#ignoredControls) controls.delete(name);
    return controls;
  }

  /** Seconds for which it is fresh (RFC 9111 §4.2.1, §4.2.2). */
  #lifetime(response: Response, controls: Directives, storedAt: number): number {
    if (controls.has('max-age')) return secondsOf(controls, 'max-age') ?? 0;
    const { headers, status } = response;
    const date = dateOf(headers.get('date')) ?? storedAt;
    const expires = headers.getAll('expires');
    if (expires.length > 0) {
      const end = expires.length === 1 ? dateOf(expires[0]) : undefined;
      return end === undefined ? 0 : Math.max(0, (end - date) / 1000);
    }
    const modified = dateOf(headers.get('last-modified'));
    if (modified !== undefined && modified <= date) return (date - modified) / 10_000;
    return permanentStatuses.has(status) ? year : 0;
  }

  /** Seconds since the server made it (RFC 9111 §4.2.3). */
  #age({ response, storedAt }: CachedResponse): number {
    const now = this.#now();
    const date = dateOf(response.headers.get('date')) ?? storedAt;
    const given = /^\s*(\d+)/.exec(response.headers.get('age') ?? '')?.[1];
    const resident = Math.max(0, (now - storedAt) / 1000);
    return Math.max(0, (now - date) / 1000, (given === undefined ? 0 : Number(given)) + resident);
  }
}

function requestControls(request: Request): Directives {
  if (!request.hasHeaders) return new Map();
  const { headers } = request;
  const values = headers.getAll('cache-control');
  // RFC 9111 §5.4: Pragma counts where there is no Cache-Control.
  return parseControls(values.length > 0 ? values : headers.getAll('pragma'));
}

/** The directives of Cache-Control, by lower-case name; the first of a name counts. */
function parseControls(values: readonly string[]): Map<string, string | undefined> {
  const controls = new Map<string, string | undefined>();
  for (const part of values.join(',').match(/(?:[^,"]|"(?:\\.|[^"\\])*"?)+/g) ?? []) {
    const equals = part.indexOf('=');
    const name = (equals < 0 ? part : part.slice(0, equals)).trim().toLowerCase();
    if (!isToken.test(name) || controls.has(name)) continue;
    const value = equals < 0 ? undefined : part.slice(equals + 1).trim();
    controls.set(name, value?.replace(/^"([^"]*)"$/, '$1'));
  }
  return controls;
}

/** Undefined for what is no number. */
function secondsOf(controls: Directives, name: string): number | undefined {
  const value = controls.get(name);
  if (value === undefined || !/^-?\d+$/.test(value)) return undefined;
  return Math.max(0, Number(value));
}

const httpDate =
  /^(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT|[A-Z][a-z]+day, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT|(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4})$/i;

/** Milliseconds since the epoch, of the three forms that a HTTP date may have. */
function dateOf(value: string | undefined): number | undefined {
  if (value === undefined || !httpDate.test(value)) return undefined;
  const time = Date.parse(/GMT$/i.test(value) ? value : `${value} GMT`);
  if (Number.isNaN(time)) return undefined;
  return /-\d\d /.test(value) ? ofTheCentury(time) : time;
}

/** A year of two digits is the one that is not more than 50 years ahead (RFC 9110 §5.6.7). */
function ofTheCentury(time: number): number {
  const date = new Date(time);
  const thisYear = new Date().getUTCFullYear();
  const year = thisYear - (thisYear % 100) + (date.getUTCFullYear() % 100);
  return date.setUTCFullYear(year > thisYear + 50 ? year - 100 : year);
}
