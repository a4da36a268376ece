import { SettingsError, UsageError } from '../errors.ts';
import type { Spider } from '../spider/spider.ts';
import { compressionSuffixes, type Postprocessing } from './compression.ts';
import type { ExporterOptions, FeedEncoding, FeedExporterClass } from './exporters/exporter.ts';
import { baseExporters } from './exporters/formats.ts';
import { parseS3Uri } from './storages/s3-client.ts';
import type { FeedStorageClass } from './storages/storage.ts';
import { hasBatchParameter } from './uri.ts';

/** One entry of `FEEDS`. What is absent comes from the `FEED_*` settings. */
export interface FeedInput {
  /** `json`, `jsonlines` (`jsonl`, `jl`), `csv`, `xml`, `parquet`, or one of `FEED_EXPORTERS`; by default what the file name ends in. */
  readonly format?: string;
  /** Replaces the file (`-O`) instead of adding to it (`-o`). By default objects of `s3:` are replaced, files added to. */
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

const INPUT_NAMES: readonly string[] = [
  'format',
  'overwrite',
  'fields',
  'encoding',
  'indent',
  'storeEmpty',
  'batchItemCount',
  'itemClasses',
  'itemFilter',
  'uriParams',
  'postprocessing',
  'escapeFormulas',
  'itemExportKwargs',
] satisfies (keyof FeedInput)[];

/**
 * The feeds of a crawl: `FEEDS`, and `FEEDS_ADDED` (from `-o` and `-O`) beside or over them.
 *
 * @throws SettingsError, UsageError for an option that cannot be, before anything is opened.
 */
export function feedOptions(settings: FeedSettings): FeedOptions[] {
  const feeds = feedsOf(settings, 'FEEDS');
  const added = feedsOf(settings, 'FEEDS_ADDED');
  const uris = new Set([...Object.keys(feeds), ...Object.keys(added)]);
  return Array.from(uris, (uri) => oneFeed(uri, { ...feeds[uri], ...added[uri] }, settings));
}

/**
 * The feeds of `-o` (adds to the file) and `-O` (replaces it), in the shape of `FEEDS`.
 *
 * @throws UsageError if both are given, or a value has no format.
 */
export function parseFeedOutputs(
  append: readonly string[],
  overwrite: readonly string[],
  settings?: FeedSettings,
): Record<string, FeedInput> {
  if (append.length > 0 && overwrite.length > 0) {
    throw new UsageError('-o adds to a file and -O replaces it: use one of them, not both.');
  }
  const isOverwrite = overwrite.length > 0;
  return Object.fromEntries(
    [...append, ...overwrite].map((value) => parseFeedOption(value, isOverwrite, settings)),
  );
}

/**
 * One value of `-o` or `-O`: `URI[:FORMAT]`; `-` is standard output.
 *
 * @throws UsageError if there is no such format.
 */
export function parseFeedOption(
  value: string,
  overwrite: boolean,
  settings?: FeedSettings,
): [uri: string, input: FeedInput] {
  if (isS3(value, settings)) parseS3Uri(value);
  const formats = { ...baseExporters, ...(settings && exportersOf(settings)) };
  const [, head = '', tail = ''] = /^(.+):([^:/\\]+)$/s.exec(value) ?? [];
  if (Object.hasOwn(formats, tail)) return [head, { format: tail, overwrite }];
  if (tail !== '' && !/^[a-z]$/i.test(head) && formatOf(head) !== undefined)
    throw unknownFormat(value, tail, formats);
  const format = formatOf(value);
  if (format === undefined || !Object.hasOwn(formats, format))
    throw unknownFormat(value, format, formats);
  return [value, { overwrite }];
}

function oneFeed(uri: string, input: FeedInput, settings: FeedSettings): FeedOptions {
  const isObject = isS3(uri, settings);
  // Before all other errors: they name the URI, and this one keeps credentials out of them.
  if (isObject) parseS3Uri(uri);
  for (const name of Object.keys(input)) {
    if (!INPUT_NAMES.includes(name)) {
      throw new SettingsError(
        `The feed ${uri} has no option ${JSON.stringify(name)}. Options are ${INPUT_NAMES.join(', ')}.`,
      );
    }
  }
  const exporters = { ...baseExporters, ...exportersOf(settings) };
  const format = input.format ?? formatOf(uri);
  if (format === undefined || !Object.hasOwn(exporters, format))
    throw unknownFormat(uri, format, exporters);
  const batchItemCount = wholeNumber(
    uri,
    'batchItemCount',
    input.batchItemCount ?? settings.get('FEED_EXPORT_BATCH_ITEM_COUNT') ?? 0,
  );
  if (batchItemCount > 0 && !hasBatchParameter(uri)) {
    throw new UsageError(
      `The feed ${uri} starts a new file after ${batchItemCount} items, but each would have the same name. Put %(batch_id)d or %(batch_time)s into it.`,
    );
  }
  return {
    uri,
    format,
    overwrite: input.overwrite ?? isObject,
    storeEmpty: input.storeEmpty ?? settings.get('FEED_STORE_EMPTY') !== false,
    batchItemCount,
    itemClasses: input.itemClasses ?? [],
    itemFilter: input.itemFilter,
    // Checked by whoever calls it: functions have no types at run time.
    uriParams:
      input.uriParams ??
      (settings.get('FEED_URI_PARAMS') as UriParams | null | undefined) ??
      undefined,
    postprocessing: postprocessingOf(uri, format, input.postprocessing),
    exporterClass: exporters[format]!,
    exporterOptions: {
      fields:
        input.fields === undefined ? fieldsOf(settings.get('FEED_EXPORT_FIELDS')) : input.fields,
      indent: indentOf(
        uri,
        input.indent === undefined ? settings.get('FEED_EXPORT_INDENT') : input.indent,
      ),
      encoding: encodingOf(uri, input.encoding ?? settings.get('FEED_EXPORT_ENCODING')),
      escapeFormulas: input.escapeFormulas ?? settings.get('FEED_CSV_ESCAPE_FORMULAS') === true,
      ...input.itemExportKwargs,
    },
    storages: classesOf<FeedStorageClass>(settings, 'FEED_STORAGES'),
  };
}

function feedsOf(settings: FeedSettings, name: string): FeedsInput {
  const feeds = settings.get(name) ?? {};
  if (typeof feeds !== 'object' || Array.isArray(feeds)) {
    throw new SettingsError(
      `${name} must be an object from URIs to options, got ${JSON.stringify(feeds)}. Write { 'out.jsonl': {} }.`,
    );
  }
  for (const [uri, input] of Object.entries(feeds)) {
    if (typeof input !== 'object' || input === null) {
      throw new SettingsError(
        `${name} must give ${uri} an object of options, got ${JSON.stringify(input)}. Write { '${uri}': {} }.`,
      );
    }
  }
  return feeds as FeedsInput;
}

/** True for an object of the built-in storage. */
function isS3(uri: string, settings: FeedSettings | undefined): boolean {
  return /^s3:\/\//i.test(uri) && !Object.hasOwn(settings?.get('FEED_STORAGES') ?? {}, 's3');
}

/** The format that a file name tells; JSON lines on standard output. */
function formatOf(uri: string): string | undefined {
  if (uri === '-' || uri === 'stdout:') return 'jsonlines';
  const plain = compressionOf(uri) ? uri.slice(0, uri.lastIndexOf('.')) : uri;
  return suffixOf(plain);
}

function compressionOf(uri: string): Postprocessing | undefined {
  const suffix = suffixOf(uri);
  return suffix === undefined ? undefined : compressionSuffixes[suffix];
}

function suffixOf(uri: string): string | undefined {
  return /[^/\\]\.([^./\\]+)$/.exec(uri)?.[1]?.toLowerCase();
}

function unknownFormat(uri: string, format: string | undefined, formats: object): UsageError {
  const what =
    format === undefined
      ? `No format is named for the feed ${uri}`
      : `The feed ${uri} has the format ${JSON.stringify(format)}, which does not exist`;
  return new UsageError(
    `${what}. Formats are ${Object.keys(formats).join(', ')}: write out.jsonl, out.txt:csv, or set format.`,
  );
}

function postprocessingOf(uri: string, format: string, input: unknown): readonly Postprocessing[] {
  const named = compressionOf(uri);
  const kinds = input ?? (named ? [named] : []);
  if (format === 'parquet' && Array.isArray(kinds) && kinds.length > 0) {
    throw new SettingsError(
      `The feed ${uri} is to be compressed, but a Parquet file is compressed inside, and readers take no other. Leave it out.`,
    );
  }
  if (
    !Array.isArray(kinds) ||
    !kinds.every((kind): kind is Postprocessing => kind === 'gzip' || kind === 'zstd')
  ) {
    throw new SettingsError(
      `postprocessing of the feed ${uri} must be a list of gzip and zstd, got ${JSON.stringify(kinds)}. Write ['gzip'].`,
    );
  }
  return kinds;
}

function encodingOf(uri: string, value: unknown): FeedEncoding {
  const name = typeof value === 'string' ? value.toLowerCase() : (value ?? 'utf-8');
  if (name === 'utf-8' || name === 'utf8') return 'utf-8';
  if (name === 'latin1' || name === 'latin-1' || name === 'iso-8859-1') return 'latin1';
  throw new SettingsError(
    `The encoding of the feed ${uri} must be utf-8 or latin1, got ${JSON.stringify(value)}. Leave it out for utf-8.`,
  );
}

function indentOf(uri: string, value: unknown): number | null {
  if (value === null || value === 'null') return null;
  return wholeNumber(uri, 'indent', value ?? 0);
}

function wholeNumber(uri: string, name: string, value: unknown): number {
  const number = Number(value);
  if (!Number.isInteger(number) || number < 0) {
    throw new SettingsError(
      `${name} of the feed ${uri} must be a whole number ≥ 0, got ${JSON.stringify(value)}. Leave it out for the default.`,
    );
  }
  return number;
}

/** A list, a map, or either as text from a command line: `name,price`, `{"name":"Name"}`. */
function fieldsOf(value: unknown): ExporterOptions['fields'] {
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value === 'object') return value as ExporterOptions['fields'];
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  if (!/^\s*[[{]/.test(text)) return text.split(',').map((name) => name.trim());
  try {
    return JSON.parse(text) as ExporterOptions['fields'];
  } catch (cause) {
    throw new SettingsError(
      `FEED_EXPORT_FIELDS must be names or JSON, got ${JSON.stringify(text)}. Write name,price or {"name":"Name"}.`,
      { cause },
    );
  }
}

function exportersOf(settings: FeedSettings): Readonly<Record<string, FeedExporterClass>> {
  return classesOf<FeedExporterClass>(settings, 'FEED_EXPORTERS');
}

function classesOf<C>(settings: FeedSettings, name: string): Readonly<Record<string, C>> {
  const classes = settings.get(name) ?? {};
  for (const [key, value] of Object.entries(classes)) {
    if (typeof value !== 'function')
      throw new SettingsError(
        `${name} must give ${key} a class, got ${JSON.stringify(value)}. Import it and name it there.`,
      );
  }
  return classes as Readonly<Record<string, C>>;
}
