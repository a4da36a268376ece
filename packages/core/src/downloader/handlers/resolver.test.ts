import type { LookupAddress } from 'node:dns';

import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { Resolver } from './resolver.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const address: LookupAddress = { address: '93.184.215.14', family: 4 };

function ask(resolver: Resolver, host: string): Promise<string> {
  return new Promise((resolve) => {
    resolver.resolve(host, (error, found) => {
      resolve(error ? ((error as NodeJS.ErrnoException).code ?? 'error') : found[0]!.address);
    });
    void vi.advanceTimersByTimeAsync(0);
  });
}

test('a name is asked for once at a time, and again when its answer is old', async () => {
  const asked: string[] = [];
  const resolver = new Resolver(10, 1000, (host, answer) => {
    asked.push(host);
    queueMicrotask(() => answer(null, [address]));
  });
  expect(await Promise.all([ask(resolver, 'a'), ask(resolver, 'a')])).toEqual([
    '93.184.215.14',
    '93.184.215.14',
  ]);
  await ask(resolver, 'a');
  expect(asked).toEqual(['a']);
  vi.advanceTimersByTime(300_001);
  await ask(resolver, 'a');
  expect(asked).toEqual(['a', 'a']);
});

test('a failure is remembered for a few seconds', async () => {
  let count = 0;
  const resolver = new Resolver(10, 1000, (_, answer) => {
    count++;
    answer(Object.assign(new Error('no'), { code: 'ENOTFOUND' }), []);
  });
  expect([await ask(resolver, 'a'), await ask(resolver, 'a'), count]).toEqual([
    'ENOTFOUND',
    'ENOTFOUND',
    1,
  ]);
  vi.advanceTimersByTime(5001);
  await ask(resolver, 'a');
  expect(count).toBe(2);
});

test('no answer within DNS_TIMEOUT is a failure', async () => {
  const resolver = new Resolver(10, 1000, () => {});
  const answer = ask(resolver, 'a');
  await vi.advanceTimersByTimeAsync(1001);
  expect(await answer).toBe('EAI_AGAIN');
});

test('without a cache every name is asked for, and with one the oldest is forgotten', async () => {
  let count = 0;
  const system = (_: string, answer: (error: null, found: LookupAddress[]) => void): void => {
    count++;
    answer(null, [address]);
  };
  const none = new Resolver(0, 1000, system);
  await ask(none, 'a');
  await ask(none, 'a');
  expect(count).toBe(2);
  const two = new Resolver(2, 1000, system);
  for (const host of ['a', 'b', 'a', 'c', 'a', 'b']) await ask(two, host);
  expect(count).toBe(2 + 4);
});
