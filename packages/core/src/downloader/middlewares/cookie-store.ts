import { createRequire } from 'node:module';
import { isIP } from 'node:net';

import type * as ToughCookie from 'tough-cookie';
import type { Cookie, CookieJar } from 'tough-cookie';

import { hostOf } from '../../http/url.ts';

const require = createRequire(import.meta.url);
let library: typeof ToughCookie | undefined;

/** Loaded with the first cookie: it brings the public suffix list, and many crawls need neither. */
function load(): typeof ToughCookie {
  return (library ??= require('tough-cookie') as typeof ToughCookie);
}

/** Bytes of name and value together, and of one attribute, that are taken (RFC 6265bis §5.6). */
const maxCookie = 4096;
const maxAttribute = 1024;
/** Domains with cookies; the one whose last was set longest ago is forgotten first. */
const maxDomains = 50_000;

export interface CookieStoreOptions {
  /** Refuses cookies for `com`, `co.uk`, `github.io`. */
  readonly rejectsPublicSuffixes: boolean;
  readonly maxPerDomain: number;
  /** Called for each cookie that the setting of this name kept out. */
  readonly onBlocked?: (setting: 'COOKIES_PUBLIC_SUFFIX' | 'COOKIES_MAX_PER_DOMAIN') => void;
}

/** A cookie by hand. Without a domain it is for the host of the request alone. */
export interface CookieInit {
  readonly name: string;
  readonly value: string;
  readonly domain?: string;
  readonly path?: string;
  readonly secure?: boolean;
}

/** A cookie jar by RFC 6265bis, with bounds. */
export class CookieStore {
  readonly #jar: CookieJar;
  readonly #maxPerDomain: number;
  readonly #rejectsPublicSuffixes: boolean;
  readonly #onBlocked: CookieStoreOptions['onBlocked'];
  /** By domain, the path and name of its cookies, the oldest first. */
  readonly #domains = new Map<string, Map<string, Cookie>>();
  /** Domains whose cookies are not what was last saved. */
  readonly #changed = new Set<string>();

  constructor({ rejectsPublicSuffixes, maxPerDomain, onBlocked }: CookieStoreOptions) {
    this.#rejectsPublicSuffixes = rejectsPublicSuffixes;
    this.#onBlocked = onBlocked;
    this.#jar = new (load().CookieJar)(undefined, {
      rejectPublicSuffixes: rejectsPublicSuffixes,
      allowSpecialUseDomain: true,
      looseMode: false,
      prefixSecurity: 'silent',
    });
    this.#maxPerDomain = maxPerDomain;
  }

  get isEmpty(): boolean {
    return this.#domains.size === 0;
  }

  /** Name and value pairs for `url`, longer paths first; empty if there are none. */
  headerFor(url: string): string {
    return this.#jar.getCookieStringSync(url);
  }

  /** Takes one `Set-Cookie` line that came from `url`. False if it is refused. */
  setFromHeader(line: string, url: string): boolean {
    if (line.length > maxCookie && !isShortEnough(line)) return false;
    return this.#take(load().Cookie.parse(line), url);
  }

  set({ name, value, domain, path, secure = false }: CookieInit, url: string): boolean {
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
      ...(!isHost || domain?.startsWith('.') ? { domain: wanted! } : {}),
      ...(path !== undefined && { path }),
    });
    return this.#take(cookie, url);
  }

  /** The cookies of each domain that changed since the last call, as JSON; null if none are left. */
  *takeChanges(): Generator<[domain: string, data: string | null]> {
    for (const domain of this.#changed) {
      const cookies = this.#domains.get(domain);
      yield [domain, cookies ? JSON.stringify([...cookies.values()]) : null];
    }
    this.#changed.clear();
  }

  /** Takes up the cookies of a domain from `takeChanges`. @throws Error when it is no such text. */
  restore(data: string): void {
    for (const one of JSON.parse(data) as unknown[]) {
      const cookie = load().Cookie.fromJSON(one);
      if (!cookie?.domain || !cookie.path) continue;
      void this.#jar.store.putCookie(cookie);
      this.#remember(cookie);
    }
    this.#changed.clear();
  }

  /** One bad cookie never harms the others. */
  #take(cookie: Cookie | undefined, url: string): boolean {
    if (!cookie) return false;
    const taken = this.#tryToSet(cookie, url) ?? this.#asHostOnly(cookie, url);
    if (taken) this.#remember(taken);
    else if (this.#rejectsPublicSuffixes && isForSuffix(cookie))
      this.#onBlocked?.('COOKIES_PUBLIC_SUFFIX');
    return taken !== undefined;
  }

  #tryToSet(cookie: Cookie, url: string): Cookie | undefined {
    try {
      return this.#jar.setCookieSync(cookie, url, { ignoreError: true }) ?? undefined;
    } catch {
      return undefined;
    }
  }

  /** A domain that is a public suffix or an address, and the very host, means this host alone (RFC 6265 §5.3 5). */
  #asHostOnly(cookie: Cookie, url: string): Cookie | undefined {
    if (cookie.domain === null || cookie.domain.replace(/^\./, '') !== hostOf(url))
      return undefined;
    cookie.domain = null;
    return this.#tryToSet(cookie, url);
  }

  #remember(cookie: Cookie): void {
    const domain = cookie.domain ?? '';
    this.#changed.add(domain);
    const key = `${cookie.path};${cookie.key}`;
    const cookies = this.#domains.get(domain) ?? new Map<string, Cookie>();
    this.#domains.delete(domain);
    cookies.delete(key);
    if (cookie.TTL() > 0) cookies.set(key, cookie);
    if (cookies.size > 0) this.#domains.set(domain, cookies);
    if (cookies.size > this.#maxPerDomain) {
      const [oldest, { path, key: name }] = cookies.entries().next().value!;
      cookies.delete(oldest);
      void this.#jar.store.removeCookie(domain, path, name);
      this.#onBlocked?.('COOKIES_MAX_PER_DOMAIN');
    }
    if (this.#domains.size > maxDomains) {
      const oldest = this.#domains.keys().next().value!;
      this.#domains.delete(oldest);
      this.#changed.add(oldest);
      void this.#jar.store.removeCookies(oldest, null);
    }
  }
}

/** True for a cookie for all of `com`, `co.uk` or `github.io`. */
function isForSuffix({ domain }: Cookie): boolean {
  if (!domain || isIP(domain) !== 0) return false;
  const options = { allowSpecialUseDomain: true, ignoreError: true };
  return load().getPublicSuffix(domain.replace(/^\./, ''), options) === undefined;
}

/** Judges name with value, and each attribute, of a long line. */
function isShortEnough(line: string): boolean {
  const [pair, ...attributes] = line.split(';');
  return pair!.length <= maxCookie && attributes.every((one) => one.length <= maxAttribute);
}

/** Header text is bytes, one character each; text beyond ASCII is sent as UTF-8. */
function toWire(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return /[^\0-\x7f]/.test(text) ? Buffer.from(text, 'utf8').toString('latin1') : text;
}
