// Text to bytes in the charsets of the Encoding Standard, of which Node has only the way back.
import { TextDecoder } from 'node:util';

import { encodingOf } from './encoding.ts';

/** Byte sequences by their character. */
type Table = ReadonlyMap<string, readonly number[]>;

const tables = new Map<string, Table>();
const multiByte = /^(?:gbk|gb18030|big5|euc-jp|euc-kr|shift_jis)$/;

/**
 * `text` in a charset; undefined where the charset is not known, or is one that is only read (UTF-16 and the like).
 *
 * @param fallback - What stands for a character that the charset has not.
 */
export function encode(
  text: string,
  label: string,
  fallback: (char: string) => string | undefined,
): Buffer | undefined {
  const charset = encodingOf(label);
  if (charset === 'utf-8') return Buffer.from(text);
  if (charset === undefined || /^(?:utf-16|replacement|x-user-defined)/.test(charset))
    return undefined;
  if (charset === 'iso-2022-jp') return encodeIso2022(text, fallback);
  const table = tableOf(charset);
  const bytes: number[] = [];
  for (const char of text) {
    const found = bytesOf(table, char) ?? codesOf(table, fallback(char));
    if (found === undefined) return undefined;
    bytes.push(...found);
  }
  return Buffer.from(bytes);
}

function bytesOf(table: Table, char: string): readonly number[] | undefined {
  const code = char.codePointAt(0)!;
  return code < 0x80 ? [code] : table.get(char);
}

function codesOf(table: Table, text: string | undefined): number[] | undefined {
  if (text === undefined) return undefined;
  const bytes: number[] = [];
  for (const char of text) bytes.push(...(bytesOf(table, char) ?? [0x3f]));
  return bytes;
}

/** Made from what the decoder reads, when it is first asked for. */
function tableOf(charset: string): Table {
  let table = tables.get(charset);
  if (table === undefined) {
    table = multiByte.test(charset) ? pairs(charset) : singles(charset);
    tables.set(charset, table);
  }
  return table;
}

function singles(charset: string): Table {
  const decoder = new TextDecoder(charset);
  const table = new Map<string, readonly number[]>();
  for (let byte = 0x80; byte <= 0xff; byte++) add(table, decoder, [byte]);
  return table;
}

function pairs(charset: string): Table {
  const decoder = new TextDecoder(charset);
  const table = new Map<string, readonly number[]>();
  for (let byte = 0x80; byte <= 0xff; byte++) add(table, decoder, [byte]);
  // The standard's encoders do not write Big5's Hong Kong extension, and of two spellings the first.
  for (let lead = charset === 'big5' ? 0xa1 : 0x81; lead <= 0xfe; lead++)
    for (let trail = 0x30; trail <= 0xfe; trail++) add(table, decoder, [lead, trail]);
  return table;
}

function add(table: Map<string, readonly number[]>, decoder: TextDecoder, bytes: number[]): void {
  const text = decoder.decode(Uint8Array.from(bytes));
  // More than a character, or none: the bytes mean nothing together.
  const isOne = text.length === (text.codePointAt(0)! > 0xffff ? 2 : 1);
  if (isOne && text !== '\uFFFD' && text.codePointAt(0)! >= 0x80 && !table.has(text))
    table.set(text, bytes);
}

/** The characters of EUC-JP between escapes: https://encoding.spec.whatwg.org/#iso-2022-jp-encoder */
function encodeIso2022(
  text: string,
  fallback: (char: string) => string | undefined,
): Buffer | undefined {
  const table = tableOf('euc-jp');
  const bytes: number[] = [];
  let isJapanese = false;
  const put = (char: string): boolean => {
    const found = bytesOf(table, char);
    if (found === undefined || (found.length === 2 && found[0] === 0x8e)) return false;
    if ((found.length === 2) !== isJapanese) {
      isJapanese = !isJapanese;
      bytes.push(0x1b, ...(isJapanese ? [0x24, 0x42] : [0x28, 0x42]));
    }
    bytes.push(...found.map((byte) => byte & 0x7f));
    return true;
  };
  for (const char of text) {
    if (put(char)) continue;
    const instead = fallback(char);
    if (instead === undefined) return undefined;
    for (const one of instead) put(one);
  }
  if (isJapanese) bytes.push(0x1b, 0x28, 0x42);
  return Buffer.from(bytes);
}

/** Bytes as they stand in a URL; letters and digits are themselves. */
export function percentEncoded(bytes: Buffer): string {
  return bytes
    .toString('latin1')
    .replace(
      /[^\w.-]/g,
      (char) => `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
    );
}
