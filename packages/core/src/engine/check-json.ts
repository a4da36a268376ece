import { UsageError } from '../errors.ts';
import type { Request } from '../http/request.ts';

/** Levels of objects in objects. */
const deepest = 50;

/**
 * Refuses what a queue on disk could not hold, whether or not there is one: switching persistence on changes nothing.
 *
 * @throws UsageError that names the place.
 */
export function checkJson(value: unknown, path: string, request: Request, depth = 0): void {
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
          checkJson((value as Record<string, unknown>)[key], `${path}.${key}`, request, depth + 1);
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
