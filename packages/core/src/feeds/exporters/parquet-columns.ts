import { UsageError } from '../../errors.ts';

/** What a column holds; the type that all of its values fit in. */
export type ParquetType = 'none' | 'boolean' | 'integer' | 'double' | 'text' | 'json';

/** Columns of a table in the order in which they were first seen, and what they hold. */
export class ParquetColumns {
  readonly #types = new Map<string, ParquetType>();
  readonly #isFixed: boolean;

  /** @param fixed - The only columns, if they are fixed. */
  constructor(fixed?: readonly string[]) {
    this.#isFixed = fixed !== undefined;
    for (const name of fixed ?? []) this.#types.set(name, 'none');
  }

  get types(): ReadonlyMap<string, ParquetType> {
    return this.#types;
  }

  /**
   * Takes an item as it is in the part: one line of JSON.
   *
   * @throws TypeError if it is no object with fields.
   */
  add(json: string): void {
    const record: unknown = JSON.parse(json);
    if (typeof record !== 'object' || record === null || Array.isArray(record))
      throw new TypeError('an item in a Parquet file is an object with fields');
    for (const [name, value] of Object.entries(record)) this.#widen(name, typeOf(value));
  }

  /**
   * Takes the columns of what was there before.
   *
   * @throws UsageError if fixed columns are others.
   */
  continue(kept: ReadonlyMap<string, ParquetType>): void {
    for (const [name, type] of kept) {
      if (this.#isFixed && !this.#types.has(name)) {
        throw new UsageError(
          `The file has the column ${name}, which the fields of the feed do not name. Replace it with -O (overwrite: true), or write to another file.`,
        );
      }
      this.#widen(name, type);
    }
  }

  #widen(name: string, type: ParquetType): void {
    this.#types.set(name, common(this.#types.get(name) ?? 'none', type));
  }
}

function typeOf(value: unknown): ParquetType {
  if (value === null) return 'none';
  if (typeof value === 'boolean') return 'boolean';
  if (typeof value === 'string') return 'text';
  if (typeof value !== 'number') return 'json';
  return Number.isSafeInteger(value) ? 'integer' : 'double';
}

function common(one: ParquetType, other: ParquetType): ParquetType {
  if (one === other || other === 'none') return one;
  if (one === 'none') return other;
  const areNumbers = [one, other].every((type) => type === 'integer' || type === 'double');
  return areNumbers ? 'double' : 'json';
}

/** The lines of a part, without their ends; what follows the last end is left out. */
export async function* wholeLines(source: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let rest: Buffer[] = [];
  for await (const bytes of source) {
    const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    let from = 0;
    for (let at = chunk.indexOf(0x0a); at !== -1; at = chunk.indexOf(0x0a, from)) {
      rest.push(chunk.subarray(from, at));
      yield rest.length === 1 ? rest[0]! : Buffer.concat(rest);
      rest = [];
      from = at + 1;
    }
    if (from < chunk.length) rest.push(chunk.subarray(from));
  }
}
