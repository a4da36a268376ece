import type { Request } from './request.ts';
/**
 * The URL in the form by which duplicates are found: percent-encoding normalised, query sorted, fragment dropped.
 * Applying it twice changes nothing.
 */
export declare function canonicalizeUrl(url: string, keepFragments?: boolean): string;
/**
 * The identity of a request: 16 bytes over method, canonical URL and body. Headers do not count.
 * Two requests with the same fingerprint are duplicates.
 */
export declare function fingerprint(request: Request): Buffer;
//# sourceMappingURL=fingerprint.d.ts.map
