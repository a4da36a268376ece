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
  /** Lower-case names and their values in turn, the values of one name side by side. There are few: a look at each is quickest. */
  readonly #raw: string[] = [];

  constructor(init?: HeadersInput) {
    if (init === undefined) return;
    if (init instanceof Headers) {
      this.#raw.push(...init.#raw);
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
      if (Array.isArray(value)) for (const one of value) headers.#raw.push(name, one);
      else if (value !== undefined) headers.#raw.push(name, value);
    }
    return headers;
  }

  /** Names. */
  get size(): number {
    let size = 0;
    for (let i = 0; i < this.#raw.length; i += 2) if (this.#raw[i] !== this.#raw[i - 2]) size++;
    return size;
  }

  /** The first value. */
  get(name: string): string | undefined {
    const at = this.#find(name.toLowerCase());
    return at < 0 ? undefined : this.#raw[at + 1];
  }

  getAll(name: string): readonly string[] {
    const key = name.toLowerCase();
    const at = this.#find(key);
    return at < 0 ? [] : this.#raw.slice(at, this.#end(key, at)).filter((_, i) => i % 2 === 1);
  }

  has(name: string): boolean {
    return this.#find(name.toLowerCase()) >= 0;
  }

  /** @throws UsageError for a name or value that HTTP cannot carry. */
  set(name: string, value: string | readonly string[]): this {
    const key = name.toLowerCase();
    const at = this.#find(key);
    if (!Array.isArray(value)) {
      const one = String(value);
      checkHeader(name, one);
      if (at < 0) this.#raw.push(key, one);
      else this.#raw.splice(at, this.#end(key, at) - at, key, one);
      return this;
    }
    const entries = value.flatMap((one) => [key, String(one)]);
    for (let i = 1; i < entries.length; i += 2) checkHeader(name, entries[i]!);
    if (at < 0) this.#raw.push(...entries);
    else this.#raw.splice(at, this.#end(key, at) - at, ...entries);
    return this;
  }

  append(name: string, value: string): this {
    checkHeader(name, value);
    const key = name.toLowerCase();
    const at = this.#find(key);
    if (at < 0) this.#raw.push(key, value);
    else this.#raw.splice(this.#end(key, at), 0, key, value);
    return this;
  }

  setDefault(name: string, value: string): this {
    return this.has(name) ? this : this.set(name, value);
  }

  delete(name: string): boolean {
    const key = name.toLowerCase();
    const at = this.#find(key);
    if (at >= 0) this.#raw.splice(at, this.#end(key, at) - at);
    return at >= 0;
  }

  *[Symbol.iterator](): Generator<[string, string]> {
    for (let i = 0; i < this.#raw.length; i += 2) yield [this.#raw[i]!, this.#raw[i + 1]!];
  }

  /** A plain record; a single value is a string, several are a list. */
  toJSON(): Record<string, string | string[]> {
    const out: Record<string, string | string[]> = {};
    for (const name of new Set(this.#raw.filter((_, i) => i % 2 === 0))) {
      const values = this.getAll(name);
      out[name] = values.length === 1 ? values[0]! : [...values];
    }
    return out;
  }

  /** Names and values in turn, as undici takes them. */
  toRaw(): string[] {
    return [...this.#raw];
  }

  /** Bytes of their lines on the wire, `name: value` and the line end. */
  get byteLength(): number {
    let bytes = this.#raw.length * 2;
    for (const text of this.#raw) bytes += text.length;
    return bytes;
  }

  #find(key: string): number {
    const raw = this.#raw;
    for (let i = 0; i < raw.length; i += 2) if (raw[i] === key) return i;
    return -1;
  }

  /** Where the values of `key` end that begin at `at`. */
  #end(key: string, at: number): number {
    let end = at + 2;
    while (this.#raw[end] === key) end += 2;
    return end;
  }
}

/** The value last found good under each name: most are the same in every request. */
const known = new Map<string, string>();
const maxKnown = 100;

function checkHeader(name: string, value: string): void {
  if (known.get(name) === value) return;
  if (!token.test(name)) {
    throw new UsageError(`${JSON.stringify(name)} is not a header name.`);
  }
  if (forbidden.test(value)) {
    throw new UsageError(
      `The header ${name} cannot have the value ${JSON.stringify(value)}: line ends, NUL and characters beyond Latin-1 cannot be sent. Encode it first.`,
    );
  }
  if (known.size < maxKnown || known.has(name)) known.set(name, value);
}
