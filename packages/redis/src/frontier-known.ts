import type { Request } from 'lycosa';

/** URLs of each of two generations. */
const generation = 50_000;

/** Plain requests that are in the frontier's seen set for certain: the link that stands on every page is not sent there. */
export class KnownUrls {
  #recent = new Set<string>();
  #older = new Set<string>();

  has({ method, body, url }: Request): boolean {
    return (
      method === 'GET' && body === undefined && (this.#recent.has(url) || this.#older.has(url))
    );
  }

  add({ method, body, url, dontFilter, meta }: Request): void {
    // One that passed the filter without being remembered is not known.
    if (method !== 'GET' || body !== undefined) return;
    if (dontFilter && meta.isStartRequest !== true) return;
    if (this.#recent.size >= generation) {
      this.#older = this.#recent;
      this.#recent = new Set();
    }
    this.#recent.add(url);
  }

  /** Redis may come back without what it knew. */
  clear(): void {
    this.#recent.clear();
    this.#older.clear();
  }
}
