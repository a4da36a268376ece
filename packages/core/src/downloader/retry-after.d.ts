import type { Response } from '../http/response.ts';
/**
 * How long a `Retry-After` header asks to wait.
 *
 * @param value - The header: seconds (`120`) or an HTTP date.
 * @param now - Milliseconds since the epoch, as from `Date.now()`.
 * @returns Seconds, never negative; `undefined` where the header is neither.
 * @see {@link https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3 | RFC 9110 §10.2.3}
 */
export declare function parseRetryAfter(value: string, now: number): number | undefined;
/**
 * Milliseconds since the epoch of an HTTP date in any of its three forms, or undefined.
 *
 * @param now - Decides the century of two-digit years: more than 50 years ahead means the past.
 */
export declare function parseHttpDate(value: string, now?: number): number | undefined;
/**
 * Seconds that a 429 or 503 asks to wait, by the clock of the server where it sends its `Date`. A moment
 * that has passed says nothing. Undefined for other statuses and unreadable headers.
 */
export declare function retryAfterOf(response: Response, now?: number): number | undefined;
//# sourceMappingURL=retry-after.d.ts.map
