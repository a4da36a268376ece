import { isUtf8 } from 'node:buffer';

import {
  HtmlResponse,
  Request,
  type RequestMeta,
  Response,
  TextResponse,
  XmlResponse,
} from 'lycosa';

/** JSON of a vector file; each judge knows the shape of its own. */
// oxlint-disable-next-line typescript/no-explicit-any -- the shapes are in the files
export type Data = any;

/**
 * What became of a case: true where ours agrees; false or what came instead where it does not; `'not built'` where there
 * is nothing of ours to ask; why we differ on purpose, which is free where the file itself lets one differ.
 */
export type Verdict =
  | boolean
  | 'not built'
  | { readonly differs: string; readonly isFree?: boolean }
  | { readonly got: unknown };

/** Judges one case. */
export type Judge = (one: Data) => Verdict | Promise<Verdict>;

/** Agrees if both are the same JSON. */
export function same(got: unknown, expected: unknown): Verdict {
  return JSON.stringify(got) === JSON.stringify(expected) || { got };
}

export function bytesOf(value: Data): Buffer {
  if (typeof value === 'string') return Buffer.from(value);
  return value.$ascii === undefined
    ? Buffer.from(value.$bytes as string, 'base64')
    : Buffer.from(value.$ascii as string);
}

export function textOf(value: Data): string {
  return typeof value === 'string' ? value : bytesOf(value).toString();
}

/** A URL given as text, as bytes (escaped one by one where they are no UTF-8) or as its parts. */
export function urlOf(value: Data): string {
  if (typeof value === 'object' && 'scheme' in value) {
    const { scheme, netloc, path, params, query, fragment } = value as Record<string, string>;
    return `${scheme}://${netloc}${path}${params && `;${params}`}${query && `?${query}`}${fragment && `#${fragment}`}`;
  }
  if (typeof value === 'string') return value;
  const bytes = bytesOf(value);
  if (isUtf8(bytes)) return bytes.toString();
  return bytes
    .toString('latin1')
    .replace(/[\x80-\xff]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
}

export function camelCase(name: string): string {
  return name.replace(/^_/, '').replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

export function requestOf({ $request: given }: Data): Request {
  const meta = Object.entries((given.meta ?? {}) as RequestMeta).map(([name, value]) => [
    camelCase(name),
    value,
  ]);
  return new Request(given.url, {
    method: given.method,
    headers: given.headers,
    ...(given.body !== undefined && { body: bytesOf(given.body) }),
    ...(given.cookies !== undefined && { cookies: cookiesOf(given.cookies) }),
    meta: Object.fromEntries(meta) as RequestMeta,
    priority: given.priority,
    dontFilter: given.dont_filter,
  });
}

function cookiesOf(given: Data): Data {
  if (Array.isArray(given)) return given;
  const pairs = (given.$pairs ?? Object.entries(given)) as [Data, Data][];
  return Object.fromEntries(pairs.map(([name, value]) => [textOf(name), cookieValue(value)]));
}

/** Ours takes text only; Python's words for what is none, and its Latin-1 for bytes that are no UTF-8. */
function cookieValue(value: Data): string {
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'number') return String(value);
  if (typeof value === 'object' && !isUtf8(bytesOf(value)))
    return bytesOf(value).toString('latin1');
  return textOf(value);
}

/** Header text is the bytes of the wire, one character each. */
function headerText(value: Data): string {
  return typeof value === 'string' ? value : bytesOf(value).toString('latin1');
}

const classes: Readonly<Record<string, typeof Response>> = {
  Response,
  HtmlResponse,
  XmlResponse,
  TextResponse,
};

export function responseOf({ $response: given }: Data, request?: Request): Response {
  const Class = classes[given.type as string] ?? TextResponse;
  const headers = Object.entries((given.headers ?? {}) as Record<string, Data>).map(
    ([name, value]) => [
      name.toLowerCase(),
      (Array.isArray(value) ? value : [value]).map(headerText),
    ],
  );
  return new Class(given.url, {
    status: given.status,
    wireHeaders: Object.fromEntries(headers) as Record<string, string[]>,
    ...(given.body !== undefined && { body: bytesOf(given.body) }),
    ...(request && { request }),
  });
}
