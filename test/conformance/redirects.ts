import {
  type DownloaderMiddleware,
  IgnoreRequest,
  Request,
  Response,
  type SettingsInput,
} from 'lycosa';

import { CookiesMiddleware } from '../../packages/core/src/downloader/middlewares/cookies.ts';
import { MetaRefreshMiddleware } from '../../packages/core/src/downloader/middlewares/meta-refresh.ts';
import { OffsiteMiddleware } from '../../packages/core/src/downloader/middlewares/offsite.ts';
import { RedirectMiddleware } from '../../packages/core/src/downloader/middlewares/redirect.ts';
import { safeUrl } from '../../packages/core/src/http/url.ts';
import { referrerFor } from '../../packages/core/src/scraper/middlewares/referrer-policy.ts';
import { fakeCrawler } from '../fake-crawler.ts';
import { type Data, type Judge, requestOf, responseOf, same } from './vectors.ts';

export const redirectJudges: Readonly<Record<string, Judge>> = {
  redirects({ fn, test, args, returns, raises }) {
    const crawler = fakeCrawler({ settings: settingsOf(args.settings, test) }).crawler;
    const Middleware = String(fn).startsWith('Meta') ? MetaRefreshMiddleware : RedirectMiddleware;
    const middleware: DownloaderMiddleware = Middleware.fromCrawler(crawler);
    const request = requestOf(args.request);
    // The mark of a proxy that came from the environment.
    if (/system_proxy/.test(test as string) && request.meta.proxy) request.meta.schemeProxy = true;
    if (args.request.$request.cookies) {
      request.headers.delete('cookie');
      CookiesMiddleware.fromCrawler(crawler).processRequest(request);
    }
    try {
      const response = responseOf(args.response, request);
      const got = middleware.processResponse!(request, response);
      if (!(got instanceof Request)) return returns?.$response !== undefined || { got };
      return returns?.$request ? same(shapeOf(got), shapeOf(requestOf(returns))) : { got };
    } catch (error) {
      return (raises !== undefined && error instanceof IgnoreRequest) || { got: error };
    }
  },

  redirect_targets({ base, location, follow }) {
    // The text is UTF-8 on the wire.
    const got = redirect(base, { location: Buffer.from(location as string).toString('latin1') });
    const target = URL.parse(location as string, base as string);
    // One case has a tab in place of a `t`; what is left is a scheme of its own, and only http(s) is followed.
    const isWanted = follow === true && target !== null && /^https?:$/.test(target.protocol);
    if (!(got instanceof Request)) return !isWanted || { got };
    return (isWanted && same(wire(new URL(got.url)), wire(target))) || { got: got.url };
  },

  redirect_credentials(one) {
    const headers = {
      authorization: 'x',
      cookie: 'a=b',
      'x-api-key': 'k',
      'x-auth-token': 't',
      referer: 'http://other.example/',
    };
    const got = redirect(one.from, { location: one.to }, headers);
    if (!(got instanceof Request)) return { got };
    const from = new URL(one.from as string);
    const referer = { none: undefined, full: from.href, origin: `${from.origin}/` }[
      one.referer as string
    ];
    const secrets = ['authorization', 'x-api-key', 'x-auth-token'];
    const isRight =
      secrets.every((name) => got.headers.has(name) === one.keep_authorization) &&
      got.headers.has('cookie') === one.keep_manual_cookie_header &&
      got.headers.get('referer') === referer;
    return isRight || { got: got.headers.toJSON() };
  },

  referrer_policy({ args, returns }) {
    const { policy, response_url: from, request_url: to } = args;
    return same(referrerFor(policy, safeUrl(from), safeUrl(to)) ?? null, returns);
  },

  offsite({ args, returns, raises }) {
    const { crawler } = fakeCrawler({ spider: { allowedDomains: args.allowed_domains } });
    try {
      OffsiteMiddleware.fromCrawler(crawler).processRequest(requestOf(args.request));
      return returns === 'pass' || { got: 'pass' };
    } catch (error) {
      return (raises !== undefined && error instanceof IgnoreRequest) || { got: error };
    }
  },
};

/** What is asked for on the wire: a user and password in a Location stay behind. */
function wire({ origin, pathname, search }: URL): string {
  return origin + pathname + search;
}

function settingsOf(given: Data, test: string): SettingsInput {
  return {
    REDIRECT_MAX_TIMES: given.max_times,
    REDIRECT_PRIORITY_ADJUST: given.priority_adjust,
    METAREFRESH_MAXDELAY: given.maxdelay ?? 100,
    METAREFRESH_IGNORE_TAGS: given.ignore_tags ?? ['noscript'],
    // Scrapy's middleware alone sets no Referer; those tests that are about it have its companion.
    REFERER_ENABLED: /refer/.test(test),
    REFERRER_POLICY: 'scrapy-default',
  };
}

function redirect(
  from: string,
  wireHeaders: Record<string, string>,
  headers?: Record<string, string>,
): Request | Response {
  const request = new Request(from, headers && { headers });
  const response = new Response(from, { status: 302, wireHeaders, request });
  return RedirectMiddleware.fromCrawler(fakeCrawler().crawler).processResponse(request, response);
}

/** What two requests are compared by. */
function shapeOf(request: Request): unknown[] {
  const { redirectUrls, ...meta } = request.meta;
  return [
    request.url,
    request.method,
    byName(request.headers.toJSON()),
    Buffer.from(request.body ?? []).toString(),
    byName({ ...meta, redirectUrls: redirectUrls?.map((url) => new URL(url).href) }),
    request.priority,
  ];
}

function byName(record: Readonly<Record<string, unknown>>): [string, unknown][] {
  return Object.entries(record).toSorted(([a], [b]) => (a < b ? -1 : 1));
}
