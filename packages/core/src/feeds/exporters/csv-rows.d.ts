import type { CsvSegment, FeedEncoding, FeedPass } from './exporter.ts';
/**
 * Cuts CSV into records: a line end inside quotes is part of its record.
 *
 * @returns Batches of whole records with their line ends; what follows the last line end is left in `rest`.
 */
export declare class CsvRecords {
  rest: Buffer;
  /** True if `rest` ends inside quotes. */
  isQuoted: boolean;
  push(chunk: Uint8Array): Buffer[];
}
/** The cells of one record. */
export declare function parseCsvRecord(record: string, delimiter: string): string[];
/** Whether two headers name the same columns in the same order. */
export declare function equalHeaders(one: readonly string[], other: readonly string[]): boolean;
/** Leaves the last header alone, at the top, and gives every row its number of cells. */
export declare function padCsv(
  columns: readonly string[],
  segments: readonly CsvSegment[],
  delimiter: string,
  encoding?: FeedEncoding,
): FeedPass;
//# sourceMappingURL=csv-rows.d.ts.map
