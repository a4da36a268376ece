import { hash } from 'node:crypto';

import type { Request } from './request.ts';
import { isPlain, withoutFragment } from './url.ts';

// No escapes and at most one simple parameter: a plain URL like this is its own canonical form.
const canonical = /^[^?%#]*(?:\?[\w\-.~]+=[\w\-.~]*)?$/;

/**
 * The URL in the form by which duplicates are found: percent-encoding normalised, query sorted, fragment dropped.
 * Applying it twice changes nothing.
 */
export function canonicalizeUrl(
  url: string,
  keepFragments = false,
  keepBlankValues = true,
): string {
  if (keepBlankValues) {
    const bare = keepFragments ? url : withoutFragment(url);
    if (canonical.test(bare) && isPlain(bare)) return bare;
  }
  const parsed = URL.parse(url);
  if (parsed === null) return keepFragments ? url : url.replace(/#.*$/s, '');
  const hash = keepFragments ? parsed.hash : '';
  parsed.hash = '';
  const query = parsed.search.slice(1);
  parsed.search = '';
  if (parsed.host) parsed.pathname = parsed.pathname.replace(/%[0-9a-f]{2}|[|^]/gi, escapeOf);
  const sorted = query && canonicalQuery(query, keepBlankValues);
  const out = sorted ? `${parsed.href}?${sorted}` : parsed.href;
  return hash ? out + hash.replace(/%[0-9a-f]{2}|%/gi, escapeOf) : out;
}

function canonicalQuery(query: string, keepBlankValues: boolean): string {
  const pairs: (readonly [string, string])[] = [];
  for (const pair of query.split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = equals < 0 ? pair : pair.slice(0, equals);
    const value = equals < 0 ? '' : pair.slice(equals + 1);
    if (value !== '' || keepBlankValues) pairs.push([queryPart(name), queryPart(value)]);
  }
  pairs.sort(([ka, va], [kb, vb]) => (ka < kb ? -1 : ka > kb ? 1 : va < vb ? -1 : va > vb ? 1 : 0));
  return pairs.map(([key, value]) => `${key}=${value}`).join('&');
}

function queryPart(text: string): string {
  return text.replace(/%[0-9a-f]{2}|[^\w\-.~+]/gi, escapeOf).replaceAll('%20', '+');
}

/** `%7e` to `~`, `%2f` to `%2F`, a character to its escape. */
function escapeOf(found: string): string {
  if (found.length < 3)
    return `%${found.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
  const char = String.fromCharCode(parseInt(found.slice(1), 16));
  return /[\w\-.~]/.test(char) ? char : found.toUpperCase();
}

export interface FingerprintOptions {
  /** Names of headers that tell requests apart; none by default. */
  readonly includeHeaders?: readonly string[];
  /** Tells `#a` from `#b`: for pages that are rendered. */
  readonly keepFragments?: boolean;
}

/**
 * The identity of a request: 16 bytes over method, canonical URL and body; `meta.verbatimUrl` takes the URL as it is.
 * Headers do not count unless they are named. Two requests with the same fingerprint are duplicates.
 */
export function fingerprint(request: Request, options?: FingerprintOptions): Buffer {
  const { method, body } = request;
  const url = request.meta.verbatimUrl
    ? request.url
    : canonicalizeUrl(request.url, options?.keepFragments);
  const text =
    body === undefined
      ? `${method} ${url}`
      : `${method} ${url} ${Buffer.from(body.buffer, body.byteOffset, body.length).toString('hex')}`;
  const headers = options?.includeHeaders ? headersText(request, options.includeHeaders) : '';
  return hash('sha1', text + headers, 'buffer').subarray(0, 16);
}

/** Empty where the request has none of them. */
function headersText(request: Request, names: readonly string[]): string {
  if (!request.hasHeaders) return '';
  return [...new Set(names.map((name) => name.toLowerCase()))]
    .toSorted()
    .filter((name) => request.headers.has(name))
    .map((name) => ` ${JSON.stringify([name, ...request.headers.getAll(name)])}`)
    .join('');
}
