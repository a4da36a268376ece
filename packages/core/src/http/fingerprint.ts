import { hash } from 'node:crypto';

import type { Request } from './request.ts';
import { isPlain } from './url.ts';

// No escapes and at most one simple parameter: a plain URL like this is its own canonical form.
const canonical = /^[^?%]*(?:\?[\w\-.~]+=[\w\-.~]*)?$/;

/**
 * The URL in the form by which duplicates are found: percent-encoding normalised, query sorted, fragment dropped.
 * Applying it twice changes nothing.
 */
export function canonicalizeUrl(url: string, keepFragments = false): string {
  if (canonical.test(url) && isPlain(url)) return url;
  const parsed = URL.parse(url);
  if (parsed === null) return keepFragments ? url : url.replace(/#.*$/s, '');
  const hash = keepFragments ? parsed.hash : '';
  parsed.hash = '';
  const query = parsed.search.slice(1);
  parsed.search = '';
  if (parsed.host) parsed.pathname = parsed.pathname.replace(/%[0-9a-f]{2}|[%|^]/gi, escapeOf);
  const out = query ? `${parsed.href}?${canonicalQuery(query)}` : parsed.href;
  return hash ? out + hash.replace(/%[0-9a-f]{2}|%/gi, escapeOf) : out;
}

function canonicalQuery(query: string): string {
  const pairs: (readonly [string, string])[] = [];
  for (const pair of query.split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    pairs.push(
      equals < 0
        ? [queryPart(pair), '']
        : [queryPart(pair.slice(0, equals)), queryPart(pair.slice(equals + 1))],
    );
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

/**
 * The identity of a request: 16 bytes over method, canonical URL and body. Headers do not count.
 * Two requests with the same fingerprint are duplicates.
 */
export function fingerprint(request: Request): Buffer {
  const { method, body } = request;
  const url = canonicalizeUrl(request.url);
  const text =
    body === undefined
      ? `${method} ${url}`
      : `${method} ${url} ${Buffer.from(body.buffer, body.byteOffset, body.length).toString('hex')}`;
  return hash('sha1', text, 'buffer').subarray(0, 16);
}
