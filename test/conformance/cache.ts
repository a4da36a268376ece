import { DownloadFailedError, Request, Response, Settings } from 'lycosa';

import { RfcPolicy } from '../../packages/core/src/downloader/http-cache/rfc-policy.ts';
import type { HttpCacheEntry } from '../../packages/core/src/downloader/http-cache/storage.ts';
import { HttpCacheMiddleware } from '../../packages/core/src/downloader/middlewares/http-cache.ts';
import { fakeCrawler } from '../fake-crawler.ts';
import { type Data, type Judge, requestOf, responseOf, same } from './vectors.ts';

const now = Date.UTC(2024, 4, 6, 12);

const privateCache =
  'The case is about caches that many share; this one belongs to a crawl, where s-maxage says nothing (RFC 9111 §5.2.2.10).';

export const cacheJudges: Readonly<Record<string, Judge>> = {
  async http_cache_rfc9111(script) {
    const played = await play(script);
    const verdict = same(
      played.map(({ got }) => got),
      played.map(({ wanted }) => wanted),
    );
    // What is not required is wished for, or only watched.
    if (verdict === true) return true;
    if ((script.kind ?? 'required') !== 'required')
      return {
        differs: `The RFC does not ask for it; the file calls it ${script.kind}.`,
        isFree: true,
      };
    return /\bshared\b/.test(script.name) ? { differs: privateCache } : verdict;
  },

  httpcache_rfc2616({ fn, args, returns }) {
    const settings = new Settings({
      HTTPCACHE_ALWAYS_STORE: args.always_store,
      HTTPCACHE_IGNORE_SCHEMES: args.ignore_schemes,
      HTTPCACHE_IGNORE_RESPONSE_CACHE_CONTROLS: args.ignore_response_cache_controls,
    });
    const policy = new RfcPolicy(settings, () => now);
    const messages = (args.in as Data[]).map(messageOf);
    const request = messages.find((one) => one instanceof Request)!;
    const [response, second] = messages.filter((one) => one instanceof Response);
    const cached = { response: response!, storedAt: now };
    switch (String(fn).slice(String(fn).indexOf('.') + 1)) {
      case 'should_cache_request':
        return same(policy.shouldCacheRequest(request), returns);
      case 'should_cache_response':
        return same(policy.shouldCacheResponse(response!), returns);
      case 'is_cached_response_fresh':
        return same(policy.isCachedResponseFresh(cached, request), returns);
      case 'is_cached_response_valid':
        return same(policy.isCachedResponseValid(cached, second!), returns);
      default:
        return 'not built';
    }
  },
};

/** With its dates, which are seconds from now. */
function messageOf(message: Data): Request | Response {
  const given = message.$request ?? message.$response;
  const headers = Object.entries((given.headers ?? {}) as Record<string, Data[]>).map(
    ([name, values]) => [
      name,
      values.map((value) => (typeof value === 'string' ? dated(value) : value)),
    ],
  );
  const dressed = { ...given, headers: Object.fromEntries(headers) as Data };
  return message.$request ? requestOf({ $request: dressed }) : responseOf({ $response: dressed });
}

function dated(value: string): string {
  const seconds = /^@([+-]\d+)$/.exec(value)?.[1];
  return seconds === undefined ? value : new Date(now + Number(seconds) * 1000).toUTCString();
}

const dateHeader = /^(?:date|expires|last-modified|if-modified-since|if-unmodified-since)$/i;

/** Plays a script of requests; where each response came from: `cached`, `not_cached` or `validated`. */
async function play({ requests }: Data): Promise<{ got: string; wanted: string }[]> {
  const realNow = Date.now;
  let clock = now;
  Date.now = () => clock;
  try {
    const { crawler } = fakeCrawler();
    const kept = new Map<string, HttpCacheEntry>();
    const cache = new HttpCacheMiddleware(crawler, new RfcPolicy(crawler.settings), {
      retrieve: (key) => kept.get(key),
      store: (key, entry) => void kept.set(key, entry),
      remove: (key) => void kept.delete(key),
    });
    const played: { got: string; wanted: string }[] = [];
    for (const step of requests as Data[]) {
      const request = new Request(`http://h.test/x${step.query_arg ? `?${step.query_arg}` : ''}`, {
        method: step.request_method,
        headers: pairsOf(step.request_headers, clock),
        body: step.request_body,
      });
      let got = 'cached';
      if ((await cache.processRequest(request)) !== undefined) {
        // Answered without the server.
      } else if (step.disconnect) {
        const answer = cache.processException(request, new DownloadFailedError('disconnected'));
        if (answer === undefined) got = 'not_cached';
      } else {
        const asks =
          request.headers.has('if-none-match') || request.headers.has('if-modified-since');
        const isValidated = asks && /validated/.test(step.expected_type ?? '');
        got = isValidated ? 'validated' : 'not_cached';
        const headers = pairsOf(step.response_headers, clock);
        if (!headers.some(([name]) => /^date$/i.test(name)))
          headers.push(['Date', new Date(clock).toUTCString()]);
        const status = isValidated ? 304 : (step.response_status?.[0] ?? 200);
        const response = new Response(request.url, { status, headers, request });
        const answer = await cache.processResponse(request, response);
        if (status >= 500 && answer.flags.includes('cached')) got = 'cached';
      }
      const wanted = step.expected_type?.replace(/^.*validated$/, 'validated') as
        | string
        | undefined;
      if (wanted) played.push({ got, wanted });
      if (step.pause_after) clock += 3000;
    }
    return played;
  } finally {
    Date.now = realNow;
  }
}

function pairsOf(
  pairs: [string, string | number][] | undefined,
  clock: number,
): [string, string][] {
  return (pairs ?? []).map(([name, value]) => [
    name,
    typeof value === 'number' && dateHeader.test(name)
      ? new Date(clock + value * 1000).toUTCString()
      : String(value),
  ]);
}
