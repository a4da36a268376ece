import type { Crawler } from '../../crawler/crawler.ts';
import { IgnoreRequest } from '../../errors.ts';
import { Headers } from '../../http/headers.ts';
import { redactUrl, type Request } from '../../http/request.ts';
import type { Response } from '../../http/response.ts';
import { hostOf, originOf } from '../../http/url.ts';
import {
  policyOfResponse,
  referrerFor,
  type ReferrerPolicy,
  toPolicy,
} from '../../scraper/middlewares/referrer-policy.ts';
import { ownHeaders } from './cookies.ts';

/** Follows a response to where it points; shared by HTTP redirects and meta refresh. */
export class Redirector {
  readonly #crawler: Crawler;
  readonly #maxTimes: number;
  readonly #priorityAdjust: number;
  readonly #schemes: ReadonlySet<string>;
  readonly #isSensitive: (name: string) => boolean;
  /** Undefined when `REFERER_ENABLED` is off. */
  readonly #policy: ReferrerPolicy | undefined;
  readonly #warned = new Set<string>();

  constructor(crawler: Crawler) {
    const { settings } = crawler;
    this.#crawler = crawler;
    this.#maxTimes = settings.get('REDIRECT_MAX_TIMES');
    this.#priorityAdjust = settings.get('REDIRECT_PRIORITY_ADJUST');
    this.#schemes = new Set(settings.get('REDIRECT_SCHEMES').map((scheme) => `${scheme}:`));
    this.#isSensitive = sensitiveHeaders(settings.get('SENSITIVE_HEADERS'));
    this.#policy = settings.get('REFERER_ENABLED')
      ? toPolicy(settings.get('REFERRER_POLICY'))
      : undefined;
  }

  /** The URL that `location` means, or undefined where it may not or cannot be followed; then it is counted. */
  resolve(location: string, base: string): URL | undefined {
    // A data: or file: page sends nobody anywhere.
    if (!this.#schemes.has(base.slice(0, base.indexOf(':') + 1))) return undefined;
    const target = URL.parse(location, base);
    if (target === null) {
      this.#crawler.stats.inc('redirect/invalid_location');
      return undefined;
    }
    if (this.#schemes.has(target.protocol)) return target;
    this.#crawler.stats.inc('security/blocked/REDIRECT_SCHEMES');
    if (!this.#warned.has(target.protocol)) {
      this.#warned.add(target.protocol);
      this.#crawler.log.warn(
        `A redirect to a ${target.protocol} URL is not followed, the response is handed on; seen first at ${redactUrl(base)} (REDIRECT_SCHEMES).`,
      );
    }
    return undefined;
  }

  /**
   * The request that follows `request` to `target`.
   *
   * @param reason - Status, or what else led there; kept in `meta.redirectReasons`.
   * @param method - GET drops the body of another method.
   * @throws IgnoreRequest after `REDIRECT_MAX_TIMES`.
   */
  follow(
    request: Request,
    response: Response,
    target: URL,
    reason: number | string,
    method: string,
  ): Request {
    const { meta } = request;
    const ttl = meta.redirectTtl ?? this.#maxTimes;
    const times = (meta.redirectTimes ?? 0) + 1;
    if (ttl <= 0 || times > this.#maxTimes) {
      this.#crawler.stats.inc('security/blocked/REDIRECT_MAX_TIMES');
      throw new IgnoreRequest(
        `Too many redirects: gave up at ${redactUrl(request.url)} after ${times - 1} (REDIRECT_MAX_TIMES)`,
        'redirect',
      );
    }
    const urls = [...(meta.redirectUrls ?? []), request.url];
    const url = this.#targetUrl(target, request.url);
    const kept = this.#meta(request, url);
    const headers = this.#headers(request, response, url, kept.proxy);
    const dropsBody = method !== request.method;
    if (dropsBody) for (const name of contentHeaders) headers.delete(name);
    const next = request.replace({
      url,
      method,
      headers,
      ...(dropsBody && { body: undefined }),
      // They are in the jar by now, with the host they belong to.
      cookies: undefined,
      meta: {
        ...kept,
        redirectTimes: times,
        redirectTtl: ttl - 1,
        redirectUrls: urls,
        redirectReasons: [...(meta.redirectReasons ?? []), reason],
      },
      priority: request.priority + this.#priorityAdjust,
      // Where it has been on this way it may come again: a cookie may have changed the answer.
      dontFilter: request.dontFilter || urls.includes(url),
    });
    const { log } = this.#crawler;
    if (log.isEnabled('DEBUG')) {
      log.debug(`Redirecting (${reason}) to ${next.toString()} from ${request.toString()}`);
    }
    return next;
  }

  /** Keeps the fragment; keeps a user and password only on their own origin. */
  #targetUrl(target: URL, from: string): string {
    if (target.hash === '') {
      const hash = from.indexOf('#');
      if (hash >= 0) target.hash = from.slice(hash);
    }
    if ((target.username || target.password) && target.origin !== originOf(from)) {
      target.username = '';
      target.password = '';
    }
    return target.href;
  }

