/* oxlint-disable typescript/no-explicit-any -- the vectors have many shapes */
import { existsSync, readFileSync } from 'node:fs';

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { fakeCrawler } from '../../../../../test/fake-crawler.ts';
import { Request } from '../../http/request.ts';
import { Response } from '../../http/response.ts';
import { HttpCacheMiddleware } from '../middlewares/http-cache.ts';
import { RfcPolicy } from './rfc-policy.ts';
import type { HttpCacheEntry } from './storage.ts';

const file = new URL(
  '../../../../../../shared/reference/vectors/http_cache_rfc9111.json',
  import.meta.url,
);
const all: any[] = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).cases : [];
/** s-maxage is for caches that many share; this one belongs to a crawl. */
const excepted = new Set(['freshness-s-maxage-shared']);
const cases = all.filter(
  ({ id, kind = 'required' }) => kind === 'required' && !excepted.has(id as string),
);

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2024, 4, 6, 12) }));
afterEach(() => void vi.useRealTimers());

const dated = /^(?:date|expires|last-modified|if-modified-since|if-unmodified-since)$/i;

function headersOf(pairs: any[] = []): [string, string][] {
  return pairs.map(([name, value]) => [
    name,
    typeof value === 'number' && dated.test(name)
      ? new Date(Date.now() + value * 1000).toUTCString()
      : String(value),
  ]);
}

/** Where each response came from: `cached`, `not_cached` or `validated`. */
async function play({ requests }: any): Promise<{ got: string; wanted: string }[]> {
  const { crawler } = fakeCrawler();
  const kept = new Map<string, HttpCacheEntry>();
  const cache = new HttpCacheMiddleware(crawler, new RfcPolicy(crawler.settings), {
    retrieve: (key) => kept.get(key),
    store: (key, entry) => void kept.set(key, entry),
    remove: (key) => void kept.delete(key),
  });
  const played: { got: string; wanted: string }[] = [];
  for (const step of requests) {
    const url = `http://h.test/x${step.query_arg ? `?${step.query_arg}` : ''}`;
    const request = new Request(url, {
      method: step.request_method,
      headers: headersOf(step.request_headers),
      body: step.request_body,
    });
    let got = 'cached';
    if ((await cache.processRequest(request)) === undefined) {
      const asks = request.headers.has('if-none-match') || request.headers.has('if-modified-since');
      const isValidated = asks && /validated/.test(step.expected_type ?? '');
      got = isValidated ? 'validated' : 'not_cached';
      const status = isValidated ? 304 : (step.response_status?.[0] ?? 200);
      const headers = [...headersOf(step.response_headers)];
      if (!headers.some(([name]) => /^date$/i.test(name)))
        headers.push(['Date', new Date().toUTCString()]);
      await cache.processResponse(request, new Response(url, { status, headers, request }));
    }
    const wanted = step.expected_type?.replace(/^.*validated$/, 'validated');
    if (wanted) played.push({ got, wanted });
    if (step.pause_after) vi.setSystemTime(Date.now() + 3000);
  }
  return played;
}

describe.skipIf(cases.length === 0)('vectors of RFC 9111', () => {
  it.each(cases)('$id $name', async (vector) => {
    const played = await play(vector);
    expect(played.map(({ got }) => got)).toEqual(played.map(({ wanted }) => wanted));
  });
});
