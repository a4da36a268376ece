import type { ComponentClass } from '../../crawler/component.ts';
import type { MaybePromise } from '../middleware.ts';

/** What is kept of a response. */
export interface HttpCacheEntry {
  readonly url: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[]>>;
  /** As it came, content coding included. */
  readonly body: Buffer;
  /** Milliseconds since the epoch. */
  readonly storedAt: number;
  readonly protocol?: string;
  readonly ipAddress?: string;
  /** The headers that choose this response, and a digest of the values that the request had. */
  readonly vary?: { readonly names: readonly string[]; readonly digest: string };
}

/** Where responses are kept. What it throws makes a request go to the server, and is logged. */
export interface HttpCacheStorage {
  retrieve(key: string): MaybePromise<HttpCacheEntry | undefined>;
  /** Takes the place of an entry of the same key. A crash leaves the old entry or the new one. */
  store(key: string, entry: HttpCacheEntry): MaybePromise<void>;
  remove(key: string): MaybePromise<void>;
}

export type HttpCacheStorageClass = ComponentClass<HttpCacheStorage>;
