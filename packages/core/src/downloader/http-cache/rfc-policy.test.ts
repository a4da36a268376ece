/* oxlint-disable typescript/no-explicit-any -- the vectors have many shapes */
import { existsSync, readFileSync } from 'node:fs';

import { describe, expect, it, test } from 'vitest';

import { Request } from '../../http/request.ts';
import { Response } from '../../http/response.ts';
import { Settings, type SettingsInput } from '../../settings/settings.ts';
import { RfcPolicy } from './rfc-policy.ts';

const now = Date.UTC(2024, 4, 6, 12);
const policy = (settings: SettingsInput = {}): RfcPolicy =>
  new RfcPolicy(new Settings(settings), () => now);

test('a POST is never cached, nor a part of a page', () => {
  expect(policy().shouldCacheRequest(new Request('http://h.test/', { method: 'POST' }))).toBe(
    false,
  );
  const part = new Response('http://h.test/', {
    status: 206,
    headers: { 'cache-control': 'max-age=9' },
  });
  expect(policy().shouldCacheResponse(part)).toBe(false);
});

test('a year of two digits is never more than fifty years ahead', () => {
  const settings = new Settings();
  const now = Date.now();
  const isFresh = (years: number): boolean => {
    const date = new Date(now);
    date.setUTCFullYear(date.getUTCFullYear() + years);
    const year = String(date.getUTCFullYear() % 100).padStart(2, '0');
    const expires = date.toUTCString().replace(/^.*?, (\d\d) (\w+) \d{4}/, `Monday, $1-$2-${year}`);
    const response = new Response('http://h.test/', { status: 200, headers: { expires } });
    const cached = { response, storedAt: now };
    return new RfcPolicy(settings).isCachedResponseFresh(cached, new Request('http://h.test/'));
  };
  expect([1, 40, -1, 60].map(isFresh)).toEqual([true, true, false, false]);
});

test('a date that is none has expired', () => {
  const request = new Request('http://h.test/');
  for (const expires of ['0', '-1', 'Thu, 01 Jan 2099 00:00:00 CET', '2099-01-01']) {
    const response = new Response('http://h.test/', { headers: { expires } });
    expect(policy().isCachedResponseFresh({ response, storedAt: now }, request)).toBe(false);
  }
});

const file = new URL(
  '../../../../../../shared/reference/vectors/httpcache_rfc2616.json',
  import.meta.url,
);
const cases: any[] = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).cases : [];

/** RFC 9111 §4.2.4: what says no-cache must not stand in for a server that fails. */
const excepted = new Set(['httpcache_rfc2616-09845c32', 'httpcache_rfc2616-2a7d1bc2']);

function rendered(headers: Record<string, any[]> = {}): Record<string, string[]> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, values]) => [
      name,
      values.map((value) => {
        const offset = /^@([+-]\d+)$/.exec(value)?.[1];
        return offset === undefined ? value : new Date(now + Number(offset) * 1000).toUTCString();
      }),
    ]),
  );
}

function message(value: any): Request | Response {
  const { url, status, method, headers, meta } = value.$request ?? value.$response;
  return value.$request
    ? new Request(url, { method, headers: rendered(headers), meta })
    : new Response(url, { status, headers: rendered(headers) });
}

describe.skipIf(cases.length === 0)('vectors of the RFC policy', () => {
  it.each(cases)('$id $fn', ({ id, fn, args, returns }) => {
    const own = policy({
      HTTPCACHE_ALWAYS_STORE: args.always_store,
      HTTPCACHE_IGNORE_SCHEMES: args.ignore_schemes,
      HTTPCACHE_IGNORE_RESPONSE_CACHE_CONTROLS: args.ignore_response_cache_controls,
    });
    const parts = args.in.map(message);
    const request = parts.find((part: unknown) => part instanceof Request);
    const [response, second] = parts.filter((part: unknown) => part instanceof Response);
    const cached = { response, storedAt: now };
    const answers: Record<string, () => boolean> = {
      should_cache_request: () => own.shouldCacheRequest(request),
      should_cache_response: () => own.shouldCacheResponse(response),
      is_cached_response_fresh: () => own.isCachedResponseFresh(cached, request),
      is_cached_response_valid: () => own.isCachedResponseValid(cached, second),
    };
    expect(answers[fn.split('.')[1]]!()).toBe(excepted.has(id) ? !returns : returns);
  });
});
