import type * as Reader from 'hyparquet';
import type * as Writer from 'hyparquet-writer';

import { UsageError } from '../../errors.ts';
import type { FeedPass } from './exporter.ts';
import { type ParquetType, wholeLines } from './parquet-columns.ts';

/** The library, which only those install who need it. */
interface ParquetLibrary {
  readonly reader: typeof Reader;
  readonly writer: typeof Writer;
}

/** Bytes of JSON that become one row group, and rows at most: what is held in memory at a time. */
const GROUP_BYTES = 8 * 2 ** 20;
const GROUP_ROWS = 100_000;

type Schema = ConstructorParameters<typeof Writer.ParquetWriter>[0]['schema'];

const elements: Readonly<Record<ParquetType, Pick<Schema[number], 'type' | 'converted_type'>>> = {
  none: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  boolean: { type: 'BOOLEAN' },
  integer: { type: 'INT64' },
  double: { type: 'DOUBLE' },
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  json: { type: 'BYTE_ARRAY', converted_type: 'JSON' },
};

/** @throws UsageError if it is not installed. */
export async function loadParquet(): Promise<ParquetLibrary> {
  try {
    const [reader, writer] = await Promise.all([import('hyparquet'), import('hyparquet-writer')]);
    return { reader, writer };
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw cause;
    throw new UsageError(
      'Feeds of format parquet need a library that is not installed. Run: npm install hyparquet-writer hyparquet',
      { cause },
    );
  }
}

/** Makes a Parquet file of lines of JSON, a row group at a time. */
export function parquetPass(types: ReadonlyMap<string, ParquetType>): FeedPass {
  return async function* pass(source) {
    const { ByteWriter, ParquetWriter } = (await loadParquet()).writer;
    const bytes = new ByteWriter();
    const schema: Schema = [{ name: 'root', num_children: types.size }];
    for (const [name, type] of types)
      schema.push({ name, repetition_type: 'OPTIONAL', ...elements[type] });
    const file = new ParquetWriter({ writer: bytes, schema, createdBy: 'lycosa' });
    /** What was written since it was last asked for. */
    const taken = (): Uint8Array => {
      const chunk = bytes.getBytes().slice();
      bytes.index = 0;
      return chunk;
    };
    for await (const rows of rowGroups(source)) {
      await file.write({ columnData: columnsOf(rows, types), rowGroupSize: rows.length });
      yield taken();
    }
    await file.finish();
    yield taken();
  };
}

/** The rows of a finished file as lines of JSON, a row group at a time. */
export async function* parquetLines(path: string): AsyncGenerator<Uint8Array> {
  const { reader } = await loadParquet();
  const file = await reader.asyncBufferFromFile(path);
  const metadata = await reader.parquetMetadataAsync(file);
  let rowStart = 0;
  for (const group of metadata.row_groups) {
    const rowEnd = rowStart + Number(group.num_rows);
    const rows = await reader.parquetReadObjects({ file, metadata, rowStart, rowEnd });
    yield Buffer.from(rows.map((row) => `${lineOf(row)}\n`).join(''));
    rowStart = rowEnd;
  }
}

type Row = Readonly<Record<string, unknown>>;

async function* rowGroups(source: AsyncIterable<Uint8Array>): AsyncGenerator<Row[]> {
  let rows: Row[] = [];
  let size = 0;
  for await (const line of wholeLines(source)) {
    // The exporter lets nothing else into the part.
    rows.push(JSON.parse(line.toString()) as Row);
    size += line.length;
    if (size < GROUP_BYTES && rows.length < GROUP_ROWS) continue;
    yield rows;
    rows = [];
    size = 0;
  }
  if (rows.length > 0) yield rows;
}

function columnsOf(
  rows: readonly Row[],
  types: ReadonlyMap<string, ParquetType>,
): { name: string; data: unknown[] }[] {
  return Array.from(types, ([name, type]) => ({
    name,
    data: rows.map((row) => {
      const value = Object.hasOwn(row, name) ? row[name] : undefined;
      return type === 'integer' && typeof value === 'number' ? BigInt(value) : value;
    }),
  }));
}

/** Fields that are null were absent, or null: a table does not tell. */
function lineOf(row: Row): string {
  const fields = Object.entries(row).filter(([, value]) => value !== null && value !== undefined);
  return JSON.stringify(
    Object.fromEntries(
      fields.map(([name, value]) => [name, typeof value === 'bigint' ? Number(value) : value]),
    ),
  );
}
