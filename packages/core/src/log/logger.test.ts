import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
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
  ['http://ann:p@ss@h.test/', 'http://***@h.test/'],
  ['Set-Cookie: sid=abc; Path=/', 'Set-Cookie: ***'],
  ['{"authorization":"Bearer abc","x":1}', '{"authorization":"***","x":1}'],
  ['{"cookie":{"sid":1}}', '{"cookie":{"sid":1}}'],
  ['mail to a@b.test', 'mail to a@b.test'],
])('secrets in %j are not shown', (text, shown) => {
  expect(redactText(text)).toBe(shown);
});

test('a JSON line stays JSON when something in it is hidden', () => {
  const { logger, written } = lines({ format: 'json' });
  logger.info('got "Cookie: a=\\"b\\"" and\nmore', { authorization: 'Basic "x"', after: 1 });
  expect(JSON.parse(written[0]!)).toMatchObject({ authorization: '***', after: 1 });
});

test.each(['a', 'a-', '?token', '&a', 'x:'])(
  'a long text of %j does not hold up the loop: with quadratic time this test times out',
  (part) => {
    const text = part.repeat(400_000 / part.length);
    expect(redactText(text)).toBe(text);
  },
);

test('records of a child count for its parent', () => {
  const { logger } = lines();
  const parent = logger.child({ spider: 'a' });
  const counted: string[] = [];
  parent.onRecord = (level) => void counted.push(level);
  parent.child({ page: 1 }).warn('odd');
  expect(counted).toEqual(['WARNING']);
});

test('a text line says what the error is, once', () => {
  const { logger, written } = lines();
  const error = new TypeError('no price');
  logger.error('The file could not be closed', { error });
  logger.error('parse() failed: no price', { error });
  expect(written.map((line) => line.trimEnd().slice(29))).toEqual(
    [
      'ERROR: The file could not be closed: TypeError: no price',
      'ERROR: parse() failed: no price',
    ].map((line) => expect.stringContaining(line)),
  );
});

test('text of strangers, where the reference vectors are at hand', (context) => {
  const path = new URL('../../../../../shared/reference/vectors/log_lines.json', import.meta.url);
  if (!existsSync(path)) context.skip('the reference vectors are absent');
  const { cases, count } = JSON.parse(readFileSync(path, 'utf8')) as {
    count: number;
    cases: { value: string; secret: string[] }[];
  };
  expect(cases).toHaveLength(count);
  for (const { value, secret } of cases) {
    const [text = '', json = ''] = (['text', 'json'] as const).map((format) => {
      const { logger, written } = lines({ format });
      logger.child({ spider: value }).error(value, { value, error: new Error(value) });
      return written.join('').replace(/\n$/, '');
    });
    expect(text).toBe(oneLine(text));
    expect(json).not.toContain('\n');
    expect(JSON.parse(json)).toMatchObject({ msg: redactText(value) });
    expect(secret.filter((hidden) => `${text}${json}`.includes(hidden))).toEqual([]);
  }
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
