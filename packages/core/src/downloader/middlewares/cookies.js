import { NotConfigured } from '../../errors.js';
import { Headers } from '../../http/headers.js';
import { CookieStore } from './cookie-store.js';
/** The Cookie header that requests had before a jar added to it; undefined if none. */
const handSet = new WeakMap();
/**
 * A copy of the headers without what a jar added, for a request that follows this one: the jar may have
 * changed by then. Undefined if there are none.
 */
export function ownHeaders(request) {
  if (!request.hasHeaders) return undefined;
  const headers = new Headers(request.headers);
  if (handSet.has(request)) restore(headers, handSet.get(request));
  return headers;
}
function restore(headers, cookie) {
  if (cookie === undefined) headers.delete('cookie');
  else headers.set('cookie', cookie);
}
/**
 * Keeps the cookies that sites set and sends them back. One jar for all requests, or one for each
 * `meta.cookiejar`; `meta.dontMergeCookies` leaves a request and its response alone.
 */
export class CookiesMiddleware {
  static fromCrawler(crawler) {
    if (!crawler.settings.get('COOKIES_ENABLED')) throw new NotConfigured();
    return new CookiesMiddleware(crawler);
  }
  #crawler;
  #debug;
  #jars = new Map();
  constructor(crawler) {
    this.#crawler = crawler;
    this.#debug = crawler.settings.get('COOKIES_DEBUG');
  }
  processRequest(request) {
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
    if (this.#debug) this.#crawler.log.debug(`Sending cookies to ${request.toString()}: ${header}`);
  }
  processResponse(request, response) {
    if (response.header('set-cookie') === undefined || request.meta.dontMergeCookies) {
      return response;
    }
    const lines = response.headers.getAll('set-cookie');
    const jar = this.#open(request.meta.cookiejar ?? '');
    for (const line of lines) {
      const taken = jar.setFromHeader(line, request.url);
      if (this.#debug) {
        this.#crawler.log.debug(
          `Received cookie from ${request.toString()}${taken ? '' : ' (refused)'}: ${line}`,
        );
      }
    }
    return response;
  }
  /** The Cookie header that a request to `url` would get from a jar; empty if none. */
  cookieHeader(url, cookiejar = '') {
    return this.#jars.get(cookiejar)?.headerFor(url) ?? '';
  }
  #open(key) {
    let jar = this.#jars.get(key);
    if (jar === undefined) {
      const { settings } = this.#crawler;
      jar = new CookieStore({
        rejectsPublicSuffixes: settings.get('COOKIES_PUBLIC_SUFFIX') !== false,
        maxPerDomain: Number(settings.get('COOKIES_MAX_PER_DOMAIN') ?? 180),
      });
      this.#jars.set(key, jar);
    }
    return jar;
  }
  #add(jar, request) {
    const { cookies, url } = request;
    const list = Array.isArray(cookies)
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
function merge(fromJar, byHand) {
  const names = new Set(fromJar.split(';').map(nameOf));
  const others = byHand.split(';').filter((pair) => pair.trim() !== '' && !names.has(nameOf(pair)));
  return [fromJar, ...others.map((pair) => pair.trim())].join('; ');
}
function nameOf(pair) {
  return pair.slice(0, pair.indexOf('=')).trim();
}
//# sourceMappingURL=cookies.js.map
