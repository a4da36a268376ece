import { open, rename, stat } from 'node:fs/promises';

import { UsageError } from '../errors.ts';
import { compressionSuffixes, compressPass, type Postprocessing } from './compression.ts';
import { padCsv } from './exporters/csv-rows.ts';
import type { FeedEncoding, FeedPass } from './exporters/exporter.ts';
import { JsonExporter } from './exporters/json.ts';
import { parquetPass } from './exporters/parquet-file.ts';
import { XmlExporter } from './exporters/xml.ts';
import { type ScannedRecords, scanRecords } from './records.ts';
import { FileFeedStorage } from './storages/file.ts';

export interface RepairOptions {
  /** Replaces the finished file if there is one. */
  readonly overwrite?: boolean;
  /** CSV: `,` by default. */
  readonly delimiter?: string;
  /** `utf-8` by default. */
  readonly encoding?: FeedEncoding;
}

export interface RepairResult {
  /** The finished file. */
  readonly path: string;
  readonly records: number;
  /** Bytes of a torn record that were cut off. */
  readonly cutBytes: number;
}

/**
 * Finishes a feed that a crash has left as `<path>.part`: cuts off a torn record, closes what is open, gives it its name.
 *
 * @param format - `jsonl`, `csv`, `json`, `xml` or `parquet`; from the file name if absent.
 * @throws UsageError if it is no part, its format is unknown, or the finished file exists.
 */
export async function repairFeed(
  partPath: string,
  format?: string,
  options: RepairOptions = {},
): Promise<RepairResult> {
  if (!partPath.endsWith('.part'))
    throw new UsageError(`${partPath} is no part of a feed. Name a file that ends in .part.`);
  const path = partPath.slice(0, -'.part'.length);
  const { kind, postprocessing } = kindOf(path, format);
  if (!(await exists(partPath)))
    throw new UsageError(
      `${partPath} does not exist. Parts lie beside the feeds they were to become.`,
    );
  if (!options.overwrite && (await exists(path))) {
    throw new UsageError(`${path} exists. Move it away, or replace it with --overwrite.`);
  }
  const scanned = await scanRecords(partPath, kind, options);
  const cutBytes = (await stat(partPath)).size - scanned.end;
  const handle = await open(partPath, 'r+');
  try {
    await handle.truncate(scanned.end);
    await handle.write(await ending(partPath, kind, scanned), scanned.end);
    await handle.datasync();
  } finally {
    await handle.close();
  }
  const passes: FeedPass[] = postprocessing.map(compressPass);
  if (scanned.segments.length > 1)
    passes.unshift(
      padCsv(scanned.columns, scanned.segments, options.delimiter ?? ',', options.encoding),
    );
  if (scanned.types) passes.unshift(parquetPass(scanned.types));
  if (passes.length > 0) {
    const storage = new FileFeedStorage(path, { format: kind });
    await storage.rewrite(passes);
    await storage.abandon(false);
  }
  await rename(partPath, path);
  return { path, records: scanned.records, cutBytes };
}

/** What closes the file. */
async function ending(part: string, kind: string, scanned: ScannedRecords): Promise<string> {
  if (kind === 'json') {
    const exporter = new JsonExporter();
    return scanned.end === 0
      ? exporter.start() + exporter.finish()
      : exporter.resume(scanned) + exporter.finish();
  }
  if (kind !== 'xml') return '';
  const exporter = new XmlExporter(
    scanned.end === 0 ? {} : { rootElement: await rootElement(part) },
  );
  return (scanned.end === 0 ? exporter.start() : '\n') + exporter.finish();
}

async function rootElement(part: string): Promise<string> {
  const handle = await open(part);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(1024), 0, 1024, 0);
    return /<([^?!<>\s]+)>/.exec(buffer.toString('utf8', 0, bytesRead))?.[1] ?? 'items';
  } finally {
    await handle.close();
  }
}

function kindOf(
  path: string,
  format: string | undefined,
): { kind: string; postprocessing: Postprocessing[] } {
  const suffix = /\.([^./\\]+)$/.exec(path)?.[1] ?? '';
  const compression = compressionSuffixes[suffix];
  const plain = compression ? path.slice(0, -suffix.length - 1) : path;
  const kind = format ?? /\.([^./\\]+)$/.exec(plain)?.[1];
  if (kind === undefined)
    throw new UsageError(
      `The format of ${path} is unknown. Name it: jsonl, csv, json, xml or parquet.`,
    );
  return { kind, postprocessing: compression ? [compression] : [] };
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return false;
      throw error;
    },
  );
}
