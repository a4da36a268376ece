/** What an exporter is told. */
export interface ExporterOptions {
  /** Fields to write and their order; as a map, with their names in the output. All fields if absent. */
  readonly fields?: readonly string[] | Readonly<Record<string, string>> | null;
  /** Spaces for each level. 0 writes one item a line; null writes all on one line. */
  readonly indent?: number | null;
  readonly encoding?: FeedEncoding;
  /** CSV: writes text that a spreadsheet would run as a formula with a leading apostrophe. */
  readonly escapeFormulas?: boolean;
  /** CSV: what stands between cells; `,` by default. */
  readonly delimiter?: string;
  /** XML: `items` by default. */
  readonly rootElement?: string;
  /** XML: `item` by default. */
  readonly itemElement?: string;
}
/** Encodings that feeds can be written in. */
export type FeedEncoding = 'utf-8' | 'latin1';
/** What a file already holds when a feed is written to its end. */
export interface KeptRecords {
  readonly records: number;
  /** CSV: all columns, as the last header names them. */
  readonly columns: readonly string[];
  /** CSV: runs of rows of one width. */
  readonly segments: readonly CsvSegment[];
}
/** CSV rows under one header, which begins with the header before it. */
export interface CsvSegment {
  /** Its columns. */
  readonly width: number;
  /** Data rows, without the header. */
  readonly rows: number;
}
/** Changes bytes as they pass, as `stream.pipeline` takes it. */
export type FeedPass = (source: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>;
/** Items to text. Each call returns whole records; what they return, in order, is the file. */
export interface FeedExporter {
  /** What stands before the first item. */
  start(): string;
  /**
   * One item.
   *
   * @throws Error if it cannot be serialised; the exporter is then as before.
   */
  item(item: unknown): string;
  /** What stands after the last item. */
  finish(): string;
  /** In place of `start()` where the file already has records. Absent: the format cannot be continued. */
  resume?(kept: KeptRecords): string;
  /** True if the file may need a pass over it at the end. */
  readonly mayRewrite?: boolean;
  /** A pass over all that was written, asked for after `finish()`; absent if none is needed. */
  rewrite?(): FeedPass | undefined;
  /** Fields of items that were left out, because `fields` does not name them. */
  readonly leftOut?: ReadonlySet<string>;
}
/** A class of exporters, as in `FEED_EXPORTERS`. */
export type FeedExporterClass = new (options: ExporterOptions) => FeedExporter;
/** Chooses, orders and renames the fields of items. */
export declare class FieldPicker {
  #private;
  readonly leftOut: Set<string>;
  constructor(fields: ExporterOptions['fields']);
  /** Names in the output, if they are fixed. */
  get columns(): string[] | undefined;
  /** The item as it is to be written: the item itself where no fields are chosen. */
  pick(item: unknown): unknown;
}
/**
 * The item as fields.
 *
 * @throws TypeError for what has no fields.
 */
export declare function recordOf(item: unknown): Record<string, unknown>;
/**
 * JSON of a value.
 *
 * @throws TypeError for what has no JSON: a function, a bigint, a circle.
 */
export declare function jsonOf(value: unknown, indent?: number): string;
/** Escapes in JSON what latin1 does not have. */
export declare function jsonLatin1(json: string): string;
//# sourceMappingURL=exporter.d.ts.map
