import type { Spider } from '../spider/spider.ts';
import { type Postprocessing } from './compression.ts';
import type { ExporterOptions, FeedEncoding, FeedExporterClass } from './exporters/exporter.ts';
import type { FeedStorageClass } from './storages/storage.ts';
/** One entry of `FEEDS`. What is absent comes from the `FEED_*` settings. */
export interface FeedInput {
  /** `json`, `jsonlines` (`jsonl`, `jl`), `csv`, `xml`, or one of `FEED_EXPORTERS`; by default what the file name ends in. */
  readonly format?: string;
  /** Replaces the file (`-O`) instead of adding to it (`-o`, the default). */
  readonly overwrite?: boolean;
  /** Fields to write and their order; as a map, with their names in the output. All fields by default. */
  readonly fields?: readonly string[] | Readonly<Record<string, string>> | null;
  /** `utf-8` by default. */
  readonly encoding?: FeedEncoding | null;
  /** JSON, XML: spaces for each level. 0 writes one item a line; null writes all on one line. */
  readonly indent?: number | null;
  /** Writes a file even if there was no item. */
  readonly storeEmpty?: boolean;
  /** Starts a new file after this many items; needs `%(batch_id)d` or `%(batch_time)s` in the URI. 0 is one file. */
  readonly batchItemCount?: number;
  /** Only items of these classes. */
  readonly itemClasses?: readonly ItemClass[];
  /** Only items for which it returns true. */
  readonly itemFilter?: (item: unknown) => boolean;
  /** Parameters for the URI, in place of those it is given. */
  readonly uriParams?: UriParams;
  /** Compresses the complete file. By default what the file name ends in: `.gz` or `.zst`. */
  readonly postprocessing?: readonly Postprocessing[];
  /** CSV: writes text that a spreadsheet would run as a formula with a leading apostrophe. */
  readonly escapeFormulas?: boolean;
  /** Options of one exporter: `delimiter` (CSV), `rootElement`, `itemElement` (XML), or what your own takes. */
  readonly itemExportKwargs?: Readonly<Record<string, unknown>>;
}
/** The setting `FEEDS`: a URI or a path, and how to write it. */
export type FeedsInput = Readonly<Record<string, FeedInput>>;
/** Any class, for `instanceof`. */
export type ItemClass = abstract new (...args: never[]) => object;
export type UriParams = (
  params: Record<string, unknown>,
  spider: Spider,
) => Readonly<Record<string, unknown>>;
/** One feed with all its defaults. */
export interface FeedOptions {
  /** Before its parameters are filled in. */
  readonly uri: string;
  readonly format: string;
  readonly overwrite: boolean;
  readonly storeEmpty: boolean;
  /** 0 is one file. */
  readonly batchItemCount: number;
  readonly itemClasses: readonly ItemClass[];
  readonly itemFilter: ((item: unknown) => boolean) | undefined;
  readonly uriParams: UriParams | undefined;
  readonly postprocessing: readonly Postprocessing[];
  readonly exporterClass: FeedExporterClass;
  readonly exporterOptions: ExporterOptions;
  /** `FEED_STORAGES`: URI schemes to storages. */
  readonly storages: Readonly<Record<string, FeedStorageClass>>;
}
/** What is read of the settings. */
export interface FeedSettings {
  get(name: string): unknown;
}
/**
 * The feeds of a crawl: `FEEDS`, and `FEEDS_ADDED` (from `-o` and `-O`) beside or over them.
 *
 * @throws SettingsError, UsageError for an option that cannot be, before anything is opened.
 */
export declare function feedOptions(settings: FeedSettings): FeedOptions[];
/**
 * The feeds of `-o` (adds to the file) and `-O` (replaces it), in the shape of `FEEDS`.
 *
 * @throws UsageError if both are given, or a value has no format.
 */
export declare function parseFeedOutputs(
  append: readonly string[],
  overwrite: readonly string[],
  settings?: FeedSettings,
): Record<string, FeedInput>;
/**
 * One value of `-o` or `-O`: `URI[:FORMAT]`; `-` is standard output.
 *
 * @throws UsageError if there is no such format.
 */
export declare function parseFeedOption(
  value: string,
  overwrite: boolean,
  settings?: FeedSettings,
): [uri: string, input: FeedInput];
//# sourceMappingURL=feed-options.d.ts.map
