import { pathToFileURL } from 'node:url';

import { fingerprint } from 'lycosa';
import * as urls from 'lycosa/url';

import { DataHandler } from '../../packages/core/src/downloader/handlers/data.ts';
import { resolveUrl } from '../../packages/core/src/http/url.ts';
import { encodingName } from './encodings.ts';
import {
  bytesOf,
  camelCase,
  type Data,
  type Judge,
  requestOf,
  same,
  textOf,
  urlOf,
  type Verdict,
} from './vectors.ts';

const base = 'http://base.test/';

/** The same URL, or the same once a URL parser has seen it. */
function sameUrl(got: string, expected: string): Verdict {
  const isSame =
    got === expected || hrefOf(got) === hrefOf(expected) || got === URL.parse(expected)?.href;
  return isSame || { got };
}

function hrefOf(url: string): string | undefined {
  return URL.parse(url)?.href.replace(/%[\da-f]{2}/gi, (escape) => escape.toUpperCase());
}

/** A URL given as bytes is in the charset that is given with it. */
function givenUrl({ url, encoding }: Data): string {
  const isBytes = typeof url === 'object' && url !== null && '$bytes' in url;
  return isBytes && encoding
    ? new TextDecoder(encodingName(encoding)).decode(bytesOf(url))
    : urlOf(url);
}

function charsets({ encoding, path_encoding: pathEncoding }: Data): urls.SafeUrlOptions {
  return {
    ...(encoding && { encoding: encodingName(encoding) }),
    ...(pathEncoding && { pathEncoding: encodingName(pathEncoding) }),
  };
}

export const urlJudges: Readonly<Record<string, Judge>> = {
  url_canonicalize({ args, returns }) {
    const given = givenUrl(args);
    const canonical = (url: string): string =>
      urls.canonicalizeUrl(url, args.keep_fragments ?? false, args.keep_blank_values ?? true);
    // Ours takes what a request has as its URL.
    const got = canonical(URL.parse(given) ? urls.safeUrlString(given, charsets(args)) : given);
    return canonical(got) === got ? sameUrl(got, returns) : { got: canonical(got) };
  },

  url_safe({ fn, args, returns, raises }) {
    const safe = fn === 'safe_download_url' ? urls.safeDownloadUrl : urls.safeUrlString;
    try {
      const got = safe(givenUrl(args), charsets(args));
      if (raises) return { got };
      if (sameUrl(got, String(returns)) === true) return true;
      // What has no scheme is seen from a page.
      return sameUrl(resolveUrl(got, base) ?? got, resolveUrl(String(returns), base)!);
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
    const url = urlOf(args.url);
    switch (fn) {
      case 'url_is_from_any_domain':
        return same(urls.urlIsFromAnyDomain(url, args.domains), returns);
      case 'url_has_any_extension':
        return same(urls.urlHasAnyExtension(url, args.extensions), returns);
      case 'add_http_if_no_scheme':
        return same(urls.addHttpIfNoScheme(url), returns);
      case 'guess_scheme': {
        // Paths are seen from the folder that the test ran in.
        const here = pathToFileURL(process.cwd()).href;
        return sameUrl(
          urls.guessScheme(url),
          String(returns).replace('file:///tmp/src/scrapy', here),
        );
      }
      case 'strip_url':
        return same(urls.stripUrl(url, optionsOf(args)), returns);
      default:
        return 'not built';
    }
  },

  url_query_tools({ fn, args, returns, raises }) {
    switch (fn) {
      case 'parse_data_uri':
        return judgeDataUri(textOf(args.uri), returns);
      case 'is_url':
        return same(urls.isUrl(textOf(args.text)), returns);
      case 'parse_url':
        return same(urls.parseUrl(urlOf(args.url)), returns);
      case 'url_query_parameter': {
        const got = urls.urlQueryParameter(
          urlOf(args.url),
          args.parameter,
          args.default ?? undefined,
          Boolean(args.keep_blank_values),
        );
        return same(got ?? null, returns);
      }
      case 'url_query_cleaner': {
        const names = [args.parameterlist ?? []].flat().map(textOf);
        return same(
          urls.urlQueryCleaner(urlOf(args.url), names, {
            ...optionsOf(args),
            ...(args.sep && { separator: args.sep }),
            ...(args.kvsep && { kvSeparator: args.kvsep }),
          }),
          returns,
        );
      }
      case 'add_or_replace_parameter':
      case 'add_or_replace_parameters': {
        const parameters = args.new_parameters ?? { [args.name]: args.new_value };
        const got = urls.addOrReplaceParameters(urlOf(args.url), parameters, optionsOf(args));
        // What is not replaced stays as it is written; w3lib writes it anew.
        const [mine, theirs] = [new URL(got, base), new URL(String(returns), base)];
        const isSame =
          same([...mine.searchParams], [...theirs.searchParams]) === true &&
          mine.origin + mine.pathname + mine.hash === theirs.origin + theirs.pathname + theirs.hash;
        return isSame || { got };
      }
      case 'path_to_file_uri':
        return sameUrl(urls.pathToFileUri(textOf(args.path)), returns);
      case 'file_uri_to_path':
        return same(urls.fileUriToPath(textOf(args.uri)), returns);
      case 'any_to_uri':
        return sameUrl(urls.anyToUri(textOf(args.uri_or_path)), returns);
      default:
        return raises === undefined ? 'not built' : { got: `no ${String(fn)}` };
    }
  },

  async data_urls({ url, mime, bytes: expected }) {
    const found = await dataOf(url);
    if (mime === null) return found === undefined || { got: found };
    return same(found, { type: mime || 'text/plain;charset=US-ASCII', body: expected });
  },
};

function judgeDataUri(uri: string, returns: Data): Verdict {
  try {
    const { mediaType, mediaTypeParameters, data } = urls.parseDataUri(uri);
    if (returns === undefined) return { got: mediaType };
    const expected = [returns.media_type, returns.media_type_parameters, bytesOf(returns.data)];
    return same([mediaType, mediaTypeParameters, data], expected);
  } catch (error) {
    return returns === undefined || { got: error };
  }
}

/** Flags and words under our names. */
function optionsOf(args: Data): Record<string, Data> {
  return Object.fromEntries(
    Object.entries<Data>(args)
      .filter(([name]) => !/^(?:url|name|new_value|new_parameters|parameterlist)$/.test(name))
      .map(([name, value]) => [camelCase(name), value]),
  );
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
  const ours = cases.map(({ args }: Data) =>
    fingerprint(requestOf(args.request), {
      includeHeaders: (args.include_headers ?? []).map(textOf),
      keepFragments: args.keep_fragments ?? false,
    }).toString('hex'),
  );
  const theirs = cases.map(({ returns }: Data) => JSON.stringify(returns));
  return ours.map((mine, place) => {
    const differs = ours.findIndex(
      (other, at) => (other === mine) !== (theirs[at] === theirs[place]),
    );
    return differs < 0 || { got: `judged unlike ${String(cases[differs].id)}` };
  });
}
