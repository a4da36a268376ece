import { UsageError } from '../errors.ts';
import type { Headers } from './headers.ts';
import {
  type Json,
  Request,
  type RequestCookies,
  type RequestMeta,
  type RequestOptions,
} from './request.ts';

/** A request as a queue on disk or in Redis holds it. Short keys: millions of them are kept. */
interface StoredRequest {
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

/** The request as JSON text. Its callbacks are method names by now. */
export function serializeRequest(request: Request): string {
  const { callback, errback, body } = request;
  const hasMeta = Object.keys(request.meta).length > 0;
  const stored: StoredRequest = {
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
  return JSON.stringify(stored);
}

/** The request as plain JSON, as queues keep it: for those who store requests themselves. */
export function requestToDict(request: Request): Record<string, Json> {
  return JSON.parse(serializeRequest(request)) as Record<string, Json>;
}

/** The request that `requestToDict` made a plain object of. @throws UsageError when it is none. */
export function requestFromDict(dict: Readonly<Record<string, Json>>): Request {
  return deserializeRequest(JSON.stringify(dict));
}

/**
 * The request that `serializeRequest` wrote.
 *
 * @throws UsageError when the text is no request: someone else wrote into the queue.
 */
export function deserializeRequest(text: string): Request {
  let stored: StoredRequest;
  try {
    stored = JSON.parse(text) as StoredRequest;
  } catch (cause) {
    throw new UsageError('A queue entry is not JSON.', { cause });
  }
  if (typeof stored !== 'object' || stored === null || typeof stored.u !== 'string') {
    throw new UsageError('A queue entry is not a request.');
  }
  for (const part of [stored.h, stored.c, stored.t, stored.k]) {
    if (part !== undefined && (typeof part !== 'object' || part === null))
      throw new UsageError('A part of a queue entry is of the wrong type.');
  }
  const text_ = (value: unknown): string | undefined =>
    typeof value === 'string' ? value : undefined;
  const options: RequestOptions = {
    method: text_(stored.m),
    headers: stored.h,
    body: stored.b === undefined ? undefined : Buffer.from(String(stored.b), 'base64'),
    cookies: stored.c,
    meta: plainObject(stored.t) as RequestMeta | undefined,
    cbKwargs: plainObject(stored.k) as Record<string, Json> | undefined,
    priority: typeof stored.p === 'number' ? stored.p : 0,
    dontFilter: stored.d === 1,
    notBefore: typeof stored.n === 'number' ? stored.n : undefined,
    flags: Array.isArray(stored.f) ? stored.f : undefined,
    callback: text_(stored.cb),
    errback: text_(stored.eb),
  };
  return new Request(stored.u, options);
}

function plainObject(value: unknown): Record<string, unknown> | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  // JSON.parse makes `__proto__` an own key; spreading keeps it from ever being a prototype.
  const { ['__proto__']: _, ...rest } = value as Record<string, unknown>;
  return rest;
}

function methodName(ref: unknown): string {
  return typeof ref === 'function' ? ref.name : String(ref);
}
