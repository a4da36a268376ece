import { createRequire } from 'node:module';

import { Request, Response } from 'lycosa';

import { CookiesMiddleware } from '../../packages/core/src/downloader/middlewares/cookies.ts';
import { registrableDomain } from '../../packages/core/src/selector/link-extractor.ts';
import { fakeCrawler } from '../fake-crawler.ts';
import { type Data, type Judge, requestOf, responseOf, same } from './vectors.ts';

const home = 'http://home.example.org';
const requireOurs = createRequire(new URL('../../packages/core/src/index.ts', import.meta.url));

export const cookieJudges: Readonly<Record<string, Judge>> = {
  cookies_http_state({ test, received, sent_to: to, sent }) {
    const middleware = CookiesMiddleware.fromCrawler(fakeCrawler().crawler);
    const request = new Request(`${home}/cookie-parser?${test}`);
    const wireHeaders = {
      // Header text is bytes, one character each.
      'set-cookie': (received as string[]).map((line) => Buffer.from(line).toString('latin1')),
    };
    middleware.processResponse(request, new Response(request.url, { wireHeaders, request }));
    const url = new URL((to as string | undefined) ?? `/cookie-parser-result?${test}`, home).href;
    const got = Buffer.from(middleware.cookieHeader(url), 'latin1').toString();
    const pairs = (sent as { name: string; value: string }[]).map(
      ({ name, value }) => `${name}=${value}`,
    );
    return same(got, pairs.join('; '));
  },

  cookies_scrapy({ args, returns }) {
    const middleware = CookiesMiddleware.fromCrawler(fakeCrawler().crawler);
    const got = (args.steps as Data[]).map((step) => {
      const request = requestOf(step.in[0]);
      // The case shows it with the jar's cookies in it.
      request.headers.delete('cookie');
      if (step.op !== 'process_request') {
        middleware.processResponse(request, responseOf(step.in[1], request));
        return {};
      }
      middleware.processRequest(request);
      return { Cookie: request.headers.getAll('cookie') };
    });
    return same(got, returns);
  },

  // The library that our jar hands each Set-Cookie line to.
  cookie_dates({ input, expected }) {
    const { Cookie } = requireOurs('tough-cookie') as Data;
    const expires: unknown = Cookie.parse(`a=b; expires=${input}`)?.expires;
    return same(expires instanceof Date ? expires.toUTCString() : null, expected);
  },

  public_suffix({ input, registrable }) {
    if (input === null) return true;
    const host = URL.parse(`http://${input}/`)?.hostname ?? String(input).toLowerCase();
    const expected = registrable === null ? null : URL.parse(`http://${registrable}/`)?.hostname;
    return same(registrableDomain(host) ?? null, expected);
  },
};
