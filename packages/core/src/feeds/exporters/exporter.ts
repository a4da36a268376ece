import type { ParquetType } from './parquet-columns.ts';

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
  /** Parquet: columns and what they hold. */
  readonly types?: ReadonlyMap<string, ParquetType>;
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
  /**
   * Called before all else: brings what the exporter needs.
   *
   * @throws Error if it is not there.
   */
  load?(): Promise<void>;
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
export class FieldPicker {
  readonly leftOut: Set<string> = new Set();
  readonly #names: ReadonlyMap<string, string> | undefined;

  constructor(fields: ExporterOptions['fields']) {
    if (fields)
      this.#names = new Map(
        Array.isArray(fields) ? fields.map((name) => [name, name]) : Object.entries(fields),
      );
  }

  /** Names in the output, if they are fixed. */
  get columns(): string[] | undefined {
    return this.#names && [...this.#names.values()];
  }

  /** The item as it is to be written: the item itself where no fields are chosen. */
  pick(item: unknown): unknown {
    if (this.#names === undefined) return item;
    const source = recordOf(item);
    const picked = Object.create(null) as Record<string, unknown>;
    for (const [name, output] of this.#names) {
      if (Object.hasOwn(source, name)) picked[output] = source[name];
    }
    for (const name of Object.keys(source)) {
      if (!this.#names.has(name)) this.leftOut.add(name);
    }
    return picked;
  }
}

/**
 * The item as fields.
 *
 * @throws TypeError for what has no fields.
 */
export function recordOf(item: unknown): Record<string, unknown> {
  const value = hasToJson(item) ? item.toJSON() : item;
  if (typeof value !== 'object' || value === null) {
    throw new TypeError(
      `an item is an object with fields, got ${value === null ? 'null' : typeof value}`,
    );
  }
  // Any object can be read by the names of its own fields.
  return value as Record<string, unknown>;
}

/**
 * JSON of a value.
 *
 * @throws TypeError for what has no JSON: a function, a bigint, a circle.
 */
export function jsonOf(value: unknown, indent?: number): string {
  const json = JSON.stringify(value, undefined, indent) as string | undefined;
  if (json === undefined) throw new TypeError(`a ${typeof value} has no JSON form`);
  return json;
}

/** Escapes in JSON what latin1 does not have. */
export function jsonLatin1(json: string): string {
  return json.replace(
    /[\u0100-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function hasToJson(value: unknown): value is { toJSON(): unknown } {
  return (
    typeof value === 'object' &&
    value !== null &&
    'toJSON' in value &&
    typeof value.toJSON === 'function'
  );
}
