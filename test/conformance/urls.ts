import { canonicalizeUrl, fingerprint, LinkExtractor } from 'lycosa';

import { DataHandler } from '../../packages/core/src/downloader/handlers/data.ts';
import { hostOf, isUnder, resolveUrl, safeUrl } from '../../packages/core/src/http/url.ts';
import {
  bytesOf,
  type Data,
  type Judge,
  requestOf,
  same,
  textOf,
  urlOf,
  type Verdict,
} from './vectors.ts';

const base = 'http://base.test/';

export const urlJudges: Readonly<Record<string, Judge>> = {
  url_canonicalize({ args, returns }) {
    if (args.keep_blank_values === false) return 'not built';
    const given = urlOf(args.url);
    // Ours takes what a request has as its URL.
    const got = canonicalizeUrl(URL.parse(given) ? safeUrl(given) : given, args.keep_fragments);
    const isStable = canonicalizeUrl(got, args.keep_fragments) === got;
    const isSame = isStable && (got === returns || got === URL.parse(returns as string)?.href);
    return isSame || (isUtf8(args.encoding) ? { got } : 'not built');
  },

  url_safe({ args, returns, raises }) {
    const given = urlOf(args.url);
    // What has no scheme is seen from its page.
    const relative = !/^\s*[a-z][a-z\d+.-]*:/i.test(given);
    try {
      const got = relative && !raises ? resolveUrl(given, base) : safeUrl(given);
      if (raises) return { got };
      const expected = String(returns);
      const href = relative ? resolveUrl(expected, base) : URL.parse(expected)?.href;
      if (got === expected || got === href) return true;
      return isUtf8(args.encoding) && isUtf8(args.path_encoding) ? { got } : 'not built';
    } catch (error) {
      return raises !== undefined || { got: error };
    }
  },

  url_resolve({ set, input, base: page, href }) {
    const from = page === null ? null : (URL.parse(page as string)?.href ?? page);
    const got =
      from === null
        ? (URL.parse(input as string)?.href ?? null)
        : (resolveUrl(input, from) ?? null);
    const expected =
      set === 'wpt' || href === null ? href : (URL.parse(href as string)?.href ?? href);
    return same(got, expected);
  },

  url_scrapy({ fn, args, returns }) {
    const url = textOf(args.url);
    if (fn === 'url_is_from_any_domain')
      return same(
        (args.domains as string[]).some((one) => isUnder(hostOf(url), one)),
        returns,
      );
    if (fn === 'url_has_any_extension')
      return same(!new LinkExtractor({ denyExtensions: args.extensions }).matches(url), returns);
    return 'not built';
  },

  async url_query_tools({ fn, args, returns }) {
    if (fn !== 'parse_data_uri') return 'not built';
    const found = await dataOf(textOf(args.uri));
    if (returns === undefined) return found === undefined || { got: found };
    const { media_type: type, media_type_parameters: parameters, data } = returns;
    const rest = Object.entries(parameters as Record<string, string>).map(
      ([name, value]) => `;${name}=${value}`,
    );
    return same(found, { type: `${type}${rest.join('')}`, body: [...bytesOf(data)] });
  },

  async data_urls({ url, mime, bytes: expected }) {
    const found = await dataOf(url);
    if (mime === null) return found === undefined || { got: found };
    return same(found, { type: mime || 'text/plain;charset=US-ASCII', body: expected });
  },
};

/** Queries in the charset of a page other than UTF-8 are not built. */
function isUtf8(encoding: unknown): boolean {
  return encoding === undefined || encoding === null || encoding === 'utf-8' || encoding === 'utf8';
}

/** Content type and bytes of a `data:` URL; undefined where it is refused. */
async function dataOf(url: string): Promise<{ type: string; body: number[] } | undefined> {
  try {
    const request = requestOf({ $request: { url } });
    if (!request.url.startsWith('data:')) return undefined;
    const response = await new DataHandler().download(request);
    return { type: response.header('content-type') ?? '', body: [...response.body] };
  } catch {
    return undefined;
  }
}

/**
 * Ours is not Scrapy's digest, so it is judged by what it is for: two requests are the same to us where they are to
 * Scrapy.
 */
export function judgeFingerprints(cases: readonly Data[]): Verdict[] {
  const ours = cases.map(({ args }: Data) => {
    if (args.include_headers !== undefined && args.include_headers !== null) return undefined;
    // A Scrapy setting of ours there is not: every URL is canonical to us.
    if (args.keep_fragments || args.request.$request.meta?.verbatim_url) return undefined;
    return fingerprint(requestOf(args.request)).toString('hex');
  });
  const theirs = cases.map(({ returns }: Data) => JSON.stringify(returns));
  return ours.map((mine, place) => {
    if (mine === undefined) return 'not built';
    const differs = ours.findIndex(
      (other, at) => other !== undefined && (other === mine) !== (theirs[at] === theirs[place]),
    );
    return differs < 0 || { got: `judged unlike ${String(cases[differs].id)}` };
  });
}
