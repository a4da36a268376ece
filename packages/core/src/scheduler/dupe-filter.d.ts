import type { Request } from '../http/request.ts';
/** Knows which requests have been seen. */
export interface DupeFilter {
  /** True if an equal request has been here before; otherwise this one is remembered. */
  requestSeen(request: Request): boolean;
  readonly size: number;
}
/** Exact: remembers a 16-byte fingerprint of each request. */
export declare class FingerprintDupeFilter implements DupeFilter {
  #private;
  get size(): number;
  requestSeen(request: Request): boolean;
}
/** Sees nothing: every request passes. */
export declare class NoDupeFilter implements DupeFilter {
  readonly size = 0;
  requestSeen(): boolean;
}
/**
 * A set of 16-byte keys in flat memory: 19 to 28 bytes a key, where a Set of strings takes over 100.
 * Open addressing; cut into shards so that growing never copies the whole.
 */
export declare class FingerprintSet {
  #private;
  size: number;
  /** True if `key` was not there yet. */
  add(key: Buffer): boolean;
}
//# sourceMappingURL=dupe-filter.d.ts.map
