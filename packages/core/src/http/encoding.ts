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
    if (decoders.size < 100) decoders.set(label, decoder);
  }
  return decoder;
}

/** The standard's name of a charset label, or undefined for one it does not know. */
function encodingOf(label: string | undefined): string | undefined {
  const text = label?.trim().toLowerCase();
  if (!text || text.length > 40) return undefined;
  return decoderOf(text)?.encoding;
}

const headerCharset = /charset\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s;"']+))/i;
const metaTag = /<meta\b[^>]*>/gi;
const metaCharset = /charset\s*=\s*["']?\s*([^\s"'/>;]+)/i;
const xmlEncoding = /^\s*<\?xml\b[^>]*?encoding\s*=\s*["']([^"']+)["']/i;
/** Bytes in which a declaration is looked for: the standard asks for 1024, pages put it later. */
const declarationBytes = 4096;

function bom(body: Buffer): string | undefined {
  if (body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf) return 'utf-8';
  if (body[0] === 0xfe && body[1] === 0xff) return 'utf-16be';
  if (body[0] === 0xff && body[1] === 0xfe) return 'utf-16le';
  return undefined;
}

/** The charset that the header or the page says. */
export function declaredEncoding(
  body: Buffer,
  contentType: string | undefined,
): string | undefined {
  const header = contentType === undefined ? undefined : headerCharset.exec(contentType);
  return encodingOf(header?.[1] ?? header?.[2] ?? header?.[3]) ?? inPage(body);
}

function inPage(body: Buffer): string | undefined {
  const start = body.toString('latin1', 0, Math.min(body.length, declarationBytes));
  const xml = encodingOf(xmlEncoding.exec(start)?.[1]);
  // A page that can be read as ASCII this far is not UTF-16, whatever it says.
  if (xml) return xml.startsWith('utf-16') ? 'utf-8' : xml;
  for (const [tag] of start.matchAll(metaTag)) {
    const found = encodingOf(metaCharset.exec(tag)?.[1]);
    if (found) return found.startsWith('utf-16') ? 'utf-8' : found;
  }
  return undefined;
}

/** The charset of a body: byte order mark, header, declaration in the page, valid UTF-8, else windows-1252. */
export function detectEncoding(body: Buffer, contentType: string | undefined): string {
  return (
    bom(body) ?? declaredEncoding(body, contentType) ?? (isUtf8(body) ? 'utf-8' : 'windows-1252')
  );
}

/** The text; bytes that mean nothing become U+FFFD, a byte order mark goes. Never throws. */
export function decode(body: Buffer, encoding: string): string {
  if (encoding === 'windows-1252') return windows1252(body);
  if (encoding === 'utf-8') {
    if (isAscii(body)) return body.toString('latin1');
    const start = body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? 3 : 0;
    // Node's own decoder is the fast one, but it is no judge of bad bytes.
    if (isUtf8(body)) return body.toString('utf8', start);
    return (decoderOf('utf-8') as TextDecoder).decode(body.subarray(start));
  }
  const text = (decoderOf(encoding) ?? (decoderOf('utf-8') as TextDecoder)).decode(body);
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}

// 80 to 9F; some versions of Node decode them as control characters.
const upper =
  '\u20ac\u0081\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\u008d\u017d\u008f' +
  '\u0090\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\u009d\u017e\u0178';

function windows1252(body: Buffer): string {
  return body
    .toString('latin1')
    .replace(/[\x80-\x9f]/g, (char) => upper[char.charCodeAt(0) - 0x80]!);
}
