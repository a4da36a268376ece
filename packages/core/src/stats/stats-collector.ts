/** What a stat holds. */
export type StatValue = number | string | boolean | Date | null;

/** Counts and notes of one crawl, by name. */
export class StatsCollector {
  /** Each in a box of its own, so that counting, which is done many times a page, looks once and stores nothing anew. */
  readonly #stats = new Map<string, { value: StatValue }>();

  set(key: string, value: StatValue): void {
    const stat = this.#stats.get(key);
    if (stat === undefined) this.#stats.set(key, { value });
    else stat.value = value;
  }

  /** Adds `count` to a number that begins at `start`. */
  inc(key: string, count = 1, start = 0): void {
    const stat = this.#stats.get(key);
    if (stat === undefined) this.#stats.set(key, { value: start + count });
    else stat.value = (stat.value as number) + count;
  }

  max(key: string, value: number): void {
    const old = this.get(key) as number | undefined;
    if (old === undefined || value > old) this.set(key, value);
  }

  min(key: string, value: number): void {
    const old = this.get(key) as number | undefined;
    if (old === undefined || value < old) this.set(key, value);
  }

  get(key: string): StatValue | undefined;
  get<T>(key: string, fallback: T): StatValue | T;
  get(key: string, fallback?: unknown): unknown {
    const stat = this.#stats.get(key);
    return stat === undefined ? fallback : stat.value;
  }

  /** A copy, sorted by name. */
  getAll(): Record<string, StatValue> {
    const all = Array.from(this.#stats, ([key, { value }]) => [key, value] as const);
    return Object.fromEntries(all.toSorted(([a], [b]) => (a < b ? -1 : 1)));
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
