import { UsageError } from '../errors.ts';

/** What a constructor of headers takes. Names are not case sensitive; a list sends the header several times. */
export type HeadersInput =
  | Headers
  | Readonly<Record<string, string | readonly string[] | null | undefined>>
  | Iterable<readonly [string, string]>;

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
// A header value holds no CR, LF or NUL (RFC 9110 §5.5): whoever controls one could add headers of their own.
// oxlint-disable-next-line no-control-regex
const forbidden = /[\0\r\n]|[^\x00-\xff]/;

/** HTTP headers: names without regard to case, each with one or more values. */
export class Headers {
  readonly #values = new Map<string, string[]>();

  constructor(init?: HeadersInput) {
    if (init === undefined) return;
    if (init instanceof Headers) {
      for (const [name, values] of init.#values) this.#values.set(name, [...values]);
    } else if (Symbol.iterator in init) {
      for (const [name, value] of init as Iterable<readonly [string, string]>) {
        this.append(name, value);
      }
    } else {
      for (const [name, value] of Object.entries(init)) {
        if (value !== null && value !== undefined) this.set(name, value as string);
      }
    }
  }

  /** Headers as they came from the wire: a record of lower-case names, not checked again. */
  static fromWire(record: Readonly<Record<string, string | string[] | undefined>>): Headers {
    const headers = new Headers();
    for (const name in record) {
      const value = record[name];
      if (value !== undefined) headers.#values.set(name, Array.isArray(value) ? value : [value]);
    }
    return headers;
  }

  get size(): number {
    return this.#values.size;
  }

  /** The first value. */
  get(name: string): string | undefined {
    return this.#values.get(name.toLowerCase())?.[0];
  }

  getAll(name: string): readonly string[] {
    return this.#values.get(name.toLowerCase()) ?? [];
  }

  has(name: string): boolean {
    return this.#values.has(name.toLowerCase());
  }

  /** @throws UsageError for a name or value that HTTP cannot carry. */
  set(name: string, value: string | readonly string[]): this {
    const values = typeof value === 'string' ? [value] : value.map(String);
    if (!Array.isArray(value) && typeof value !== 'string') values[0] = String(value);
    for (const one of values) checkHeader(name, one);
    this.#values.set(name.toLowerCase(), values);
    return this;
  }

  append(name: string, value: string): this {
    checkHeader(name, value);
    const key = name.toLowerCase();
    const values = this.#values.get(key);
    if (values) values.push(value);
    else this.#values.set(key, [value]);
    return this;
  }

  setDefault(name: string, value: string): this {
    return this.has(name) ? this : this.set(name, value);
  }

  delete(name: string): boolean {
    return this.#values.delete(name.toLowerCase());
  }

  *[Symbol.iterator](): Generator<[string, string]> {
    for (const [name, values] of this.#values) for (const value of values) yield [name, value];
  }

  /** A plain record; a single value is a string, several are a list. */
  toJSON(): Record<string, string | string[]> {
    const out: Record<string, string | string[]> = {};
    for (const [name, values] of this.#values)
      out[name] = values.length === 1 ? values[0]! : values;
    return out;
  }

  /** Names and values in turn, as undici takes them. */
  toRaw(): string[] {
    const raw: string[] = [];
    for (const [name, values] of this.#values) for (const value of values) raw.push(name, value);
    return raw;
  }
}

function checkHeader(name: string, value: string): void {
  if (!token.test(name)) {
    throw new UsageError(`${JSON.stringify(name)} is not a header name.`);
  }
  if (forbidden.test(value)) {
    throw new UsageError(
      `The header ${name} cannot have the value ${JSON.stringify(value)}: line ends, NUL and characters beyond Latin-1 cannot be sent. Encode it first.`,
    );
  }
}
