import type { Headers } from './headers.ts';
import type { Json, Request, RequestCookies, RequestMeta } from './request.ts';

/** A request as a queue on disk or in Redis holds it. Short keys: millions of them are kept. */
export interface StoredRequest {
  readonly u: string;
  readonly m?: string;
  readonly h?: Record<string, string | string[]>;
  /** Base64. */
  readonly b?: string;
  readonly c?: RequestCookies;
  readonly t?: RequestMeta;
  readonly k?: Readonly<Record<string, Json>>;
  readonly p?: number;
  readonly d?: 1;
  readonly n?: number;
  readonly f?: readonly string[];
  readonly cb?: string;
  readonly eb?: string;
}

/**
 * The request as JSON text. Its callbacks are method names by now. A middleware may have put into the meta what is no
 * JSON; the request goes without it rather than not at all.
 */
export function serializeRequest(request: Request): string {
  try {
    return JSON.stringify(storedOf(request));
  } catch {
    const meta = Object.entries(request.meta).filter(([, value]) => isJson(value));
    return JSON.stringify(storedOf(request.replace({ meta: Object.fromEntries(meta) })));
  }
}

function isJson(value: unknown): boolean {
  try {
    return JSON.stringify(value) !== undefined;
  } catch {
    return false;
  }
}

function storedOf(request: Request): StoredRequest {
  const { callback, errback, body } = request;
  const hasMeta = Object.keys(request.meta).length > 0;
  return {
    u: request.url,
    ...(request.method !== 'GET' && { m: request.method }),
    ...(request.hasHeaders && { h: (request.headers satisfies Headers).toJSON() }),
    ...(body && { b: Buffer.from(body.buffer, body.byteOffset, body.length).toString('base64') }),
    ...(request.cookies && { c: request.cookies }),
    ...(hasMeta && { t: request.meta }),
    ...(request.cbKwargs && { k: request.cbKwargs }),
    ...(request.priority !== 0 && { p: request.priority }),
    ...(request.dontFilter && { d: 1 as const }),
    ...(request.notBefore !== undefined && { n: request.notBefore }),
    ...(request.flags && { f: request.flags }),
    ...(callback !== undefined && { cb: methodName(callback) }),
    ...(errback !== undefined && { eb: methodName(errback) }),
  };
}

function methodName(ref: unknown): string {
  return typeof ref === 'function' ? ref.name : String(ref);
}
