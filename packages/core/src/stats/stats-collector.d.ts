/** What a stat holds. */
export type StatValue = number | string | boolean | Date | null;
/** Counts and notes of one crawl, by name. */
export declare class StatsCollector {
  #private;
  set(key: string, value: StatValue): void;
  /** Adds `count` to a number that begins at `start`. */
  inc(key: string, count?: number, start?: number): void;
  max(key: string, value: number): void;
  min(key: string, value: number): void;
  get(key: string): StatValue | undefined;
  get<T>(key: string, fallback: T): StatValue | T;
  /** A copy, sorted by name. */
  getAll(): Record<string, StatValue>;
  clear(): void;
}
/** Keeps nothing. */
export declare class DummyStatsCollector extends StatsCollector {
  set(): void;
  inc(): void;
  max(): void;
  min(): void;
}
//# sourceMappingURL=stats-collector.d.ts.map
