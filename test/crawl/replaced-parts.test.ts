import { startSite } from '@lycosa/site';
import { Downloader, type Request, type Response, type RobotsParser } from 'lycosa';
import { expect, test } from 'vitest';

import { crawl, pageSpider } from './scrape.ts';

test('ROBOTSTXT_PARSER reads robots.txt, and its delay is kept', async () => {
  class OwnParser implements RobotsParser {
    readonly #text: string;
    constructor(content: Uint8Array) {
      this.#text = String(content);
    }
    isAllowed(url: string, agent: string): boolean {
      return !url.endsWith(this.#text) && agent.startsWith('Lycosa');
    }
    crawlDelay(): number {
      return 0.05;
    }
  }
  await using site = await startSite({ '/robots.txt': '/no', '*': 'page' });
  const { items, result } = await crawl(pageSpider([`${site.url}/yes`, `${site.url}/no`]), {
    ROBOTSTXT_OBEY: true,
    ROBOTSTXT_PARSER: OwnParser,
  });
  expect(items).toEqual(
    expect.arrayContaining([
      { url: `${site.url}/yes`, status: 200, text: 'page' },
      { error: 'IgnoreRequest', message: 'Forbidden by robots.txt' },
    ]),
  );
  expect(result.stats['robotstxt/crawl_delay_count']).toBe(1);
});

test('a ROBOTSTXT_PARSER that throws fails the pages of that site, and no more', async () => {
  class Broken implements RobotsParser {
    constructor() {
      throw new Error('not a rule');
    }
    isAllowed(): boolean {
      return true;
    }
  }
  await using site = await startSite({ '/robots.txt': 'x', '*': 'page' });
  const settings = { ROBOTSTXT_OBEY: true, ROBOTSTXT_PARSER: Broken };
  const { items, result } = await crawl(pageSpider([`${site.url}/`]), settings);
  expect(items).toEqual([{ error: 'Error', message: 'not a rule' }]);
  expect(result.reason).toBe('finished');
});

test('DOWNLOADER sees each request on its way, redirects too', async () => {
  const seen: string[] = [];
  class OwnDownloader extends Downloader {
    override async fetch(request: Request): Promise<Request | Response> {
      seen.push(new URL(request.url).pathname);
      return super.fetch(request);
    }
  }
  await using site = await startSite({
    '/a': { status: 302, headers: { location: '/b' } },
    '/b': 'page',
  });
  const { items } = await crawl(pageSpider([`${site.url}/a`]), { DOWNLOADER: OwnDownloader });
  expect(items).toMatchObject([{ url: `${site.url}/b`, status: 200 }]);
  expect(seen).toEqual(['/a', '/b']);
});
