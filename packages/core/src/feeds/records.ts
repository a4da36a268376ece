import { createReadStream } from 'node:fs';

import { UsageError } from '../errors.ts';
import { CsvRecords, parseCsvRecord } from './exporters/csv-rows.ts';
import type { CsvSegment, FeedEncoding, KeptRecords } from './exporters/exporter.ts';
import { ParquetColumns, wholeLines } from './exporters/parquet-columns.ts';

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
export async function scanRecords(
  path: string,
  format: string,
  options: ScanOptions = {},
): Promise<ScannedRecords> {
  const chunks: AsyncIterable<Buffer> = createReadStream(path, { highWaterMark: 1 << 18 });
  switch (format) {
    case 'jsonlines':
    case 'jsonl':
    case 'jl':
      return scanLines(chunks, options);
    case 'csv':
      return scanCsv(chunks, options);
    case 'json':
      return scanJson(chunks);
    case 'xml':
      return scanXml(chunks);
    case 'parquet':
      return scanParquet(chunks);
    default:
      throw new UsageError(
        `Records of format ${format} cannot be told apart. Use jsonl, csv, json, xml or parquet.`,
      );
  }
}

async function scanLines(
  chunks: AsyncIterable<Buffer>,
  { isWhole = false }: ScanOptions,
): Promise<ScannedRecords> {
  let [size, end, records] = [0, 0, 0];
  for await (const chunk of chunks) {
    for (let at = chunk.indexOf(0x0a); at !== -1; at = chunk.indexOf(0x0a, at + 1)) {
      records++;
      end = size + at + 1;
    }
    size += chunk.length;
  }
  const needsLineEnd = isWhole && size > end;
  return {
    records: records + Number(needsLineEnd),
    columns: [],
    segments: [],
    end: needsLineEnd ? size : end,
    needsLineEnd,
  };
}

async function scanCsv(
  chunks: AsyncIterable<Buffer>,
  { isWhole = false, delimiter = ',', encoding = 'utf-8' }: ScanOptions,
): Promise<ScannedRecords> {
  const scanner = new CsvRecords();
  const segments: { width: number; rows: number }[] = [];
  let columns: readonly string[] = [];
  let end = 0;
  // A longer header begins with the one before it.
  let prefix: Buffer | undefined;
  const take = (record: Buffer): void => {
    const isHeader =
      segments.length === 0 ||
      (!isWhole && prefix !== undefined && record.subarray(0, prefix.length).equals(prefix));
    if (isHeader) {
      const header = record.toString(encoding);
      columns = parseCsvRecord(header, delimiter);
      segments.push({ width: columns.length, rows: 0 });
      prefix = Buffer.from(header.replace(/\r?\n$/, '') + delimiter, encoding);
    } else {
      segments.at(-1)!.rows++;
    }
    end += record.length;
  };
  for await (const chunk of chunks) {
    for (const record of scanner.push(chunk)) take(record);
  }
  const needsLineEnd = isWhole && scanner.rest.length > 0;
  if (needsLineEnd) {
    if (scanner.isQuoted)
      throw new UsageError(
        'It ends inside a quoted cell, so nothing can be appended. Replace it with -O (overwrite: true).',
      );
    take(scanner.rest);
  }
  return { records: count(segments), columns, segments, end, needsLineEnd };
}

function count(segments: readonly CsvSegment[]): number {
  return segments.reduce((sum, { rows }) => sum + rows, 0);
}

async function scanJson(chunks: AsyncIterable<Buffer>): Promise<ScannedRecords> {
  let [offset, depth, end, records] = [0, 0, 0, 0];
  let [isText, isEscaped, isScalar] = [false, false, false];
  const whole = (at: number): void => {
    end = at;
    records++;
  };
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at]!;
      if (isText) {
        if (isEscaped) isEscaped = false;
        else if (byte === 0x5c) isEscaped = true;
        else if (byte === 0x22) isText = false;
        continue;
      }
      switch (byte) {
        case 0x5b: // [
        case 0x7b: // {
          depth++;
          if (depth === 1) end = offset + at + 1;
          break;
        case 0x5d: // ]
        case 0x7d: // }
          if (depth === 1 && isScalar) whole(offset + at);
          isScalar = false;
          depth--;
          if (depth === 1) whole(offset + at + 1);
          break;
        case 0x2c: // ,
          if (depth === 1 && isScalar) whole(offset + at);
          if (depth === 1) isScalar = false;
          break;
        case 0x22: // "
          isText = true;
          if (depth === 1) isScalar = true;
          break;
        default:
          if (depth === 1 && byte > 0x20) isScalar = true;
      }
    }
    offset += chunk.length;
  }
  return { records, columns: [], segments: [], end };
}

/** The part of a Parquet file is lines of JSON. */
async function scanParquet(chunks: AsyncIterable<Buffer>): Promise<ScannedRecords> {
  const columns = new ParquetColumns();
  let [end, records] = [0, 0];
  for await (const line of wholeLines(chunks)) {
    columns.add(line.toString());
    end += line.length + 1;
    records++;
  }
  return { records, columns: [], segments: [], types: columns.types, end };
}

async function scanXml(chunks: AsyncIterable<Buffer>): Promise<ScannedRecords> {
  let [offset, depth, end, records] = [0, 0, 0, 0];
  // The byte after `<`, while inside a tag.
  let tag = 0;
  let isInTag = false;
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at]!;
      if (byte === 0x3c) {
        isInTag = true;
        tag = 0;
      } else if (isInTag && tag === 0) {
        tag = byte;
      } else if (isInTag && byte === 0x3e) {
        isInTag = false;
        if (tag === 0x3f) continue;
        depth += tag === 0x2f ? -1 : 1;
        if (depth !== 1) continue;
        end = offset + at + 1;
        if (tag === 0x2f) records++;
      }
    }
    offset += chunk.length;
  }
  return { records, columns: [], segments: [], end };
}
