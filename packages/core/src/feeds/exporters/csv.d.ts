import {
  type ExporterOptions,
  type FeedExporter,
  type FeedPass,
  type KeptRecords,
} from './exporter.ts';
/**
 * A table with a header, quoted as RFC 4180 says; nested values as JSON.
 *
 * @remarks Columns are the union of the items' fields, in the order they were first seen, unless `fields` fixes them.
 * No rows are held: where a new column comes up, a longer header is written between the rows, and one pass at the end
 * leaves the last header only, at the top, and fills the shorter rows up.
 *
 * @see {@link https://www.rfc-editor.org/rfc/rfc4180 | RFC 4180}
 */
export declare class CsvExporter implements FeedExporter {
  #private;
  readonly mayRewrite: boolean;
  constructor(options?: ExporterOptions);
  get leftOut(): ReadonlySet<string>;
  start(): string;
  resume({ columns, segments }: KeptRecords): string;
  item(item: unknown): string;
  finish(): string;
  rewrite(): FeedPass | undefined;
}
//# sourceMappingURL=csv.d.ts.map
