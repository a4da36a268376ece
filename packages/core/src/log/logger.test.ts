import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { createLogger, type LogOptions, oneLine, redactText } from './logger.ts';

function lines(options: LogOptions = {}) {
  const written: string[] = [];
  const logger = createLogger({
    ...options,
    destination: { write: (line) => void written.push(line) },
  });
  return { logger, written };
}

test('a text line has time, spider, level and message', () => {
  const { logger, written } = lines();
  logger.child({ spider: 'quotes' }).info('Spider opened');
  expect(written).toEqual([
    expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \[quotes\] INFO: Spider opened\n$/),
  ]);
});

test('JSON lines carry level, spider and fields', () => {
  const { logger, written } = lines({ format: 'json' });
  logger.child({ spider: 'quotes' }).warn('slow', { url: 'http://h.test/' });
  expect(JSON.parse(written[0]!)).toMatchObject({
    level: 'WARNING',
    spider: 'quotes',
    msg: 'slow',
    url: 'http://h.test/',
  });
});

test('records below the level are neither written nor counted', () => {
  const { logger, written } = lines({ level: 'WARNING' });
  const counted: string[] = [];
  const child = logger.child({ spider: 'a' });
  child.onRecord = (level) => void counted.push(level);
  child.info('no');
  child.error('yes');
  expect([child.isEnabled('INFO'), child.isEnabled('ERROR')]).toEqual([false, true]);
  expect(counted).toEqual(['ERROR']);
  expect(written).toHaveLength(1);
});

test.each([
  ['a\nb', 'a\\nb'],
  ['a\r\nINFO: fake', 'a\\r\\nINFO: fake'],
  ['\u001b[31mred', '\\x1b[31mred'],
  ['left\u202eright', 'left\\u202eright'],
  ['line\u2028end', 'line\\u2028end'],
  ['naïve 網站', 'naïve 網站'],
])('%j is written as one harmless line', (text, shown) => {
  expect(oneLine(text)).toBe(shown);
  const { logger, written } = lines();
  logger.info(text);
  expect(written[0]!.split('\n')).toHaveLength(2);
  expect(written[0]).toContain(shown);
});

test.each([
  ['GET http://ann:secret@h.test/p', 'GET http://***@h.test/p'],
  ['http://h.test/?page=2&access_token=abc123&x=1', 'http://h.test/?page=2&access_token=***&x=1'],
  ['http://h.test/?api_key=abc#f', 'http://h.test/?api_key=***#f'],
  ['mail to a@b.test', 'mail to a@b.test'],
])('secrets in %j are not shown', (text, shown) => {
  expect(redactText(text)).toBe(shown);
});

test('the stack of an error is shown at debug level only', () => {
  const error = new TypeError('no price');
  const info = lines({ level: 'INFO' });
  info.logger.error('parse() failed', { error });
  expect(info.written[0]!.split('\n')).toHaveLength(2);
  const debug = lines({ level: 'DEBUG' });
  debug.logger.error('parse() failed', { error });
  expect(debug.written[0]).toContain('logger.test.ts');
});

test('a file is added to or replaced', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lycosa-log-'));
  const file = join(folder, 'crawl.log');
  for (const append of [true, true, false]) {
    const logger = createLogger({ file, append });
    logger.info('once');
    await logger.close();
    expect(readFileSync(file, 'utf8').trim().split('\n').length).toBeGreaterThan(0);
  }
  expect(readFileSync(file, 'utf8').trim().split('\n')).toHaveLength(1);
  rmSync(folder, { recursive: true });
});
