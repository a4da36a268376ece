export interface CookieStoreOptions {
  /** Refuses cookies for `com`, `co.uk`, `github.io`. */
  readonly rejectsPublicSuffixes: boolean;
  readonly maxPerDomain: number;
}
/** A cookie by hand. Without a domain it is for the host of the request alone. */
export interface CookieInit {
  readonly name: string;
  readonly value: string;
  readonly domain?: string;
  readonly path?: string;
  readonly secure?: boolean;
}
/** A cookie jar by RFC 6265bis, with bounds. */
export declare class CookieStore {
  #private;
  constructor({ rejectsPublicSuffixes, maxPerDomain }: CookieStoreOptions);
  get isEmpty(): boolean;
  /** Name and value pairs for `url`, longer paths first; empty if there are none. */
  headerFor(url: string): string;
  /** Takes one `Set-Cookie` line that came from `url`. False if it is refused. */
  setFromHeader(line: string, url: string): boolean;
  set({ name, value, domain, path, secure }: CookieInit, url: string): boolean;
}
//# sourceMappingURL=cookie-store.d.ts.map
