import { expect, test } from 'vitest';

import { InFlight } from './in-flight.ts';

test('what is under way is found until it is deleted, in any order', () => {
  const inFlight = new InFlight<string, number>();
  for (const [value, key] of ['a', 'b', 'c', 'd'].entries()) inFlight.add(key, value);
  expect(inFlight.delete('b')).toBe(true);
  expect(inFlight.delete('b')).toBe(false);
  expect(inFlight.get('b')).toBeUndefined();
  expect(Object.fromEntries(inFlight.entries())).toEqual({ a: 0, c: 2, d: 3 });
  expect(inFlight.delete('c')).toBe(true);
  expect(inFlight.keys().toSorted()).toEqual(['a', 'd']);
  expect(inFlight.size).toBe(2);
  inFlight.clear();
  expect(inFlight.size).toBe(0);
  expect(inFlight.get('a')).toBeUndefined();
});
