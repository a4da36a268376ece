import type { Response } from '../../http/response.ts';
declare const policies: readonly [
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
/**
 * What a request says of the page it came from. `scrapy-default` is `no-referrer-when-downgrade`.
 *
 * @see {@link https://www.w3.org/TR/referrer-policy/ | Referrer Policy}
 */
export type ReferrerPolicy = (typeof policies)[number];
/** @throws SettingsError for a name that is no policy. */
export declare function toPolicy(name: string): ReferrerPolicy;
/** The policy for requests that come from `response`: the request's own, else the page's, else the default. */
export declare function policyOfResponse(
  response: Response,
  own: string | undefined,
  fallback: ReferrerPolicy,
): ReferrerPolicy;
/**
 * The Referer of a request for `to` that comes from the page at `from`, or undefined for none. Never a
 * fragment, a user or a password, and none from files, `data:` and other places that are on no network.
 */
export declare function referrerFor(
  policy: ReferrerPolicy,
  from: string,
  to: string,
): string | undefined;
export {};
//# sourceMappingURL=referrer-policy.d.ts.map
