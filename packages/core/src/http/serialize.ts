import { UsageError } from '../errors.ts';
import { type Json, Request, type RequestMeta, type RequestOptions } from './request.ts';
import type { StoredRequest } from './stored-request.ts';

export { serializeRequest } from './stored-request.ts';

/** The request that `request.toDict()` made a plain object of. @throws UsageError when it is none. */
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
  if (!isPlainObject(stored) || typeof stored.u !== 'string') {
    throw new UsageError('A queue entry is not a request.');
  }
  // Each part has its type or is not there: what is half wrong was not written by a crawl.
  for (const [key, value] of Object.entries(stored)) {
    const fits = Object.hasOwn(parts, key) ? parts[key as keyof StoredRequest] : undefined;
    if (!fits?.(value))
      throw new UsageError(`The part ${key.slice(0, 20)} of a queue entry is of the wrong type.`);
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

const isText = (value: unknown): boolean => typeof value === 'string';
const isNumber = (value: unknown): boolean => typeof value === 'number' && Number.isFinite(value);
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText);

/** What each part of a stored request must be. */
const parts: Record<keyof StoredRequest, (value: unknown) => boolean> = {
  u: isText,
  m: isText,
  h: (value) =>
    isPlainObject(value) && Object.values(value).every((one) => isText(one) || isTexts(one)),
  b: isText,
  c: (value) => isPlainObject(value) || Array.isArray(value),
  t: isPlainObject,
  k: isPlainObject,
  p: isNumber,
  d: (value) => value === 1,
  n: isNumber,
  f: isTexts,
  cb: isText,
  eb: isText,
};

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function plainObject(value: unknown): Record<string, unknown> | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  // JSON.parse makes `__proto__` an own key; spreading keeps it from ever being a prototype.
  const { ['__proto__']: _, ...rest } = value as Record<string, unknown>;
  return rest;
}
