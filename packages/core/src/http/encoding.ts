// Charsets as the WHATWG Encoding Standard has them: https://encoding.spec.whatwg.org/
import { isAscii, isUtf8 } from 'node:buffer';
import { TextDecoder } from 'node:util';

const decoders = new Map<string, TextDecoder | null>();

function decoderOf(label: string): TextDecoder | null {
  let decoder = decoders.get(label);
  if (decoder === undefined) {
    try {
      decoder = new TextDecoder(label, { ignoreBOM: true });
    } catch {
      decoder = null;
    }
    // Pages choose the labels: the map does not grow with them.
    if (decoders.size < 300) decoders.set(label, decoder);
  }
  return decoder;
}

/** Charsets that let one read text as another: the standard knows their names and has no decoder for them. */
const replaced = /^(?:replacement|csiso2022kr|hz-gb-2312|iso-2022-(?:cn|cn-ext|kr))$/;

/** The standard's name of a charset label in lower case, or undefined for one it does not know. */
export function encodingOf(label: string | undefined): string | undefined {
  const text = label?.trim().toLowerCase();
  if (!text || text.length > 40) return undefined;
  return replaced.test(text) ? 'replacement' : decoderOf(text)?.encoding;
}

/** Parameters of a header value: name, then the value in double, single or no quotes. Linear in what a stranger sends. */
const parameter =
  /(?:^|[;,\s])([\w-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"(?=\s*(?:[;,]|$))|'([^']*)'|([^\s;,"']+))/g;

function inHeader(contentType: string): string | undefined {
  for (const [, name, double, single, bare] of contentType.matchAll(parameter)) {
    if (name!.toLowerCase() === 'charset') return encodingOf(double ?? single ?? bare);
  }
  return undefined;
}

/** Bytes in which a declaration is looked for: the standard asks for 1024, pages put it later. */
const declarationBytes = 4096;
const xmlEncoding = /^\s*<\?xml\b[^>]*?encoding\s*=\s*["']([^"']+)["']/i;
const commentBodyOrMeta = /<!--[^]*?(?:-->|$)|<body\b|<\s*meta[\s/]/gi;
const attribute = /[\s/]*([^\s/>=][^\s/>=]*)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"'][^\s>]*)))?/y;
const contentCharset = /charset\s*=\s*["']?\s*([^\s"';]+)/i;

function inPage(body: Buffer): string | undefined {
  const start = body.toString('latin1', 0, Math.min(body.length, declarationBytes));
  const found = encodingOf(xmlEncoding.exec(start)?.[1]) ?? inMeta(start);
  // A page that can be read as ASCII this far is not UTF-16, whatever it says.
  if (found?.startsWith('utf-16')) return 'utf-8';
  return found === 'x-user-defined' ? 'windows-1252' : found;
}

function inMeta(start: string): string | undefined {
  let from = 0;
  for (;;) {
    commentBodyOrMeta.lastIndex = from;
    const match = commentBodyOrMeta.exec(start);
    if (match === null || /^<body/i.test(match[0])) return undefined;
    from = commentBodyOrMeta.lastIndex;
    if (match[0].startsWith('<!--')) continue;
    const meta = attributesAt(start, from);
    const found = encodingOf(metaCharset(meta.attributes));
    if (found) return found;
    from = meta.end;
  }
}

/** The attributes of the tag that goes on at `from`; the first of a name counts. */
function attributesAt(
  page: string,
  from: number,
): { attributes: ReadonlyMap<string, string>; end: number } {
  const attributes = new Map<string, string>();
  let end = from;
  attribute.lastIndex = from;
  for (let match = attribute.exec(page); match !== null; match = attribute.exec(page)) {
    end = attribute.lastIndex;
    const name = match[1]!.toLowerCase();
    if (!attributes.has(name)) attributes.set(name, match[2] ?? match[3] ?? match[4] ?? '');
  }
  return { attributes, end };
}

/** What a meta tag says: `charset`, or `content` where it is about the content type. */
function metaCharset(attributes: ReadonlyMap<string, string>): string | undefined {
  const charset = attributes.get('charset');
  if (charset !== undefined) return charset;
  // Pages have it without its hyphens as well.
  const about = attributes.get('http-equiv') ?? attributes.get('httpequiv');
  if (about === undefined || !/content-?type/i.test(about)) return undefined;
  return contentCharset.exec(attributes.get('content') ?? '')?.[1];
}

function byteOrderMark(body: Buffer): string | undefined {
  if (body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf) return 'utf-8';
  if (body[0] === 0xfe && body[1] === 0xff) return 'utf-16be';
  if (body[0] === 0xff && body[1] === 0xfe) return 'utf-16le';
  return undefined;
}

/** The charset that the header or else the page says, if it is a known one. */
export function declaredEncoding(
  body: Buffer,
  contentType: string | undefined,
): string | undefined {
  return (contentType === undefined ? undefined : inHeader(contentType)) ?? inPage(body);
}

/**
 * The charset of a body: byte order mark, header, declaration in the page, valid UTF-8, else windows-1252. GBK is
 * called `gb18030`, which contains it and is what the standard decodes it with.
 */
export function detectEncoding(body: Buffer, contentType: string | undefined): string {
  const found = byteOrderMark(body) ?? declaredEncoding(body, contentType);
  if (found === undefined) return isUtf8(body) ? 'utf-8' : 'windows-1252';
  return found === 'gbk' ? 'gb18030' : found;
}

/** The text; bytes that mean nothing become U+FFFD, a byte order mark goes. Never throws. */
export function decode(body: Buffer, encoding: string): string {
  if (encoding === 'windows-1252') return windows1252(body);
  if (encoding === 'utf-8') return utf8(body);
  const decoder = decoderOf(encoding);
  if (decoder === null) return utf8(body);
  const text = decoder.decode(body);
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}

function utf8(body: Buffer): string {
  if (isAscii(body)) return body.toString('latin1');
  const start = body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? 3 : 0;
  // Node's own decoder is the fast one, but it is no judge of bad bytes.
  if (isUtf8(body)) return body.toString('utf8', start);
  return decoderOf('utf-8')!.decode(body.subarray(start));
}

// 80 to 9F; some versions of Node decode them as control characters.
const upper =
  '\u20ac\u0081\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\u008d\u017d\u008f' +
  '\u0090\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\u009d\u017e\u0178';

function windows1252(body: Buffer): string {
  const text = body.toString('latin1');
  if (isAscii(body)) return text;
  return text.replace(/[\x80-\x9f]/g, (char) => upper[char.charCodeAt(0) - 0x80]!);
}
