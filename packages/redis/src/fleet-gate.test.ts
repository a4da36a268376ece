import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { ResourceGate } from './fleet-gate.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('too little memory, a late event loop and a drain keep further spiders out', () => {
  const gate = new ResourceGate(256, 1000);
  expect(gate.reason(300, 900, false)).toBeUndefined();
  expect(gate.reason(200, 900, false)).toBe('memory');
  expect(gate.reason(300, 1100, false)).toBe('lag');
  expect(gate.reason(300, 900, true)).toBe('drain');
  expect(new ResourceGate(0, 0).reason(1, 60_000, false)).toBeUndefined();
});

test('a machine on which many spiders one after the other cannot start rests, and tries again', () => {
  const gate = new ResourceGate(0, 0);
  const fail = (count: number): void => {
    for (let i = 0; i < count; i++) gate.ended(`s${i}`, false);
  };
  fail(19);
  // One spider that fails again and again is a fault of its own.
  for (let i = 0; i < 20; i++) gate.ended('s0', false);
  expect(gate.reason(1, 0, false)).toBeUndefined();
  gate.ended('good', true);
  fail(19);
  expect(gate.reason(1, 0, false)).toBeUndefined();
  fail(20);
  expect(gate.reason(1, 0, false)).toBe('failing');
  vi.advanceTimersByTime(31_000);
  expect(gate.reason(1, 0, false)).toBeUndefined();
});
