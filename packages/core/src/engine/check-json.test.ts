import { expect, test } from 'vitest';

import { UsageError } from '../errors.ts';
import { Request } from '../http/request.ts';
import { checkJson } from './check-json.ts';

const request = new Request('http://h.test/');
const circle: Record<string, unknown> = {};
circle.self = circle;

test.each([
  [{ a: 1, b: [true, null, 'x', { c: -0.5 }], d: undefined }],
  [Object.assign(Object.create(null) as object, { a: 1 })],
])('%j can be stored', (value) => {
  expect(() => checkJson(value, 'meta', request)).not.toThrow();
});

test.each([
  ['a function', () => 1],
  ['a bigint', 1n],
  ['a symbol', Symbol('x')],
  ['a Date', new Date()],
  ['a Map', new Map()],
  ['NaN', NaN],
  ['a class', new (class Price {})()],
  ['a circle', circle],
])('%s is refused, with its place', (_, value) => {
  expect(() => checkJson({ deep: [value] }, 'meta', request)).toThrow(UsageError);
  expect(() => checkJson({ deep: [value] }, 'meta', request)).toThrow(/^meta\.deep\.0/);
});
