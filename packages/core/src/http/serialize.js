import { UsageError } from '../errors.js';
import { Request } from './request.js';
/** The request as JSON text. Its callbacks are method names by now. */
export function serializeRequest(request) {
  const { callback, errback, body } = request;
  const hasMeta = Object.keys(request.meta).length > 0;
  const stored = {
    u: request.url,
    ...(request.method !== 'GET' && { m: request.method }),
    ...(request.hasHeaders && { h: request.headers.toJSON() }),
    ...(body && { b: Buffer.from(body.buffer, body.byteOffset, body.length).toString('base64') }),
    ...(request.cookies && { c: request.cookies }),
    ...(hasMeta && { t: request.meta }),
    ...(request.cbKwargs && { k: request.cbKwargs }),
    ...(request.priority !== 0 && { p: request.priority }),
    ...(request.dontFilter && { d: 1 }),
    ...(request.notBefore !== undefined && { n: request.notBefore }),
    ...(request.flags && { f: request.flags }),
    ...(callback !== undefined && { cb: methodName(callback) }),
    ...(errback !== undefined && { eb: methodName(errback) }),
  };
  return JSON.stringify(stored);
}
/**
 * The request that `serializeRequest` wrote.
 *
 * @throws UsageError when the text is no request: someone else wrote into the queue.
 */
export function deserializeRequest(text) {
  let stored;
  try {
    stored = JSON.parse(text);
  } catch (cause) {
    throw new UsageError('A queue entry is not JSON.', { cause });
  }
  if (typeof stored !== 'object' || stored === null || typeof stored.u !== 'string') {
    throw new UsageError('A queue entry is not a request.');
  }
  const text_ = (value) => (typeof value === 'string' ? value : undefined);
  const options = {
    method: text_(stored.m),
    headers: stored.h,
    body: stored.b === undefined ? undefined : Buffer.from(String(stored.b), 'base64'),
    cookies: stored.c,
    meta: plainObject(stored.t),
    cbKwargs: plainObject(stored.k),
    priority: typeof stored.p === 'number' ? stored.p : 0,
    dontFilter: stored.d === 1,
    notBefore: typeof stored.n === 'number' ? stored.n : undefined,
    flags: Array.isArray(stored.f) ? stored.f : undefined,
    callback: text_(stored.cb),
    errback: text_(stored.eb),
  };
  return new Request(stored.u, options);
}
function plainObject(value) {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  // JSON.parse makes `__proto__` an own key; spreading keeps it from ever being a prototype.
  const { ['__proto__']: _, ...rest } = value;
  return rest;
}
function methodName(ref) {
  return typeof ref === 'function' ? ref.name : String(ref);
}
//# sourceMappingURL=serialize.js.map
