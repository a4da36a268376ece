import { UsageError } from '../errors.ts';
import type { Request } from '../http/request.ts';

/** Levels of objects in objects. */
const deepest = 50;

/**
 * Refuses what a queue on disk could not hold, whether or not there is one: switching persistence on changes nothing.
 *
 * @throws UsageError that names the place.
 */
export function checkJson(value: unknown, path: string, request: Request): void {
  if (!isJson(value, 0)) explain(value, path, request, 0);
}

/** The quick look, which nearly always is the only one. */
function isJson(value: unknown, depth: number): boolean {
  if (value === undefined || value === null) return true;
  const type = typeof value;
  if (type === 'string' || type === 'boolean') return true;
  if (type === 'number') return Number.isFinite(value);
  if (type !== 'object' || depth > deepest) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null && !Array.isArray(value)) return false;
  for (const key in value) {
    if (!isJson((value as Record<string, unknown>)[key], depth + 1)) return false;
  }
  return true;
}

/** Finds the place, and throws. */
function explain(value: unknown, path: string, request: Request, depth: number): void {
  if (depth > deepest)
    throw new UsageError(
      `${path.slice(0, 60)}… of ${request.toString()} goes too deep, or in a circle.`,
    );
  switch (typeof value) {
    case 'string':
    case 'boolean':
    case 'undefined':
      return;
    case 'number':
      if (Number.isFinite(value)) return;
      break;
    case 'object': {
      if (value === null) return;
      const prototype: unknown = Object.getPrototypeOf(value);
      if (prototype === Object.prototype || prototype === null || Array.isArray(value)) {
        for (const key in value)
          explain((value as Record<string, unknown>)[key], `${path}.${key}`, request, depth + 1);
        return;
      }
      break;
    }
    case 'bigint':
    case 'function':
    case 'symbol':
      break;
  }
  const kind = typeof value === 'object' ? (value as object).constructor?.name : typeof value;
  throw new UsageError(
    `${path} of ${request.toString()} holds a ${kind}, which is not JSON. Keep what cannot be stored on the spider, and its key in ${path.split('.')[0]}.`,
  );
}
