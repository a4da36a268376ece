import { createRequire } from 'node:module';

import { hostOf } from '../../http/url.js';
const require = createRequire(import.meta.url);
let library;
/** Loaded with the first cookie: it brings the public suffix list, and many crawls need neither. */
function load() {
  return (library ??= require('tough-cookie'));
}
/** Bytes of name and value together, and of one attribute, that are taken (RFC 6265bis §5.6). */
const maxCookie = 4096;
const maxAttribute = 1024;
/** Domains with cookies; the one whose last was set longest ago is forgotten first. */
const maxDomains = 50_000;
/** A cookie jar by RFC 6265bis, with bounds. */
export class CookieStore {
  #jar;
  #maxPerDomain;
  /** By domain, the path and name of its cookies, the oldest first. */
  #domains = new Map();
  constructor({ rejectsPublicSuffixes, maxPerDomain }) {
    this.#jar = new (load().CookieJar)(undefined, {
      rejectPublicSuffixes: rejectsPublicSuffixes,
      allowSpecialUseDomain: true,
      looseMode: false,
      prefixSecurity: 'silent',
    });
    this.#maxPerDomain = maxPerDomain;
  }
  get isEmpty() {
    return this.#domains.size === 0;
  }
  /** Name and value pairs for `url`, longer paths first; empty if there are none. */
  headerFor(url) {
    return this.#jar.getCookieStringSync(url);
  }
  /** Takes one `Set-Cookie` line that came from `url`. False if it is refused. */
  setFromHeader(line, url) {
    if (line.length > maxCookie && !isShortEnough(line)) return false;
    return this.#take(load().Cookie.parse(line), url);
  }
  set({ name, value, domain, path, secure = false }, url) {
    const host = hostOf(url);
    const wanted = domain?.toLowerCase().replace(/^\./, '');
    // Python's cookie jars write local names so.
    const isHost = wanted === undefined || wanted === host || wanted === `${host}.local`;
    const text = toWire(String(value));
    // It must come out of the header as it went in, and without adding a second one.
    // oxlint-disable-next-line no-control-regex
    if (/[\0-\x1f\x7f;]/.test(text) || /[\0-\x20\x7f;=]/.test(name) || name === '') return false;
    const cookie = new (load().Cookie)({
      key: toWire(name),
      value: text,
      secure,
      ...(!isHost || domain?.startsWith('.') ? { domain: wanted } : {}),
      ...(path !== undefined && { path }),
    });
    return this.#take(cookie, url);
  }
  /** One bad cookie never harms the others. */
  #take(cookie, url) {
    if (!cookie) return false;
    const taken = this.#tryToSet(cookie, url) ?? this.#asHostOnly(cookie, url);
    if (taken) this.#remember(taken);
    return taken !== undefined;
  }
  #tryToSet(cookie, url) {
    try {
      return this.#jar.setCookieSync(cookie, url, { ignoreError: true }) ?? undefined;
    } catch {
      return undefined;
    }
  }
  /** A domain that is a public suffix or an address, and the very host, means this host alone (RFC 6265 §5.3 5). */
  #asHostOnly(cookie, url) {
    if (cookie.domain === null || cookie.domain.replace(/^\./, '') !== hostOf(url))
      return undefined;
    cookie.domain = null;
    return this.#tryToSet(cookie, url);
  }
  #remember(cookie) {
    const domain = cookie.domain ?? '';
    const key = `${cookie.path};${cookie.key}`;
    const cookies = this.#domains.get(domain) ?? new Map();
    this.#domains.delete(domain);
    cookies.delete(key);
    if (cookie.TTL() > 0) cookies.set(key, cookie);
    if (cookies.size > 0) this.#domains.set(domain, cookies);
    if (cookies.size > this.#maxPerDomain) {
      const [oldest, { path, key: name }] = cookies.entries().next().value;
      cookies.delete(oldest);
      void this.#jar.store.removeCookie(domain, path, name);
    }
    if (this.#domains.size > maxDomains) {
      const oldest = this.#domains.keys().next().value;
      this.#domains.delete(oldest);
      void this.#jar.store.removeCookies(oldest, null);
    }
  }
}
/** Judges name with value, and each attribute, of a long line. */
function isShortEnough(line) {
  const [pair, ...attributes] = line.split(';');
  return pair.length <= maxCookie && attributes.every((one) => one.length <= maxAttribute);
}
/** Header text is bytes, one character each; text beyond ASCII is sent as UTF-8. */
function toWire(text) {
  // oxlint-disable-next-line no-control-regex
  return /[^\0-\x7f]/.test(text) ? Buffer.from(text, 'utf8').toString('latin1') : text;
}
//# sourceMappingURL=cookie-store.js.map
