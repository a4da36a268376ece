import { expect, test } from 'vitest';

import { Response } from '../http/response.ts';
import { parseHttpDate, parseRetryAfter, retryAfterOf } from './retry-after.ts';

const now = Date.UTC(2026, 0, 5, 12, 0, 0);

test.each([
  ['120', 120],
  [' 7 ', 7],
  ['0', 0],
  ['Mon, 05 Jan 2026 12:01:00 GMT', 60],
  ['Monday, 05-Jan-26 12:01:00 GMT', 60],
  ['Mon Jan  5 12:01:00 2026', 60],
  ['Mon, 05 Jan 2026 11:00:00 GMT', 0],
])('%j asks for %d seconds', (value, seconds) => {
  expect(parseRetryAfter(value, now)).toBe(seconds);
});

test.each(['', 'soon', 'NaN', '-5', '1e3', '1.5', 'Tue, 31 Feb 2026 00:00:00 GMT'])(
  '%j says nothing',
  (value) => {
    expect(parseRetryAfter(value, now)).toBeUndefined();
  },
);

test('two-digit years far ahead lie in the past', () => {
  expect(parseHttpDate('Sunday, 06-Nov-94 08:49:37 GMT', now)).toBe(
    Date.UTC(1994, 10, 6, 8, 49, 37),
  );
});

test('the clock of the server decides, and only 429 and 503 are heard', () => {
  const headers = {
    'retry-after': 'Mon, 05 Jan 2026 15:00:05 GMT',
    date: 'Mon, 05 Jan 2026 15:00:00 GMT',
  };
  const asked = (status: number): number | undefined =>
    retryAfterOf(new Response('http://h.test/', { status, headers }), now);
  expect(asked(503)).toBe(5);
  expect(asked(429)).toBe(5);
  expect(asked(200)).toBeUndefined();
});
