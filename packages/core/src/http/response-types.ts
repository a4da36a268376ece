import { Response, type ResponseInit } from './response.ts';

/** Anything with text. */
export class TextResponse extends Response {
  override get isText(): boolean {
    return true;
  }
}

export class HtmlResponse extends TextResponse {}

export class XmlResponse extends TextResponse {
  override get isXml(): boolean {
    return true;
  }
}

export class JsonResponse extends TextResponse {}

type ResponseClass = typeof Response;

const html = /^(?:text\/html|application\/xhtml\+xml|application\/vnd\.wap\.xhtml\+xml)$/;
const xml = /^(?:text\/xml|application\/xml|application\/[\w.+-]+\+xml|text\/[\w.+-]+\+xml)$/;
const json =
  /^(?:application\/json|application\/x-json|application\/[\w.+-]+\+json|text\/json|application\/json-amazonui-streaming)$/;
const text = /^(?:text\/.*|application\/(?:javascript|x-javascript|ecmascript|x-ndjson|x-sh|sql))$/;

const byExtension: Readonly<Record<string, ResponseClass>> = {
  html: HtmlResponse,
  htm: HtmlResponse,
  xhtml: HtmlResponse,
  xml: XmlResponse,
  rss: XmlResponse,
  atom: XmlResponse,
  svg: XmlResponse,
  json: JsonResponse,
  jsonl: TextResponse,
  txt: TextResponse,
  csv: TextResponse,
  js: TextResponse,
  css: TextResponse,
  md: TextResponse,
};

/** By Content-Type, else the file name of Content-Disposition, else the extension of the URL, else the first bytes. */
function responseClass(response: Response): ResponseClass {
  const type = response.header('content-type')?.split(';', 1)[0]!.trim().toLowerCase();
  // A gzip body under an HTML label is what a missing Content-Encoding looks like; the bytes decide.
  if (type && type !== 'application/octet-stream' && type !== 'binary/octet-stream') {
    if (html.test(type)) return HtmlResponse;
    if (xml.test(type)) return XmlResponse;
    if (json.test(type)) return JsonResponse;
    if (text.test(type))
      return type === 'text/plain' ? sniffed(response.body, TextResponse) : TextResponse;
    if (type.includes('/')) return Response;
  }
  const disposition = response.header('content-disposition');
  const name =
    disposition && /filename\*?\s*=\s*(?:[\w-]*'[^']*')?"?([^";]+)/i.exec(disposition)?.[1];
  const found = extensionClass(name) ?? extensionClass(response.url.replace(/[?#].*$/, ''));
  return found ?? sniffed(response.body, undefined);
}

function extensionClass(path: string | undefined): ResponseClass | undefined {
  const extension = path === undefined ? undefined : /\.(\w+)$/.exec(path)?.[1]?.toLowerCase();
  return extension === undefined ? undefined : byExtension[extension];
}

/** What the first bytes look like; `fallback` where they look like text of no kind. */
function sniffed(body: Buffer, fallback: ResponseClass | undefined): ResponseClass {
  const start = body.toString('latin1', 0, Math.min(1024, body.length));
  // oxlint-disable-next-line no-control-regex
  if (fallback === undefined && /[\0-\x08\x0e-\x1a\x1c-\x1f]/.test(start)) return Response;
  if (/^(?:\xef\xbb\xbf)?\s*<\?xml/i.test(start)) return XmlResponse;
  if (/<(?:!doctype html|html|head|title|body)\b/i.test(start)) return HtmlResponse;
  if (fallback === undefined && /^\s*[[{]/.test(start)) return JsonResponse;
  return fallback ?? TextResponse;
}

/** A response of the class that fits its content. */
export function createResponse(url: string, init: ResponseInit = {}): Response {
  const plain = new Response(url, init);
  // What is in a file is not for selectors.
  if (plain.path !== undefined) return plain;
  const Class = responseClass(plain);
  return Class === Response ? plain : new Class(url, init);
}
