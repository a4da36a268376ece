import type { FeedEncoding, KeptRecords } from './exporters/exporter.ts';
/** What a feed file holds. */
export interface ScannedRecords extends KeptRecords {
  /** Byte after the last whole record; 0 where there is nothing to keep. */
  readonly end: number;
  /** The last record is whole but for its line end. */
  readonly needsLineEnd?: boolean;
}
export interface ScanOptions {
  /** It is a finished file: what follows the last line end is a record too. */
  readonly isWhole?: boolean;
  /** CSV: `,` by default. */
  readonly delimiter?: string | undefined;
  /** `utf-8` by default. */
  readonly encoding?: FeedEncoding | undefined;
}
/**
 * Finds the whole records of a feed file, in one pass and without holding them.
 *
 * @throws UsageError for a format whose records cannot be told apart.
 */
export declare function scanRecords(
  path: string,
  format: string,
  options?: ScanOptions,
): Promise<ScannedRecords>;
//# sourceMappingURL=records.d.ts.map
