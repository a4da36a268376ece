import { expect, test } from 'vitest';

import { fakeCrawler } from '../../../../../test/fake-crawler.ts';
import { IgnoreRequest } from '../../errors.ts';
import { Request } from '../../http/request.ts';
import { OffsiteMiddleware } from './offsite.ts';

const passes = (middleware: OffsiteMiddleware, url: string, options = {}): boolean => {
  try {
    middleware.processRequest(new Request(url, options));
    return true;
  } catch (error) {
    expect(error).toBeInstanceOf(IgnoreRequest);
    expect((error as IgnoreRequest).dropCause).toBe('offsite');
    return false;
  }
};

test('a domain lets itself and what lies below it pass', () => {
  const { crawler, stats } = fakeCrawler({ spider: { allowedDomains: ['Example.com', 'b.test'] } });
  const middleware = OffsiteMiddleware.fromCrawler(crawler);
  expect(passes(middleware, 'http://example.com:8080/')).toBe(true);
  expect(passes(middleware, 'http://www.example.com/')).toBe(true);
  expect(passes(middleware, 'http://notexample.com/')).toBe(false);
  expect(passes(middleware, 'http://other.test/example.com')).toBe(false);
  expect(passes(middleware, 'http://other.test/2')).toBe(false);
  expect(passes(middleware, 'http://other.test/3', { dontFilter: true })).toBe(true);
  expect(passes(middleware, 'http://other.test/4', { meta: { allowOffsite: true } })).toBe(true);
  expect(stats.get('offsite/filtered')).toBe(3);
  expect(stats.get('offsite/domains')).toBe(2);
});

test('it also acts when a request is scheduled', () => {
  const { crawler, signals } = fakeCrawler({ spider: { allowedDomains: ['a.test'] } });
  OffsiteMiddleware.fromCrawler(crawler);
  const { spider } = crawler;
  const [outcome] = signals.send('request_scheduled', {
    request: new Request('http://b.test/'),
    spider,
  });
  expect(outcome).toBeInstanceOf(IgnoreRequest);
});

test('the list may change while the crawl runs', () => {
  const allowedDomains = ['a.test'];
  const { crawler } = fakeCrawler({ spider: { allowedDomains } });
  const middleware = OffsiteMiddleware.fromCrawler(crawler);
  expect(passes(middleware, 'http://b.test/')).toBe(false);
  allowedDomains.push('b.test');
  expect(passes(middleware, 'http://b.test/')).toBe(true);
  allowedDomains[0] = 'c.test';
  expect(passes(middleware, 'http://a.test/')).toBe(false);
});

test('an entry that is a URL is taken as its host, with one warning', () => {
  const { crawler, lines } = fakeCrawler({ spider: { allowedDomains: ['https://a.test:8443/x'] } });
  const middleware = OffsiteMiddleware.fromCrawler(crawler);
  expect(passes(middleware, 'http://a.test/')).toBe(true);
  expect(passes(middleware, 'http://b.test/')).toBe(false);
  const warnings = lines.filter((line) => line.includes('WARNING'));
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toContain('Write "a.test"');
});
