/** Counts and notes of one crawl, by name. */
export class StatsCollector {
  #stats = new Map();
  set(key, value) {
    this.#stats.set(key, value);
  }
  /** Adds `count` to a number that begins at `start`. */
  inc(key, count = 1, start = 0) {
    this.#stats.set(key, (this.#stats.get(key) ?? start) + count);
  }
  max(key, value) {
    const old = this.#stats.get(key);
    if (old === undefined || value > old) this.#stats.set(key, value);
  }
  min(key, value) {
    const old = this.#stats.get(key);
    if (old === undefined || value < old) this.#stats.set(key, value);
  }
  get(key, fallback) {
    return this.#stats.get(key) ?? fallback;
  }
  /** A copy, sorted by name. */
  getAll() {
    return Object.fromEntries([...this.#stats].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  }
  clear() {
    this.#stats.clear();
  }
}
/** Keeps nothing. */
export class DummyStatsCollector extends StatsCollector {
  set() {}
  inc() {}
  max() {}
  min() {}
}
//# sourceMappingURL=stats-collector.js.map
