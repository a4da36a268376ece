import type { Crawler } from '../../crawler/crawler.ts';
import { NotConfigured, toError } from '../../errors.ts';
import { Headers } from '../../http/headers.ts';
import type { Request } from '../../http/request.ts';
import type { Response } from '../../http/response.ts';
import type { DownloaderMiddleware } from '../middleware.ts';
import { type CookieInit, CookieStore } from './cookie-store.ts';

/** Where cookies outlive the process. */
interface CookieFile {
  cookies(): Iterable<{ jar: string; data: string }>;
  /** Null forgets them. */
  setCookies(jar: string, domain: string, data: string | null): void;
}

/** The Cookie header that requests had before a jar added to it; undefined if none. */
const handSet = new WeakMap<Request, string | undefined>();

/**
 * A copy of the headers without what a jar added, for a request that follows this one: the jar may have
 * changed by then. Undefined if there are none.
 */
export function ownHeaders(request: Request): Headers | undefined {
  if (!request.hasHeaders) return undefined;
  const headers = new Headers(request.headers);
  if (handSet.has(request)) restore(headers, handSet.get(request));
  return headers;
}

function restore(headers: Headers, cookie: string | undefined): void {
  if (cookie === undefined) headers.delete('cookie');
  else headers.set('cookie', cookie);
}

/**
 * Keeps the cookies that sites set and sends them back. One jar for all requests, or one for each
 * `meta.cookiejar`; `meta.dontMergeCookies` leaves a request and its response alone.
 */
export class CookiesMiddleware implements DownloaderMiddleware {
  static fromCrawler(crawler: Crawler): CookiesMiddleware {
    if (!crawler.settings.get('COOKIES_ENABLED')) throw new NotConfigured();
    return new CookiesMiddleware(crawler);
  }

  readonly #crawler: Crawler;
  readonly #debug: boolean;
  /** Names are shown, values are not: who has them is logged in. */
  readonly #redacts: boolean;
  readonly #jars = new Map<string | number, CookieStore>();

  constructor(crawler: Crawler) {
    this.#crawler = crawler;
    this.#debug = crawler.settings.get('COOKIES_DEBUG');
    this.#redacts = crawler.settings.get('LOG_REDACT');
  }

  processRequest(request: Request): undefined {
    const { meta, cookies } = request;
    if (meta.dontMergeCookies) return;
    let jar = this.#jars.get(meta.cookiejar ?? '');
    // Most crawls never see a cookie.
    if (cookies === undefined && (jar === undefined || (jar.isEmpty && !handSet.has(request)))) {
      return;
    }
    jar ??= this.#open(meta.cookiejar ?? '');
    if (cookies !== undefined) this.#add(jar, request);
    const fromJar = jar.headerFor(request.url);
    const { headers } = request;
    const own = handSet.has(request) ? handSet.get(request) : headers.get('cookie');
    if (fromJar === '') {
      if (handSet.has(request)) restore(headers, own);
      return;
    }
    handSet.set(request, own);
    const header = own ? merge(fromJar, own) : fromJar;
    headers.set('cookie', header);
    if (this.#debug)
      this.#crawler.log.debug(
        `Sending cookies to ${request.toString()}: ${this.#redacts ? header.replace(/=[^;]*/g, '=***') : header}`,
      );
  }

  processResponse(request: Request, response: Response): Response {
    if (response.header('set-cookie') === undefined || request.meta.dontMergeCookies) {
      return response;
    }
    const lines = response.headers.getAll('set-cookie');
    const jar = this.#open(request.meta.cookiejar ?? '');
    for (const line of lines) {
      const taken = jar.setFromHeader(line, request.url);
      if (this.#debug) {
        this.#crawler.log.debug(
          `Received cookie from ${request.toString()}${taken ? '' : ' (refused)'}: ${this.#redacts ? line.replace(/^([^=;]*=)?[^;]*/, '$1***') : line}`,
        );
      }
    }
    return response;
  }

  /** The Cookie header that a request to `url` would get from a jar; empty if none. */
  cookieHeader(url: string, cookiejar: string | number = ''): string {
    return this.#jars.get(cookiejar)?.headerFor(url) ?? '';
  }

  /** Writes down the domains whose cookies have changed. */
  save(job: CookieFile): void {
    for (const [key, jar] of this.#jars) {
      for (const [domain, data] of jar.takeChanges()) {
        job.setCookies(JSON.stringify(key), domain, data);
      }
    }
  }

  /** Takes up what `save` wrote; what cannot be read is left out. */
  restore(job: CookieFile): void {
    for (const { jar, data } of job.cookies()) {
      try {
        const key: unknown = JSON.parse(jar);
        if (typeof key === 'string' || typeof key === 'number') this.#open(key).restore(data);
      } catch (thrown) {
        this.#crawler.log.warn(`Cookies of the job cannot be read: ${toError(thrown).message}`);
      }
    }
  }

  #open(key: string | number): CookieStore {
    let jar = this.#jars.get(key);
    if (jar === undefined) {
      const { settings } = this.#crawler;
      jar = new CookieStore({
        rejectsPublicSuffixes: settings.get('COOKIES_PUBLIC_SUFFIX') !== false,
        maxPerDomain: Number(settings.get('COOKIES_MAX_PER_DOMAIN') ?? 180),
        onBlocked: (setting) => this.#blocked(setting),
      });
      this.#jars.set(key, jar);
    }
    return jar;
  }

  #blocked(setting: 'COOKIES_PUBLIC_SUFFIX' | 'COOKIES_MAX_PER_DOMAIN'): void {
    const { stats, log } = this.#crawler;
    const name = `security/blocked/${setting}`;
    if (stats.get(name) === undefined)
      log.warn(
        setting === 'COOKIES_PUBLIC_SUFFIX'
          ? 'A cookie for a whole public suffix, as co.uk, was refused (COOKIES_PUBLIC_SUFFIX). No more of them are told.'
          : 'A site has set more cookies than COOKIES_MAX_PER_DOMAIN: the oldest are forgotten. No more of them are told.',
      );
    stats.inc(name);
  }

  #add(jar: CookieStore, request: Request): void {
    const { cookies, url } = request;
    const list: readonly CookieInit[] = Array.isArray(cookies)
      ? cookies
      : Object.entries(cookies ?? {}).map(([name, value]) => ({ name, value: String(value) }));
    // What was given for https does not go out in the clear unless it says so.
    const secure = url.startsWith('https:');
    for (const cookie of list) {
      if (!jar.set({ secure, ...cookie }, url)) {
        this.#crawler.log.warn(
          `The cookie ${JSON.stringify(cookie.name)} of ${request.toString()} cannot be sent there: see its name, value and domain.`,
        );
      }
    }
  }
}

/** The jar's cookies, then those set by hand under other names. */
function merge(fromJar: string, byHand: string): string {
  const names = new Set(fromJar.split(';').map(nameOf));
  const others = byHand.split(';').filter((pair) => pair.trim() !== '' && !names.has(nameOf(pair)));
  return [fromJar, ...others.map((pair) => pair.trim())].join('; ');
}

function nameOf(pair: string): string {
  return pair.slice(0, pair.indexOf('=')).trim();
}