  /** What the new origin may see. */
  #headers(
    request: Request,
    response: Response,
    url: string,
    proxy: string | null | undefined,
  ): Headers {
    const headers = ownHeaders(request) ?? new Headers();
    if (request.meta.proxy && !proxy) headers.delete('proxy-authorization');
    const isSameOrigin = originOf(request.url) === originOf(url);
    if (!isSameOrigin) {
      const from = request.url;
      const keepsCookie =
        hostOf(from) === hostOf(url) && !(from.startsWith('https:') && url.startsWith('http:'));
      for (const name of Object.keys(headers.toJSON())) {
        if (name === 'cookie' ? keepsCookie : !this.#isSensitive(name)) continue;
        // The proxy stays the same, and so does what it wants to see.
        if (name === 'proxy-authorization' && proxy) continue;
        headers.delete(name);
      }
      headers.delete('host');
    }
    this.#setReferer(headers, request, response, url);
    return headers;
  }

  #setReferer(headers: Headers, request: Request, response: Response, url: string): void {
    if (this.#policy === undefined) {
      const old = headers.get('referer');
      const allowed = old && referrerFor('strict-origin-when-cross-origin', old, url);
      if (old && allowed) headers.set('referer', allowed);
      else headers.delete('referer');
      return;
    }
    const policy = policyOfResponse(response, request.meta.referrerPolicy, this.#policy);
    const referrer = referrerFor(policy, request.url, url);
    if (referrer === undefined) headers.delete('referer');
    else headers.set('referer', referrer);
  }

  /** A proxy that came from the environment is chosen again for another scheme. */
  #meta(request: Request, url: string): Request['meta'] {
    const { schemeProxy, ...meta } = request.meta;
    if (!schemeProxy) return meta;
    const scheme = url.slice(0, url.indexOf(':'));
    if (request.url.startsWith(`${scheme}:`)) return { ...meta, schemeProxy };
    const { proxy: _proxy, authProxy: _authProxy, ...rest } = meta;
    return rest;
  }
}

/** Headers that speak of a body. */
const contentHeaders = [
  'content-type',
  'content-length',
  'content-encoding',
  'content-language',
  'content-location',
  'transfer-encoding',
];

/** Names without regard to case; `*` stands for any text. */
function sensitiveHeaders(names: readonly string[]): (name: string) => boolean {
  const exact = new Set<string>();
  const suffixes: string[] = [];
  const prefixes: string[] = [];
  for (const name of names.map((one) => one.toLowerCase())) {
    if (name.startsWith('*')) suffixes.push(name.slice(1));
    else if (name.endsWith('*')) prefixes.push(name.slice(0, -1));
    else exact.add(name);
  }
  return (name) =>
    exact.has(name) ||
    suffixes.some((suffix) => name.endsWith(suffix)) ||
    prefixes.some((prefix) => name.startsWith(prefix));
}
