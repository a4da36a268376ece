import { UsageError } from '../errors.ts';
import { encode, percentEncoded } from './encoder.ts';

// Already as WHATWG would write it: lower-case host that is no number, no dot segments, no default port, nothing to
// encode. Most links are, and a look is ten times cheaper than a parse.
const octet = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';
const plainHost = `(?:(?:[a-z0-9-]+\\.)*[a-z][a-z0-9-]*|(?:${octet}\\.){3}${octet})`;
const plainPort = '(?::(?:[1-9]\\d{0,3}|[1-5]\\d{4}))?';
const plainChars = '[\\w\\-~!$&*+,;=:@/%?().]*';
const plain = new RegExp(`^https?://${plainHost}${plainPort}/${plainChars}(?:#${plainChars})?$`);
const plainFragment = new RegExp(`^#${plainChars}$`);
const notPlain = /\/\.|%2e|xn--|:(?:80|443)\//i;
const schemed = /^[a-zA-Z][a-zA-Z0-9+.-]*:/;

/** True for a URL of http or https that certainly needs no change; false says nothing. */
export function isPlain(url: string): boolean {
  return plain.test(url) && !notPlain.test(url);
}

/**
 * The URL as it goes on the wire: absolute, percent-encoded, host in ASCII. The order of the query is kept.
 *
 * @throws UsageError when there is no scheme or the URL cannot be parsed.
 */
export function safeUrl(url: string): string {
  if (isPlain(url)) return url;
  // What is around a URL does not belong to it: https://url.spec.whatwg.org/#concept-basic-url-parser
  // oxlint-disable-next-line no-control-regex
  const text = String(url).replace(/^[\0- \s]+|[\0- \s]+$/g, '');
  if (!schemed.test(text)) {
    throw new UsageError(
      `${JSON.stringify(text)} has no scheme. Write the whole URL, for example ${JSON.stringify(`https://${text.replace(/^\/+/, '')}`)}.`,
    );
  }
  try {
    return escapeRest(new URL(text).href);
  } catch (cause) {
    throw new UsageError(`${JSON.stringify(text)} is not a valid URL.`, { cause });
  }
}

// URL leaves them as they are, RFC 3986 has no place for them, and some servers refuse them.
const unwise = /[[\]\\^|`{}]/g;

function escapeRest(url: string): string {
  const path = url.startsWith('http') ? url.indexOf('/', 8) : -1;
  if (path < 0) return url;
  let start = url.slice(0, path);
  // A percent sign in a user or password that is no escape means itself.
  if (start.includes('@')) start = start.replace(/%(?![\da-f]{2})/gi, '%25');
  const rest = url.slice(path);
  return start + (rest.search(unwise) < 0 ? rest : rest.replace(unwise, encodeURIComponent));
}

/** `text` without HTML's white space at its ends: it does not belong to an attribute that holds a link. */
export function trimHtml(text: string): string {
  const first = text.charCodeAt(0);
  const last = text.charCodeAt(text.length - 1);
  return first <= 32 || last <= 32 ? text.replace(/^[\t\n\f\r ]+|[\t\n\f\r ]+$/g, '') : text;
}

/**
 * `link` seen from the page at `base`, or undefined where that is no URL. Never throws.
 *
 * @param page - Whose link it is: a query is written in the charset of its page.
 */
export function resolveUrl(
  link: string,
  base: string,
  page?: { readonly encoding: string },
): string | undefined {
  // The common forms need no parser.
  const first = link.charCodeAt(0);
  if (first === 47 && link.charCodeAt(1) !== 47 && base.startsWith('http')) {
    const slash = base.indexOf('/', 8);
    const url = (slash < 0 ? base : base.slice(0, slash)) + link;
    if (isPlain(url)) return url;
  } else if (first === 104 && isPlain(link)) return link;
  else if (first === 35 && plainFragment.test(link) && isPlain(base))
    return withoutFragment(base) + link;
  if (page !== undefined && foreignQuery.test(link) && page.encoding !== 'utf-8')
    return URL.parse(inCharset(link, page.encoding), base)?.href;
  return URL.parse(link, base)?.href;
}

const foreignQuery = /^[^?#]*\?[^#]*[^\0-\x7f]/;

/** As browsers write it: https://url.spec.whatwg.org/#query-state */
function inCharset(link: string, charset: string): string {
  const start = link.indexOf('?');
  const hash = link.indexOf('#', start);
  const end = hash < 0 ? link.length : hash;
  const query = link.slice(start, end).replace(/[^\0-\x7f]+/g, (run) => {
    const bytes = encode(run, charset, (char) => `&#${char.codePointAt(0)};`);
    return bytes === undefined ? run : percentEncoded(bytes);
  });
  return link.slice(0, start) + query + link.slice(end);
}

/** The URL up to its `#`. */
export function withoutFragment(url: string): string {
  const hash = url.indexOf('#');
  return hash < 0 ? url : url.slice(0, hash);
}

/** Scheme, host and port of a URL that `safeUrl` returned: `https://example.com:8080`. */
export function originOf(url: string): string {
  const start = url.indexOf('://');
  if (start < 0) return url.slice(0, url.indexOf(':') + 1);
  let end = start + 3;
  for (; end < url.length; end++) {
    const c = url.charCodeAt(end);
    if (c === 47 || c === 63 || c === 35) break;
  }
  const at = url.lastIndexOf('@', end);
  return at < start ? url.slice(0, end) : url.slice(0, start + 3) + url.slice(at + 1, end);
}

/** The host name of a URL that `safeUrl` returned, without port; empty where there is none. */
export function hostOf(url: string): string {
  const origin = originOf(url);
  const start = origin.indexOf('://');
  if (start < 0) return '';
  const port = origin.lastIndexOf(':');
  const bracket = origin.lastIndexOf(']');
  return origin.slice(start + 3, port > start + 2 && port > bracket ? port : undefined);
}

/** True if `host` is `domain` or below it. */
export function isUnder(host: string, domain: string): boolean {
  return (
    host.endsWith(domain) &&
    (host.length === domain.length || host.charCodeAt(host.length - domain.length - 1) === 46)
  );
}

/**
 * A copy that does not hold the string it was cut from: V8 keeps the whole page alive for a piece of it.
 * Strings under 13 characters are copied by V8 itself.
 */
export function detach(text: string): string {
  return text.length < 13 ? text : (' ' + text).slice(1);
}
