import { expect, test } from 'vitest';

import { DropItem } from '../errors.ts';
import { Request } from '../http/request.ts';
import { Response } from '../http/response.ts';
import { LogFormatter, type LogRecord } from './log-formatter.ts';
import { createLogger } from './logger.ts';

class Quote {
  readonly text = 'To be or not to be';
}

const formatter = new LogFormatter();
const request = new Request('http://ann:pw@h.test/p', { headers: { Referer: 'http://h.test/' } });
const response = new Response('http://h.test/p', { status: 404, flags: ['cached'], request });

test('a crawled line has status, request, referer and flags, and no password', () => {
  expect(formatter.crawled(request, response)?.message).toBe(
    'Crawled (404) <GET http://***@h.test/p> (referer: http://h.test/) [cached]',
  );
});

test('an item is named by its class, and its content is not shown', () => {
  expect(formatter.scraped(new Quote(), response)?.message).toBe(
    'Scraped a Quote from <404 http://h.test/p>',
  );
  expect(formatter.scraped({ secret: 1 }, null)?.message).toBe('Scraped an item from start()');
});

test('a dropped item is told at the level that DropItem carries, else at the given one', () => {
  const drop = new DropItem('no price');
  expect(formatter.dropped({}, drop, null, 'INFO')).toEqual({
    level: 'INFO',
    message: 'Dropped an item from start(): no price',
  });
  expect(formatter.dropped({}, new DropItem('old', 'DEBUG'), null)?.level).toBe('DEBUG');
});

test('an error of a spider names the callback and the line where it was thrown', () => {
  const error = new TypeError('price is not defined');
  error.stack = `TypeError: price is not defined\n    at Shop.parse (file:///project/spiders/shop.ts:12:7)`;
  const named = new Request('http://h.test/', { callback: 'parseBook' });
  expect(formatter.spiderError(error, named, response)).toMatchObject({
    level: 'ERROR',
    message:
      'parseBook() failed on <GET http://h.test/>: TypeError: price is not defined (/project/spiders/shop.ts:12)',
    fields: { error, status: 404 },
  });
  expect(formatter.spiderError(error, null, null)?.message).toMatch(/^start\(\) failed: TypeError/);
});

test('errors of pipelines and downloads carry their error', () => {
  const error = new Error('disk full');
  expect(formatter.itemError({}, error, null)).toMatchObject({
    level: 'ERROR',
    message: 'A pipeline failed on an item from start(): Error: disk full',
    fields: { error },
  });
  expect(formatter.downloadError(error, request)).toMatchObject({ fields: { error } });
});

test('a formatter that returns null silences the record', () => {
  class Quiet extends LogFormatter {
    override scraped(): LogRecord | null {
      return null;
    }
  }
  const written: string[] = [];
  const log = createLogger({
    level: 'DEBUG',
    destination: { write: (line) => void written.push(line) },
  });
  const quiet = new Quiet();
  quiet.log(log, quiet.scraped());
  expect(written).toEqual([]);
  quiet.log(log, quiet.crawled(request, response));
  expect(written).toHaveLength(1);
});
