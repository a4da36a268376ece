/**
 * The URL as it goes on the wire: absolute, percent-encoded, host in ASCII. The order of the query is kept.
 *
 * @throws UsageError when there is no scheme or the URL cannot be parsed.
 */
export declare function safeUrl(url: string): string;
/** `link` seen from the page at `base`, or undefined where that is no URL. Never throws. */
export declare function resolveUrl(link: string, base: string): string | undefined;
/** Scheme, host and port of a URL that `safeUrl` returned: `https://example.com:8080`. */
export declare function originOf(url: string): string;
/** The host name of a URL that `safeUrl` returned, without port; empty where there is none. */
export declare function hostOf(url: string): string;
/** True if `host` is `domain` or below it. */
export declare function isUnder(host: string, domain: string): boolean;
/**
 * A copy that does not hold the string it was cut from: V8 keeps the whole page alive for a piece of it.
 * Strings under 13 characters are copied by V8 itself.
 */
export declare function detach(text: string): string;
//# sourceMappingURL=url.d.ts.map
