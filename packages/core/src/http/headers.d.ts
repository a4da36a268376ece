/** What a constructor of headers takes. Names are not case sensitive; a list sends the header several times. */
export type HeadersInput =
  | Headers
  | Readonly<Record<string, string | readonly string[] | null | undefined>>
  | Iterable<readonly [string, string]>;
/** HTTP headers: names without regard to case, each with one or more values. */
export declare class Headers {
  #private;
  constructor(init?: HeadersInput);
  /** Headers as they came from the wire: a record of lower-case names, not checked again. */
  static fromWire(record: Readonly<Record<string, string | string[] | undefined>>): Headers;
  get size(): number;
  /** The first value. */
  get(name: string): string | undefined;
  getAll(name: string): readonly string[];
  has(name: string): boolean;
  /** @throws UsageError for a name or value that HTTP cannot carry. */
  set(name: string, value: string | readonly string[]): this;
  append(name: string, value: string): this;
  setDefault(name: string, value: string): this;
  delete(name: string): boolean;
  [Symbol.iterator](): Generator<[string, string]>;
  /** A plain record; a single value is a string, several are a list. */
  toJSON(): Record<string, string | string[]>;
  /** Names and values in turn, as undici takes them. */
  toRaw(): string[];
}
//# sourceMappingURL=headers.d.ts.map
