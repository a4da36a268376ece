import { SettingsError } from '../../errors.js';
import { originOf } from '../../http/url.js';
const policies = [
  'no-referrer',
  'no-referrer-when-downgrade',
  'same-origin',
  'origin',
  'strict-origin',
  'origin-when-cross-origin',
  'strict-origin-when-cross-origin',
  'unsafe-url',
  'scrapy-default',
];
const known = new Set(policies);
function isPolicy(name) {
  return known.has(name);
}
/** @throws SettingsError for a name that is no policy. */
export function toPolicy(name) {
  const policy = name.trim().toLowerCase();
  if (isPolicy(policy)) return policy;
  throw new SettingsError(
    `REFERRER_POLICY must be one of ${policies.join(', ')}, got ${JSON.stringify(name)}.`,
  );
}
/** The policy for requests that come from `response`: the request's own, else the page's, else the default. */
export function policyOfResponse(response, own, fallback) {
  if (own !== undefined) {
    const policy = own.trim().toLowerCase();
    if (isPolicy(policy)) return policy;
  }
  if (response.header('referrer-policy') === undefined) return fallback;
  // The last one that is known counts, so that sites can name a newer one behind an older.
  const names = response.headers.getAll('referrer-policy').join(',').toLowerCase().split(',');
  return names.map((name) => name.trim()).findLast(isPolicy) ?? fallback;
}
/**
 * The Referer of a request for `to` that comes from the page at `from`, or undefined for none. Never a
 * fragment, a user or a password, and none from files, `data:` and other places that are on no network.
 */
export function referrerFor(policy, from, to) {
  if (policy === 'no-referrer' || !/^(?:http|ftp)s?:/.test(from)) return undefined;
  const origin = originOf(from);
  const isDowngrade = isTls(from) && !isTls(to);
  switch (policy) {
    case 'no-referrer-when-downgrade':
    case 'scrapy-default':
      return isDowngrade ? undefined : full(from, origin);
    case 'same-origin':
      return origin === originOf(to) ? full(from, origin) : undefined;
    case 'origin':
      return `${origin}/`;
    case 'strict-origin':
      return isDowngrade ? undefined : `${origin}/`;
    case 'origin-when-cross-origin':
      return origin === originOf(to) ? full(from, origin) : `${origin}/`;
    case 'strict-origin-when-cross-origin':
      if (origin === originOf(to)) return full(from, origin);
      return isDowngrade ? undefined : `${origin}/`;
    case 'unsafe-url':
      return full(from, origin);
  }
}
function isTls(url) {
  return url.startsWith('https:') || url.startsWith('ftps:');
}
function full(url, origin) {
  const hash = url.indexOf('#');
  const end = hash < 0 ? url.length : hash;
  if (url.startsWith(origin)) return hash < 0 ? url : url.slice(0, end);
  // There is a user or a password between the scheme and the host.
  const start = url.slice(url.indexOf('://') + 3).search(/[/?#]/);
  return start < 0 ? `${origin}/` : origin + url.slice(url.indexOf('://') + 3 + start, end);
}
//# sourceMappingURL=referrer-policy.js.map
