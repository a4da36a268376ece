import { UsageError } from '../../errors.js';
import { equalHeaders, padCsv } from './csv-rows.js';
import { FieldPicker, jsonOf, recordOf } from './exporter.js';
/**
 * A table with a header, quoted as RFC 4180 says; nested values as JSON.
 *
 * @remarks Columns are the union of the items' fields, in the order they were first seen, unless `fields` fixes them.
 * No rows are held: where a new column comes up, a longer header is written between the rows, and one pass at the end
 * leaves the last header only, at the top, and fills the shorter rows up.
 *
 * @see {@link https://www.rfc-editor.org/rfc/rfc4180 | RFC 4180}
 */
export class CsvExporter {
  mayRewrite;
  #picker;
  #isFixed;
  #delimiter;
  #escapeFormulas;
  #isLatin1;
  #special;
  /** Names as the header has them. */
  #columns;
  /** Fields to columns. */
  #places = new Map();
  #segments = [];
  constructor(options = {}) {
    this.#picker = new FieldPicker(options.fields);
    this.#delimiter = options.delimiter ?? ',';
    this.#escapeFormulas = options.escapeFormulas ?? false;
    this.#isLatin1 = options.encoding === 'latin1';
    if (this.#delimiter.length !== 1 || '"\r\n'.includes(this.#delimiter)) {
      throw new UsageError(
        `The delimiter of a CSV feed must be one character, got ${JSON.stringify(this.#delimiter)}. Use "," or ";".`,
      );
    }
    this.#special = new RegExp(`["\\r\\n${this.#delimiter.replace(/[\]\\^-]/, '\\$&')}]`);
    const { columns } = this.#picker;
    this.#isFixed = columns !== undefined;
    this.mayRewrite = !this.#isFixed;
    this.#columns = (columns ?? []).map((name) => this.#text(name));
    for (const [place, name] of (columns ?? []).entries()) this.#places.set(name, place);
  }
  get leftOut() {
    return this.#picker.leftOut;
  }
  start() {
    return this.#isFixed ? this.#header() : '';
  }
  resume({ columns, segments }) {
    if (segments.length === 0) return this.start();
    if (this.#isFixed && !equalHeaders(columns, this.#columns)) {
      throw new UsageError(
        `The file has the columns ${columns.join(', ')}, the feed writes ${this.#columns.join(', ')}. Replace it with -O (overwrite: true), or write to another file.`,
      );
    }
    this.#columns = [...columns];
    this.#segments.push(...segments.map((segment) => ({ ...segment })));
    return '';
  }
  item(item) {
    const fields = recordOf(this.#picker.pick(item));
    const cells = this.#columns.map(() => '');
    const fresh = new Map();
    for (const name in fields) {
      if (!Object.hasOwn(fields, name)) continue;
      const cell = this.#cell(fields[name]);
      const place = this.#places.get(name) ?? this.#find(name);
      if (place !== undefined) cells[place] = cell;
      else fresh.set(this.#text(name), cell);
    }
    // Nothing is remembered before the whole item is known to be good.
    let header = '';
    if (fresh.size > 0) {
      this.#columns.push(...fresh.keys());
      cells.push(...fresh.values());
      header = this.#header();
    }
    if (cells.length === 0) throw new TypeError('an item without fields has no row in a CSV file');
    this.#segments.at(-1).rows++;
    return header + rowOf(cells, this.#delimiter);
  }
  finish() {
    return '';
  }
  rewrite() {
    return this.#segments.length > 1
      ? padCsv(this.#columns, this.#segments, this.#delimiter, this.#isLatin1 ? 'latin1' : 'utf-8')
      : undefined;
  }
  #header() {
    this.#segments.push({ width: this.#columns.length, rows: 0 });
    return rowOf(
      this.#columns.map((name) => this.#quote(name)),
      this.#delimiter,
    );
  }
  #find(name) {
    const place = this.#columns.indexOf(this.#text(name));
    if (place === -1) return undefined;
    this.#places.set(name, place);
    return place;
  }
  #cell(value) {
    if (typeof value === 'string') return this.#quote(this.#text(value));
    if (value === undefined || value === null) return '';
    if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint') {
      return String(value);
    }
    const json = jsonOf(value);
    // A date, a URL: an object whose JSON is text.
    return this.#quote(this.#text(json.startsWith('"') ? String(JSON.parse(json)) : json));
  }
  #text(value) {
    if (this.#isLatin1 && /[\u0100-\uffff]/.test(value))
      throw new TypeError(`latin1 cannot hold ${JSON.stringify(value)}; use the encoding utf-8`);
    return this.#escapeFormulas && isFormula(value) ? `'${value}` : value;
  }
  #quote(text) {
    return this.#special.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  }
}
function rowOf(cells, delimiter) {
  // A lone empty cell would be a blank line, which readers skip.
  return `${cells.length === 1 && cells[0] === '' ? '""' : cells.join(delimiter)}\n`;
}
/**
 * True where a spreadsheet would take the text for a formula; a plain negative number is none.
 *
 * @see {@link https://owasp.org/www-community/attacks/CSV_Injection | OWASP: CSV injection}
 */
function isFormula(text) {
  return (
    /^(?:[\t\r\n]|[\s\p{Cc}\ufeff]*[=+\-@\uff1d\uff0b\uff0d\uff20])/u.test(text) &&
    !/^-\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(text)
  );
}
//# sourceMappingURL=csv.js.map
