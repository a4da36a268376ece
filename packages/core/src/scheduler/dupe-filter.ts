import type { Crawler } from '../crawler/crawler.ts';
import type { MaybePromise } from '../downloader/middleware.ts';
import type { FingerprintOptions } from '../http/fingerprint.ts';
import { RequestFingerprinter, RequestFingerprints } from '../http/request-fingerprints.ts';
import type { Request } from '../http/request.ts';
import { detach, withoutFragment } from '../http/url.ts';

/** Knows which requests have been seen. */
export interface DupeFilter {
  open?(): MaybePromise<void>;
  /** True if an equal request has been here before; otherwise this one is remembered. */
  requestSeen(request: Request): MaybePromise<boolean>;
  readonly size: number;
  close?(): MaybePromise<void>;
}

/** How many exact URLs are remembered to save the fingerprint of a link that stands on every page. */
const recentUrls = 20_000;

/** URLs of plain requests that were seen lately, without their fragments: the link that stands on every page needs no fingerprint. */
export class RecentUrls {
  #recent = new Set<string>();
  #older = new Set<string>();

  /** True if `request` is one of them; otherwise it is from now on, if it is plain. */
  knows(request: Request): boolean {
    if (request.method !== 'GET' || request.body !== undefined || request.meta.verbatimUrl)
      return false;
    const url = withoutFragment(request.url);
    if (this.#recent.has(url) || (this.#older.size > 0 && this.#older.has(url))) return true;
    if (this.#recent.size >= recentUrls) {
      this.#older = this.#recent;
      this.#recent = new Set();
    }
    this.#recent.add(detach(url));
    return false;
  }
}

/** Exact: remembers a 16-byte fingerprint of each request. */
export class FingerprintDupeFilter implements DupeFilter {
  static fromCrawler(crawler: Crawler): FingerprintDupeFilter {
    // The class may be one that extends this one, and has options of its own.
    return new this(undefined, crawler.fingerprints);
  }

  /** By what it knows requests; a job takes it over. */
  readonly fingerprints: RequestFingerprints;
  readonly #seen = new FingerprintSet();
  /** Undefined where a request is more than its URL. */
  readonly #recent: RecentUrls | undefined;

  constructor(options?: FingerprintOptions, fingerprints?: RequestFingerprints) {
    const own = options && new RequestFingerprinter(options);
    this.fingerprints = fingerprints ?? new RequestFingerprints(own);
    this.#recent = this.fingerprints.isUrlEnough ? new RecentUrls() : undefined;
  }

  get size(): number {
    return this.#seen.size;
  }

  requestSeen(request: Request): boolean {
    return this.#recent?.knows(request) === true || !this.#seen.add(this.fingerprints.of(request));
  }
}

/** Sees nothing: every request passes. */
export class NoDupeFilter implements DupeFilter {
  readonly size = 0;

  requestSeen(): boolean {
    return false;
  }
}

const shards = 64;
/** Kept of a key beside its shard: 102 bits, of which no two are equal in a trillion keys. */
const words = 3;
/** How full a table gets, and by how much it grows then: a little and often, since memory is what is short. */
const fullest = 0.88;
const growth = 1.125;

/**
 * A set of 16-byte keys in flat memory: about 15 bytes a key, where a Set of strings takes over 100.
 * Open addressing; cut into shards so that growing never copies the whole.
 */
export class FingerprintSet {
  /** By shard, made when first needed: most of thousands of spiders need few. */
  readonly #tables: Uint32Array[] = [];
  readonly #sizes = new Uint32Array(shards);
  size = 0;

  /** True if `key` was not there yet. */
  add(key: Buffer): boolean {
    // A word of zero marks an empty place, so the first word is never zero.
    const a = key.readUInt32LE(0) || 1;
    const b = key.readUInt32LE(4);
    const c = key.readUInt32LE(8);
    const shard = key.readUInt32LE(12) & (shards - 1);
    let table = (this.#tables[shard] ??= new Uint32Array(16 * words));
    let at = (a % (table.length / words)) * words;
    while (table[at] !== 0) {
      if (table[at] === a && table[at + 1] === b && table[at + 2] === c) return false;
      at += words;
      if (at === table.length) at = 0;
    }
    if (this.#sizes[shard]! + 1 > (table.length / words) * fullest) {
      table = this.#grow(shard, table);
      at = freePlace(table, a);
    }
    table[at] = a;
    table[at + 1] = b;
    table[at + 2] = c;
    this.#sizes[shard]!++;
    this.size++;
    return true;
  }

  #grow(shard: number, old: Uint32Array): Uint32Array {
    const places = Math.ceil((old.length / words) * growth) | 1;
    const table = new Uint32Array(places * words);
    for (let from = 0; from < old.length; from += words) {
      const a = old[from]!;
      if (a === 0) continue;
      const at = freePlace(table, a);
      table[at] = a;
      table[at + 1] = old[from + 1]!;
      table[at + 2] = old[from + 2]!;
    }
    this.#tables[shard] = table;
    return table;
  }
}

function freePlace(table: Uint32Array, a: number): number {
  let at = (a % (table.length / words)) * words;
  while (table[at] !== 0) at = at + words === table.length ? 0 : at + words;
  return at;
}
