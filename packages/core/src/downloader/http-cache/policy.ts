import type { Request } from '../../http/request.ts';
import type { Response } from '../../http/response.ts';
import type { Settings } from '../../settings/settings.ts';

/** A stored response, and when it came. */
export interface CachedResponse {
  readonly response: Response;
  /** Milliseconds since the epoch. */
  readonly storedAt: number;
}

/** What is cached, and for how long it is good. */
export interface HttpCachePolicy {
  /** False lets a request pass as if there were no cache. */
  shouldCacheRequest(request: Request): boolean;
  shouldCacheResponse(response: Response, request: Request): boolean;
  /** True answers the request without asking the server. */
  isCachedResponseFresh(cached: CachedResponse, request: Request): boolean;
  /** True keeps the stored response after the server was asked and gave `response`. */
  isCachedResponseValid(cached: CachedResponse, response: Response, request: Request): boolean;
  /** True lets the stored response stand in for a download that failed. */
  isCachedResponseUsableOnError?(cached: CachedResponse, request: Request): boolean;
  /** True forgets what is stored of the URL: `request` has changed it. Asked for requests that are not cached. */
  invalidates?(request: Request, response: Response): boolean;
  /** Headers that ask the server whether the stored response still holds. */
  validators?(cached: CachedResponse): Readonly<Record<string, string>>;
  /** Names of the request headers that choose between several responses of one URL. */
  varyBy?(response: Response): readonly string[];
}

export interface HttpCachePolicyClass {
  new (settings: Settings): HttpCachePolicy;
}
