import { expect, expectTypeOf, test } from 'vitest';

import { SettingsError } from '../errors.ts';
import { nearest } from './nearest.ts';
import { Settings, unknownSettings } from './settings.ts';

test('a setting has the type of its default', () => {
  const settings = new Settings();
  expectTypeOf(settings.get('DOWNLOAD_DELAY')).toBeNumber();
  expectTypeOf(settings.get('LOG_LEVEL')).toEqualTypeOf<
    'DEBUG' | 'INFO' | 'WARNING' | 'ERROR' | 'CRITICAL'
  >();
  expect(settings.get('CONCURRENT_REQUESTS')).toBe(16);
});

test('the higher priority wins, and of equals the later', () => {
  const settings = new Settings({ DOWNLOAD_DELAY: 1 });
  settings.set('DOWNLOAD_DELAY', 3, 'cmdline');
  settings.set('DOWNLOAD_DELAY', 2, 'spider');
  expect(settings.get('DOWNLOAD_DELAY')).toBe(3);
  settings.set('DOWNLOAD_DELAY', 4, 'cmdline');
  expect(settings.get('DOWNLOAD_DELAY')).toBe(4);
  expect(settings.getPriority('DOWNLOAD_DELAY')).toBe(40);
});

test.each([
  ['DOWNLOAD_DELAY', '0.5', 0.5],
  ['ROBOTSTXT_OBEY', 'false', false],
  ['ROBOTSTXT_OBEY', '1', true],
  ['RETRY_HTTP_CODES', '500, 502', [500, 502]],
  ['HTTPERROR_ALLOWED_CODES', '404', [404]],
  ['REDIRECT_SCHEMES', 'http,https', ['http', 'https']],
  ['FEEDS', '{"a.json":{"format":"json"}}', { 'a.json': { format: 'json' } }],
  ['LOG_LEVEL', 'debug', 'DEBUG'],
  ['RETRY_PRIORITY_ADJUST', '-5', -5],
])('the text of -s %s=%s becomes what the setting is', (name, text, value) => {
  const settings = new Settings();
  settings.set(name, text, 'cmdline');
  expect(settings.get(name)).toEqual(value);
});

test.each([
  ['DOWNLOAD_DELAY', 'fast', 'a number, got "fast"'],
  ['DOWNLOAD_DELAY', -1, 'a number ≥ 0, got -1'],
  ['DOWNLOAD_DELAY', '', 'a number'],
  ['ROBOTSTXT_OBEY', 'maybe', 'true or false'],
  ['LOG_LEVEL', 'LOUD', 'one of DEBUG'],
  ['FEEDS', 'out.json', 'JSON'],
  ['RETRY_HTTP_CODES', '500,often', 'numbers, got "500,often"'],
  ['RETRY_HTTP_CODES', 500, 'a list, got 500'],
  ['DOWNLOAD_DELAY_JITTER', 1.5, 'a share from 0 to 1'],
])('%s=%j is refused with the value and what to do', (name, value, message) => {
  expect(() => new Settings().set(name, value)).toThrow(SettingsError);
  expect(() => new Settings().set(name, value)).toThrow(message);
});

test('nothing can be set once the crawl has begun', () => {
  const settings = new Settings();
  settings.freeze();
  expect(() => settings.set('DOWNLOAD_DELAY', 1)).toThrow('the crawl has begun');
  expect(settings.copy().isFrozen).toBe(false);
});

test('names that look like mistyped settings are told with the one that was meant', () => {
  const settings = new Settings({ DOWNLOAD_DELY: 1, MY_OWN_THING: 2 });
  expect(unknownSettings(settings)).toEqual([{ name: 'DOWNLOAD_DELY', nearest: 'DOWNLOAD_DELAY' }]);
  expect(settings.get('MY_OWN_THING')).toBe(2);
});

test('a setting of your own may have the name of what every object has', () => {
  const settings = new Settings();
  settings.set('constructor', 'x', 'cmdline');
  expect(settings.get('constructor')).toBe('x');
});

test.each([
  ['qoutes', ['quotes', 'books'], 'quotes'],
  ['book', ['quotes', 'books'], 'books'],
  ['xyz', ['quotes', 'books'], undefined],
  ['CONCURENT_REQUESTS', ['CONCURRENT_REQUESTS', 'CONCURRENT_ITEMS'], 'CONCURRENT_REQUESTS'],
])('nearest to %s', (name, candidates, expected) => {
  expect(nearest(name, candidates)).toBe(expected);
});
