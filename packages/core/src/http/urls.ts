// `lycosa/url`: what Scrapy's users know from w3lib.url and scrapy.utils.url.
import { resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { encode, percentEncoded } from './encoder.ts';
import { isUnder, safeUrl } from './url.ts';

export { type DataUri, parseDataUri } from './data-uri.ts';
export { canonicalizeUrl } from './fingerprint.ts';

/** A URL cut as `urllib.parse.urlparse` cuts it; nothing is escaped or resolved. */
export interface UrlParts {
  readonly scheme: string;
  readonly netloc: string;
  readonly path: string;
  /** What follows a `;` in the last segment of the path. */
  readonly params: string;
  readonly query: string;
  readonly fragment: string;
}

/** A URL in pieces that give it again when they are joined. */
interface Pieces {
  readonly scheme: string;
  /** With its slashes. */
  readonly authority: string;
  readonly path: string;
  readonly query: string;
  readonly fragment: string;
}

const pieces = /^(?:([a-z][a-z\d+.-]*):)?(\/\/[^/?#]*)?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/is;

function splitUrl(url: string): Pieces {
  // They belong to no URL: https://url.spec.whatwg.org/#concept-basic-url-parser
  // oxlint-disable-next-line no-control-regex
  const bare = url.replace(/[\t\r\n]/g, '').replace(/^[\0- ]+/, '');
  const [, scheme = '', authority = '', path = '', query = '', fragment = ''] = pieces.exec(bare)!;
  return { scheme: scheme.toLowerCase(), authority, path, query, fragment };
}

function joinUrl({ scheme, authority, path, query, fragment }: Pieces): string {
  return `${scheme && `${scheme}:`}${authority}${path}${query && `?${query}`}${fragment && `#${fragment}`}`;
}

export function parseUrl(url: string): UrlParts {
  const { scheme, authority, path: whole, query, fragment } = splitUrl(url);
  const semicolon = whole.indexOf(';', whole.lastIndexOf('/') + 1);
  const path = semicolon < 0 ? whole : whole.slice(0, semicolon);
  const params = semicolon < 0 ? '' : whole.slice(semicolon + 1);
  return { scheme, netloc: authority.slice(2), path, params, query, fragment };
}

export interface SafeUrlOptions {
  /** Charset of the query, as of the page that the URL is from; UTF-8 by default. */
  readonly encoding?: string;
  readonly pathEncoding?: string;
}

/**
 * The URL as it goes on the wire, percent-encoded; escapes stay as they are. A relative one stays relative.
 *
 * @throws UsageError when the URL cannot be parsed.
 */
export function safeUrlString(url: string, options: SafeUrlOptions = {}): string {
  const { encoding = 'utf-8', pathEncoding = 'utf-8' } = options;
  const [, before = '', query, fragment = ''] = /^([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(url.trim())!;
  const { scheme, netloc } = parseUrl(before);
  // A host has its own way to be ASCII.
  const start = netloc === '' ? 0 : before.indexOf(netloc) + netloc.length;
  const whole =
    before.slice(0, start) +
    escapedIn(before.slice(start), pathEncoding) +
    (query === undefined ? '' : escapedIn(query, encoding)) +
    fragment;
  if (scheme !== '')
    return safeUrl(whole).replace(/(?<=^[a-z\d+.-]+:\/\/)[^/?#]*(?=@)/i, plainUser);
  return whole
    .replace(/[\t\r\n]/g, '')
    .replace(/[^\w\-.~!*'();:@&=+$,/?#[\]%|]+/g, (text) => encodeURIComponent(text.toWellFormed()));
}

/** As `safeUrlString`, without the fragment, which is not sent. */
export function safeDownloadUrl(url: string, options?: SafeUrlOptions): string {
  return safeUrlString(url, options).replace(/#.*$/s, '');
}

/** Without the escapes that a user or password needs not. */
function plainUser(text: string): string {
  return text.replace(/%[\da-f]{2}/gi, (escape) => {
    const char = String.fromCharCode(parseInt(escape.slice(1), 16));
    return /[\w\-.~!$&'()*+,]/.test(char) ? char : escape;
  });
}

/** With what is not ASCII escaped by its bytes in `charset`; in UTF-8 where the charset has not all of it. */
function escapedIn(text: string, charset: string): string {
  const whole = encode(text, charset, () => undefined);
  return text.replace(/[^\0-\x7f]+/g, (run) => {
    const bytes =
      (whole && encode(run, charset, () => undefined)) ?? Buffer.from(run.toWellFormed());
    return percentEncoded(bytes);
  });
}

/** True for text that begins as a URL of a web page or file. */
export function isUrl(text: string): boolean {
  return /^(?:file|https?):\/\//.test(text);
}

/** Name, text of a `name=value` pair, and its value as far as it has one. */
function pairsOf(
  query: string,
  separator: string,
): { name: string; value: string | undefined; text: string }[] {
  return query
    .split(separator)
    .filter((text) => text !== '')
    .map((text) => {
      const equals = text.indexOf('=');
      const value = equals < 0 ? undefined : decodeParameter(text.slice(equals + 1));
      return { name: decodeParameter(equals < 0 ? text : text.slice(0, equals)), value, text };
    });
}

/** As a form writes it: a plus is a space; bytes that are no UTF-8 become U+FFFD. */
function decodeParameter(text: string): string {
  return new URLSearchParams(`a=${text.replaceAll('&', '%26')}`).get('a') ?? '';
}

function encodeParameter(text: string): string {
  return encodeURIComponent(text.toWellFormed())
    .replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%20', '+');
}

/** The first value that a parameter has in the query, decoded. Blank ones count only with `keepBlankValues`. */
export function urlQueryParameter(
  url: string,
  parameter: string,
  fallback?: string,
  keepBlankValues = false,
): string | undefined {
  const found = pairsOf(parseUrl(url).query, '&').find(
    ({ name, value }) => name === parameter && (keepBlankValues || Boolean(value)),
  );
  return found === undefined ? fallback : (found.value ?? '');
}

export interface QueryCleanerOptions {
  /** What stands between parameters; `&` by default. */
  readonly separator?: string;
  /** What stands between a name and its value; `=` by default. */
  readonly kvSeparator?: string;
  /** Takes the parameters out, instead of keeping them alone. */
  readonly remove?: boolean;
  /** Keeps the first of each name only; true by default. */
  readonly unique?: boolean;
  readonly keepFragments?: boolean;
}

/** The URL with only these parameters in its query, or without them. */
export function urlQueryCleaner(
  url: string,
  parameters: string | readonly string[] = [],
  options: QueryCleanerOptions = {},
): string {
  const { separator = '&', kvSeparator = '=', remove = false, unique = true } = options;
  const [, base = '', query = '', fragment = ''] = /^([^?#]*)(?:\?([^#]*))?(#.*)?$/s.exec(url)!;
  const named = new Set(typeof parameters === 'string' ? [parameters] : parameters);
  const seen = new Set<string>();
  const kept = query.split(separator).filter((pair) => {
    const [name = ''] = pair.split(kvSeparator, 1);
    if (pair === '' || named.has(name) === remove || (unique && seen.has(name))) return false;
    seen.add(name);
    return true;
  });
  const rest = options.keepFragments && fragment !== '#' ? fragment : '';
  return base + (kept.length > 0 ? `?${kept.join(separator)}` : '') + rest;
}

/** The URL with a parameter of its query set to another value, or with one more. */
export function addOrReplaceParameter(
  url: string,
  name: string,
  value: string,
  options?: { readonly separator?: string },
): string {
  return addOrReplaceParameters(url, { [name]: value }, options);
}

/** As `addOrReplaceParameter` for several; of a name that stands several times one is left. Others stay as they are. */
export function addOrReplaceParameters(
  url: string,
  parameters: Readonly<Record<string, string>>,
  { separator = '&' }: { readonly separator?: string } = {},
): string {
  const left = new Map(Object.entries(parameters));
  const parsed = splitUrl(url);
  const query: string[] = [];
  for (const { name, text } of pairsOf(parsed.query, separator)) {
    const value = left.get(name);
    if (value !== undefined) query.push(`${encodeParameter(name)}=${encodeParameter(value)}`);
    else if (!Object.hasOwn(parameters, name)) query.push(text);
    left.delete(name);
  }
  for (const [name, value] of left)
    query.push(`${encodeParameter(name)}=${encodeParameter(value)}`);
  return joinUrl({ ...parsed, query: query.join(separator) });
}

/** A path of this machine as a `file:` URL. */
export function pathToFileUri(path: string): string {
  return pathToFileURL(resolve(path)).href.replaceAll('%7E', '~');
}

/** The path of a `file:` URL; of any other text its path. */
export function fileUriToPath(uri: string): string {
  return uri.startsWith('file://')
    ? fileURLToPath(uri)
    : decodeURIComponent(parseUrl(uri).path.replace(/%(?![\da-f]{2})/gi, '%25'));
}

/** A URL as it is, a path as a `file:` URL. */
export function anyToUri(uriOrPath: string): string {
  return parseUrl(uriOrPath).scheme === '' ? pathToFileUri(uriOrPath) : uriOrPath;
}

/** With `http://` before what has no scheme. */
export function addHttpIfNoScheme(url: string): string {
  if (/^\w+:\/\//.test(url)) return url;
  return (parseUrl(url).netloc === '' ? 'http://' : 'http:') + url;
}

/** A path (`./page.html`, `/tmp/x`, `~/x`) as a `file:` URL, other text as `addHttpIfNoScheme` has it. */
export function guessScheme(url: string): string {
  const isPath = /^(?:\.(?:\.|[^/.]+)?|~)?\/./s.test(url);
  return isPath || /^(?:[a-z]:\\|\\\\)/i.test(url) ? pathToFileUri(url) : addHttpIfNoScheme(url);
}

export interface StripUrlOptions {
  /** True by default, as the next two. */
  readonly stripCredentials?: boolean;
  readonly stripDefaultPort?: boolean;
  readonly stripFragment?: boolean;
  /** Leaves scheme, host and port. */
  readonly originOnly?: boolean;
}

const defaultPorts: Readonly<Record<string, string>> = { http: '80', https: '443', ftp: '21' };

/** The URL without what is not for others to see. */
export function stripUrl(url: string, options: StripUrlOptions = {}): string {
  const { stripCredentials = true, stripDefaultPort = true, stripFragment = true } = options;
  const { originOnly = false } = options;
  const parsed = splitUrl(url);
  let { authority } = parsed;
  if (stripCredentials || originOnly) authority = authority.replace(/^\/\/.*@/s, '//');
  const port = defaultPorts[parsed.scheme];
  if (stripDefaultPort && port && authority.endsWith(`:${port}`))
    authority = authority.slice(0, -port.length - 1);
  return joinUrl({
    ...parsed,
    authority,
    ...(originOnly && { path: '/', query: '' }),
    ...(stripFragment && { fragment: '' }),
  });
}

/** True if the host of `url` is one of these domains or below it; a port must be the same. */
export function urlIsFromAnyDomain(url: string, domains: readonly string[]): boolean {
  const host = splitUrl(url)
    .authority.replace(/^\/\/(?:.*@)?/s, '')
    .toLowerCase();
  return host !== '' && domains.some((domain) => isUnder(host, domain.toLowerCase()));
}

/** True if the path of `url` ends in one of these, which begin with a dot. */
export function urlHasAnyExtension(url: string, extensions: readonly string[]): boolean {
  const path = parseUrl(url).path.toLowerCase();
  return extensions.some((extension) => path.endsWith(extension.toLowerCase()));
}
