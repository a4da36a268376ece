import { startSite } from '@lycosa/site';
import {
  CrawlerProcess,
  createLogger,
  LinkExtractor,
  Request,
  type Response,
  Spider,
  type SpiderOutput,
} from 'lycosa';
import { expect, test } from 'vitest';

import { crawl, pageSpider, quick } from './scrape.ts';

const filled = (piece: string): string => piece.repeat(Math.ceil(300_000 / piece.length));
const numbered = (count: number, piece: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => piece(i)).join('');
const html = (body: string): object => ({ body, headers: { 'content-type': 'text/html' } });

/** Pages that are made to be slow: without limits some of this size take a minute. */
const shapes: Readonly<Record<string, string>> = {
  'div in div': filled('<div>'),
  'tables in cells': filled('<table><tr><td>'),
  'links around blocks': numbered(3000, (i) => `<a href="/${i}"><div>a few words about it`),
  'formatting around paragraphs': filled('<b><i><u><p>x'),
  'comments without end': filled('<!-- x '),
  attributes: `<p ${numbered(50_000, (i) => ` a${i}`)}>`,
  'character references': filled('&amp;&ampx&#0;'),
  'scripts without end': filled('<script></scrip'),
  'options in selects': filled('<select><option>'),
  'svg and math': filled('<svg><math><mi>'),
  templates: filled('<template>'),
  'end tags of nothing': '<b>'.repeat(10_000) + filled('</x>'),
  'items of a list': filled('<li>'),
};

test.each(Object.entries(shapes))('a page of %s is read and queried in time', async (_, page) => {
  await using site = await startSite({ '/': () => html(page) });
  const { items, result } = await crawl(
    pageSpider([site.url], (response) => ({
      has: response.css('div:has(h1)').length,
      inside: response.css('h1 div div p').length,
      beside: response.css('h1 ~ li').length,
      third: response.css('li:nth-child(3n)').length,
      text: response.selector.text().length,
      links: new LinkExtractor().extractLinks(response).length,
      html: response.selector.get().length,
    })),
    // A busy machine is no fault of the page; without its limits it would take minutes.
    { PARSE_TIMEOUT: 25 },
  );
  expect(items).toMatchObject([{ has: 0, inside: 0, beside: 0 }]);
  expect(result.stats['security/blocked/PARSE_TIMEOUT']).toBeUndefined();
});

test('links inside of links do not each hold the text of the page', async () => {
  const page = numbered(200, (i) => `<a href="/${i}">`) + filled('some text ');
  await using site = await startSite({ '/': () => html(page) });
  const { items } = await crawl(
    pageSpider([site.url], (response) => ({
      lengths: new LinkExtractor().extractLinks(response).map(({ text }) => text.length),
    })),
  );
  expect(items).toEqual([{ lengths: Array.from({ length: 200 }, () => 10_000) }]);
});

test('pages beyond the limits are counted, and told of once with the name of the setting', async () => {
  await using site = await startSite({
    '/deep1': () => html('<div>'.repeat(600)),
    '/deep2': () => html('<div>'.repeat(600)),
    '/large': () => html('<br>'.repeat(2000)),
    '/usual': () => html('<div>'.repeat(100)),
  });
  const urls = ['/deep1', '/deep2', '/large', '/usual'].map((path) => `${site.url}${path}`);
  const { result, log } = await crawl(
    pageSpider(urls, (response) => ({ count: response.css('*').length })),
    { HTML_MAX_NODES: 1000 },
  );
  expect(result.stats).toMatchObject({
    'security/blocked/HTML_MAX_DEPTH': 2,
    'security/blocked/HTML_MAX_NODES': 1,
  });
  const warnings = log.filter(({ level, msg }) => level === 'WARNING' && msg.includes('HTML_MAX'));
  expect(warnings).toHaveLength(2);
  const told = warnings.map(({ msg }) => msg).join();
  expect(told).toContain('HTML_MAX_DEPTH: 512');
  expect(told).toContain('HTML_MAX_NODES: 1000');
});

test('limits are off at 0', async () => {
  await using site = await startSite({ '/': () => html('<i>'.repeat(600) + '<br>'.repeat(2000)) });
  const { items, result } = await crawl(
    pageSpider([site.url], (response) => ({
      count: response.css('*').length,
      inner: response.css('i').at(-1)!.css('br').length,
    })),
    { HTML_MAX_NODES: 0, HTML_MAX_DEPTH: 0, PARSE_TIMEOUT: 0 },
  );
  expect(items).toEqual([{ count: 2600, inner: 2000 }]);
  expect(Object.keys(result.stats).filter((name) => name.startsWith('security/'))).toEqual([]);
});

test('a page that takes too long fails its own callback, and no other spider', async () => {
  await using site = await startSite({
    '/slow': () => html(filled('<div>')),
    '/page': () => html('<p>fine</p>'),
  });
  const seen: string[] = [];
  class Slow extends Spider {
    static override readonly name = 'slow';
    override *start(): SpiderOutput {
      yield new Request(`${site.url}/slow`);
      yield new Request(`${site.url}/page?slow`);
    }
    override *parse(response: Response): SpiderOutput {
      // The HTML of each of the elements that are inside one another: a gigabyte.
      yield { found: response.css('div').getAll().length };
      seen.push('slow');
    }
  }
  class Other extends Spider {
    static override readonly name = 'other';
    override readonly startUrls = Array.from({ length: 5 }, (_, i) => `${site.url}/page?${i}`);
    override parse(): void {
      seen.push('other');
    }
  }
  const logger = createLogger({ level: 'CRITICAL', destination: { write: () => {} } });
  await using crawls = new CrawlerProcess({ settings: { ...quick, PARSE_TIMEOUT: 0.1 }, logger });
  const [slow, other] = await Promise.all([crawls.crawl(Slow), crawls.crawl(Other)]);
  expect(slow.stats['security/blocked/PARSE_TIMEOUT']).toBeGreaterThan(0);
  expect(slow.stats).toMatchObject({
    'spider_exceptions/ParseTimeoutError': 1,
    'account/failed': 1,
    'account/done': 1,
  });
  expect(other.reason).toBe('finished');
  expect(seen.toSorted()).toEqual(['other', 'other', 'other', 'other', 'other', 'slow']);
});
