import { hash } from 'node:crypto';

import type { Request } from './request.ts';

// Nothing to decode, encode or sort, no fragment: this URL is its own canonical form.
const canonicalPath = /^https?:\/\/[a-z0-9.:-]+\/[A-Za-z0-9\-_./~]*$/;

/**
 * The URL in the form by which duplicates are found: percent-encoding normalised, query sorted, fragment dropped.
 * Applying it twice changes nothing.
 */
export function canonicalizeUrl(url: string, keepFragments = false): string {
  if (canonicalPath.test(url)) return url;
  const parsed = URL.parse(url);
  if (parsed === null) return url;
  const hash = keepFragments ? parsed.hash : '';
  parsed.hash = '';
  const query = parsed.search.slice(1);
  parsed.search = '';
  if (parsed.host) parsed.pathname = normalizePercent(parsed.pathname);
  let out = parsed.href;
  if (query) {
    const pairs = query
      .split('&')
      .filter(Boolean)
      .map((pair) => {
        const equals = pair.indexOf('=');
        const key = equals < 0 ? pair : pair.slice(0, equals);
        const value = equals < 0 ? '' : pair.slice(equals + 1);
        return [
          normalizePercent(key.replaceAll('+', '%20')),
          normalizePercent(value.replaceAll('+', '%20')),
        ] as const;
      })
      .toSorted(([ka, va], [kb, vb]) =>
        ka < kb ? -1 : ka > kb ? 1 : va < vb ? -1 : va > vb ? 1 : 0,
      );
    out += '?' + pairs.map(([key, value]) => `${key}=${value}`.replaceAll('%20', '+')).join('&');
  }
  return hash ? out + normalizePercent(hash) : out;
}

/** `%7e` to `~`, `%2f` to `%2F`, a raw byte to its escape. Reserved characters stay as they are. */
function normalizePercent(text: string): string {
  return text
    .replace(/%([0-9a-fA-F]{2})/g, (_, hex: string) => {
      const code = parseInt(hex, 16);
      const char = String.fromCharCode(code);
      return /[A-Za-z0-9\-._~]/.test(char) ? char : `%${hex.toUpperCase()}`;
    })
    .replace(/%(?![0-9A-F]{2})/g, '%25');
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
