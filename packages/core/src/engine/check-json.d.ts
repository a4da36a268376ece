import type { Request } from '../http/request.ts';
/**
 * Refuses what a queue on disk could not hold, whether or not there is one: switching persistence on changes nothing.
 *
 * @throws UsageError that names the place.
 */
export declare function checkJson(value: unknown, path: string, request: Request): void;
//# sourceMappingURL=check-json.d.ts.map
