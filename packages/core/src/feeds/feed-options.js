import { SettingsError, UsageError } from '../errors.js';
import { compressionSuffixes } from './compression.js';
import { baseExporters } from './exporters/formats.js';
import { hasBatchParameter } from './uri.js';
const INPUT_NAMES = [
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
];
/**
 * The feeds of a crawl: `FEEDS`, and `FEEDS_ADDED` (from `-o` and `-O`) beside or over them.
 *
 * @throws SettingsError, UsageError for an option that cannot be, before anything is opened.
 */
export function feedOptions(settings) {
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
export function parseFeedOutputs(append, overwrite, settings) {
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
export function parseFeedOption(value, overwrite, settings) {
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
function oneFeed(uri, input, settings) {
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
    overwrite: input.overwrite ?? false,
    storeEmpty: input.storeEmpty ?? settings.get('FEED_STORE_EMPTY') !== false,
    batchItemCount,
    itemClasses: input.itemClasses ?? [],
    itemFilter: input.itemFilter,
    // Checked by whoever calls it: functions have no types at run time.
    uriParams: input.uriParams ?? settings.get('FEED_URI_PARAMS') ?? undefined,
    postprocessing: postprocessingOf(uri, input.postprocessing),
    exporterClass: exporters[format],
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
    storages: classesOf(settings, 'FEED_STORAGES'),
  };
}
function feedsOf(settings, name) {
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
  return feeds;
}
/** The format that a file name tells; JSON lines on standard output. */
function formatOf(uri) {
  if (uri === '-' || uri === 'stdout:') return 'jsonlines';
  const plain = compressionOf(uri) ? uri.slice(0, uri.lastIndexOf('.')) : uri;
  return suffixOf(plain);
}
function compressionOf(uri) {
  const suffix = suffixOf(uri);
  return suffix === undefined ? undefined : compressionSuffixes[suffix];
}
function suffixOf(uri) {
  return /[^/\\]\.([^./\\]+)$/.exec(uri)?.[1]?.toLowerCase();
}
function unknownFormat(uri, format, formats) {
  const what =
    format === undefined
      ? `No format is named for the feed ${uri}`
      : `The feed ${uri} has the format ${JSON.stringify(format)}, which does not exist`;
  return new UsageError(
    `${what}. Formats are ${Object.keys(formats).join(', ')}: write out.jsonl, out.txt:csv, or set format.`,
  );
}
function postprocessingOf(uri, input) {
  const named = compressionOf(uri);
  const kinds = input ?? (named ? [named] : []);
  if (!Array.isArray(kinds) || !kinds.every((kind) => kind === 'gzip' || kind === 'zstd')) {
    throw new SettingsError(
      `postprocessing of the feed ${uri} must be a list of gzip and zstd, got ${JSON.stringify(kinds)}. Write ['gzip'].`,
    );
  }
  return kinds;
}
function encodingOf(uri, value) {
  const name = typeof value === 'string' ? value.toLowerCase() : (value ?? 'utf-8');
  if (name === 'utf-8' || name === 'utf8') return 'utf-8';
  if (name === 'latin1' || name === 'latin-1' || name === 'iso-8859-1') return 'latin1';
  throw new SettingsError(
    `The encoding of the feed ${uri} must be utf-8 or latin1, got ${JSON.stringify(value)}. Leave it out for utf-8.`,
  );
}
function indentOf(uri, value) {
  if (value === null || value === 'null') return null;
  return wholeNumber(uri, 'indent', value ?? 0);
}
function wholeNumber(uri, name, value) {
  const number = Number(value);
  if (!Number.isInteger(number) || number < 0) {
    throw new SettingsError(
      `${name} of the feed ${uri} must be a whole number ≥ 0, got ${JSON.stringify(value)}. Leave it out for the default.`,
    );
  }
  return number;
}
/** A list, a map, or either as text from a command line: `name,price`, `{"name":"Name"}`. */
function fieldsOf(value) {
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value === 'object') return value;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  if (!/^\s*[[{]/.test(text)) return text.split(',').map((name) => name.trim());
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new SettingsError(
      `FEED_EXPORT_FIELDS must be names or JSON, got ${JSON.stringify(text)}. Write name,price or {"name":"Name"}.`,
      { cause },
    );
  }
}
function exportersOf(settings) {
  return classesOf(settings, 'FEED_EXPORTERS');
}
function classesOf(settings, name) {
  const classes = settings.get(name) ?? {};
  for (const [key, value] of Object.entries(classes)) {
    if (typeof value !== 'function')
      throw new SettingsError(
        `${name} must give ${key} a class, got ${JSON.stringify(value)}. Import it and name it there.`,
      );
  }
  return classes;
}
//# sourceMappingURL=feed-options.js.map
