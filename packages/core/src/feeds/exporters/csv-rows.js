const QUOTE = 0x22;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
/**
 * Cuts CSV into records: a line end inside quotes is part of its record.
 *
 * @returns Batches of whole records with their line ends; what follows the last line end is left in `rest`.
 */
export class CsvRecords {
  rest = Buffer.alloc(0);
  /** True if `rest` ends inside quotes. */
  isQuoted = false;
  push(chunk) {
    const records = [];
    const fresh = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    const data = this.rest.length === 0 ? fresh : Buffer.concat([this.rest, fresh]);
    let from = 0;
    let at = this.rest.length;
    let quote = data.indexOf(QUOTE, at);
    let end = data.indexOf(LINE_FEED, at);
    while (end !== -1) {
      while (quote !== -1 && quote < end) {
        this.isQuoted = !this.isQuoted;
        quote = data.indexOf(QUOTE, quote + 1);
      }
      at = end + 1;
      if (!this.isQuoted) {
        records.push(data.subarray(from, at));
        from = at;
      }
      end = data.indexOf(LINE_FEED, at);
    }
    for (; quote !== -1; quote = data.indexOf(QUOTE, quote + 1)) this.isQuoted = !this.isQuoted;
    this.rest = data.subarray(from);
    return records;
  }
}
/** The cells of one record. */
export function parseCsvRecord(record, delimiter) {
  const text = record.replace(/^\ufeff/, '').replace(/\r?\n$/, '');
  const cells = [];
  for (let at = 0; at <= text.length;) {
    if (text[at] === '"') {
      const end = /(?:[^"]|"")*/y;
      end.lastIndex = at + 1;
      cells.push((end.exec(text)?.[0] ?? '').replaceAll('""', '"'));
      at = end.lastIndex + 1;
      const next = text.indexOf(delimiter, at);
      at = next === -1 ? text.length + 1 : next + 1;
    } else {
      const next = text.indexOf(delimiter, at);
      const end = next === -1 ? text.length : next;
      cells.push(text.slice(at, end));
      at = end + 1;
    }
  }
  return cells;
}
/** Whether two headers name the same columns in the same order. */
export function equalHeaders(one, other) {
  return one.length === other.length && one.every((name, place) => name === other[place]);
}
/** Leaves the last header alone, at the top, and gives every row its number of cells. */
export function padCsv(columns, segments, delimiter, encoding = 'utf-8') {
  const width = columns.length;
  return async function* pad(source) {
    const records = new CsvRecords();
    // Records until the next header.
    let left = 1;
    let segment = -1;
    yield Buffer.from(headerLine(columns, delimiter), encoding);
    for await (const chunk of source) {
      const out = [];
      for (const record of records.push(chunk)) {
        if (--left === 0) {
          segment++;
          left = segment === segments.length - 1 ? Infinity : segments[segment].rows + 1;
        } else {
          pushPadded(out, record, delimiter.repeat(width - segments[segment].width));
        }
      }
      if (out.length > 0) yield Buffer.concat(out);
    }
    if (records.rest.length > 0) yield records.rest;
  };
}
function pushPadded(out, record, padding) {
  if (padding === '') {
    out.push(record);
    return;
  }
  const lineEnd = record.at(-2) === CARRIAGE_RETURN ? 2 : 1;
  out.push(record.subarray(0, -lineEnd), Buffer.from(padding), record.subarray(-lineEnd));
}
function headerLine(columns, delimiter) {
  const cells = columns.map((name) =>
    /["\r\n]/.test(name) || name.includes(delimiter) ? `"${name.replaceAll('"', '""')}"` : name,
  );
  return `${cells.join(delimiter)}\n`;
}
//# sourceMappingURL=csv-rows.js.map
