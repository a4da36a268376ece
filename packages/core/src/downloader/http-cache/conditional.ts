import type { Request } from '../../http/request.ts';
import { createResponse } from '../../http/response-types.ts';
import type { Response } from '../../http/response.ts';

/** Headers of a 304 that are those of the stored response (RFC 9110 §15.4.5). */
const kept = ['cache-control', 'content-location', 'date', 'etag', 'expires', 'vary'];

/** True for a request whose answer is for nobody else, and that no stored page answers. */
export function isPartial({
  hasHeaders,
  headers,
}: Pick<Request, 'hasHeaders' | 'headers'>): boolean {
  return (
    hasHeaders &&
    (headers.has('range') || headers.has('if-match') || headers.has('if-unmodified-since'))
  );
}

/** True for a request that wants the page only if it has changed. */
export function isConditional(request: Request): boolean {
  if (!request.hasHeaders) return false;
  const { headers } = request;
  return headers.has('if-none-match') || headers.has('if-modified-since');
}

/**
 * What a stored response answers to such a request: itself, or a 304.
 *
 * @see {@link https://www.rfc-editor.org/rfc/rfc9111#section-4.3.2 | RFC 9111 §4.3.2}
 */
export function answerConditional({ headers }: Request, stored: Response): Response {
  const tags = headers.getAll('if-none-match').join(',');
  const isKnown =
    tags === '' ? isUnmodified(headers.get('if-modified-since'), stored) : hasTag(tags, stored);
  if (!isKnown || stored.status !== 200) return stored;
  return createResponse(stored.url, {
    status: 304,
    headers: kept.flatMap((name) =>
      stored.headers.getAll(name).map((value) => [name, value] as const),
    ),
    flags: stored.flags,
    request: stored.request,
  });
}

/** Weak comparison: the body is the same for all it matters. */
function hasTag(tags: string, stored: Response): boolean {
  const own = stored.header('etag')?.replace(/^W\//, '');
  return (
    tags.trim() === '*' ||
    (own !== undefined && (tags.match(/"[^"]*"/g) as string[] | null)?.includes(own) === true)
  );
}

function isUnmodified(since: string | undefined, stored: Response): boolean {
  return Date.parse(stored.header('last-modified') ?? '') <= Date.parse(since ?? '');
}
