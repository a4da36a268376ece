import { UsageError } from '../errors.js';
/**
 * Refuses what a queue on disk could not hold, whether or not there is one: switching persistence on changes nothing.
 *
 * @throws UsageError that names the place.
 */
export function checkJson(value, path, request) {
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
      const prototype = Object.getPrototypeOf(value);
      if (prototype === Object.prototype || prototype === null || Array.isArray(value)) {
        for (const key in value) checkJson(value[key], `${path}.${key}`, request);
        return;
      }
      break;
    }
    case 'bigint': {
      throw new Error('Not implemented yet: "bigint" case');
    }
    case 'function': {
      throw new Error('Not implemented yet: "function" case');
    }
    case 'symbol': {
      throw new Error('Not implemented yet: "symbol" case');
    }
    default:
  }
  const kind = typeof value === 'object' ? value.constructor?.name : typeof value;
  throw new UsageError(
    `${path} of ${request.toString()} holds a ${kind}, which is not JSON. Keep what cannot be stored on the spider, and its key in ${path.split('.')[0]}.`,
  );
}
//# sourceMappingURL=check-json.js.map
