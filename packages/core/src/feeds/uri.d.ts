/** What `%(…)` may name beside attributes of the spider. */
export type FeedUriParams = Readonly<Record<string, unknown>>;
/**
 * Fills in the parameters of a feed URI. Only `%(…)` is expanded; any other `%` stays.
 *
 * @remarks A value becomes part of one path component and never leads out of its folder: separators, control
 * characters, `%` and a lone `.` or `..` are percent-encoded, and a long value is cut and marked with a hash, so that
 * different values give different names.
 *
 * @param find - The value of a parameter; `undefined` where there is none.
 * @throws UsageError for a parameter that does not exist or has no type (`s` or `d`).
 */
export declare function expandFeedUri(template: string, find: (name: string) => unknown): string;
/** The time as URIs carry it: `2026-12-01T03-00-00+00-00`. */
export declare function feedTime(date: Date): string;
/**
 * The time of a batch: `2026-12-01T03-00-00.123000+00-00`.
 *
 * @param micros - Microseconds since the epoch.
 */
export declare function feedBatchTime(micros: number): string;
/** True where the URI differs from batch to batch. */
export declare function hasBatchParameter(template: string): boolean;
//# sourceMappingURL=uri.d.ts.map
