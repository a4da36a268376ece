/** What a stat holds. */
export type StatValue = number | string | boolean | Date | null;

/** Counts and notes of one crawl, by name. */
export class StatsCollector {
  readonly #stats = new Map<string, StatValue>();

  set(key: string, value: StatValue): void {
    this.#stats.set(key, value);
  }

  /** Adds `count` to a number that begins at `start`. */
  inc(key: string, count = 1, start = 0): void {
    this.#stats.set(key, ((this.#stats.get(key) as number | undefined) ?? start) + count);
  }

  max(key: string, value: number): void {
    const old = this.#stats.get(key) as number | undefined;
    if (old === undefined || value > old) this.#stats.set(key, value);
  }

  min(key: string, value: number): void {
    const old = this.#stats.get(key) as number | undefined;
    if (old === undefined || value < old) this.#stats.set(key, value);
  }

  get(key: string): StatValue | undefined;
  get<T>(key: string, fallback: T): StatValue | T;
  get(key: string, fallback?: unknown): unknown {
    const value = this.#stats.get(key);
    return value === undefined ? fallback : value;
  }

  /** A copy, sorted by name. */
  getAll(): Record<string, StatValue> {
    return Object.fromEntries([...this.#stats].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  }

  clear(): void {
    this.#stats.clear();
  }
}

/** Keeps nothing. */
export class DummyStatsCollector extends StatsCollector {
  override set(): void {}
  override inc(): void {}
  override max(): void {}
  override min(): void {}
}
