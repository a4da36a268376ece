import { gzipSync } from 'node:zlib';

import { type Routes, startSite } from '@lycosa/site';
import {
  CrawlSpider,
  LinkExtractor,
  type Request,
  type Response,
  Rule,
  SitemapSpider,
  type SpiderClass,
  type SpiderOutput,
} from 'lycosa';
import { expect, test } from 'vitest';

import { crawl } from './scrape.ts';

/** Yields the paths of the pages it was led to. */
function sitemapSpider(urls: readonly string[], more: object = {}): SpiderClass {
  return class extends SitemapSpider {
    static override readonly name = 'maps';
    override readonly sitemapUrls = urls;
    constructor() {
      super();
      Object.assign(this, more);
    }
    override parse(response: Response): SpiderOutput {
      return { at: response.url.replace(/^.*?\/\/[^/]*/, '') };
    }
    other(response: Response): SpiderOutput {
      return { at: `other ${new URL(response.url).pathname}` };
    }
  };
}

const xml = (url: string): string =>
  `\uFEFF\n<?xml version="1.0"?><sm:urlset xmlns:sm="http://www.sitemaps.org/schemas/sitemap/0.9"><sm:url><sm:loc> ${url}/p?a=1&amp;b=2 </sm:loc></sm:url><sm:url><sm:loc><![CDATA[${url}/q]]></sm:loc></sm:url><sm:url><sm:loc>/rel</sm:loc></sm:url></sm:urlset>`;

async function mapSite(): ReturnType<typeof startSite> {
  let url = '';
  const index = (...paths: string[]): string =>
    `<sitemapindex>${paths.map((path) => `<sitemap><loc>${url}${path}</loc></sitemap>`).join('')}</sitemapindex>`;
  const type = { 'content-type': 'application/xml' };
  const routes: Routes = {
    '/sitemap.xml': () => ({ headers: { 'content-type': 'text/html' }, body: xml(url) }),
    '/s.xml': () => ({ headers: type, body: gzipSync(xml(url)) }),
    '/bomb.xml': () => ({ headers: type, body: gzipSync(Buffer.alloc(200_000, 'a')) }),
    '/index.xml': () => ({ headers: type, body: index('/index.xml', '/sitemap.xml') }),
    '/error.xml': '<!DOCTYPE html><html><p>Sorry</html>',
    '/robots.txt': () => ({ body: `User-agent: *\nsitemap: /s.xml\nSitemap: ${url}/t.txt` }),
    '/t.txt': () => ({ headers: { 'content-type': 'text/plain' }, body: `${url}/text` }),
    '/deep.xml': ({ url: path }) => ({
      headers: type,
      body: index(`/deep.xml?${Number(path.split('?')[1] ?? 0) + 1}`),
    }),
    '*': '<p>page',
  };
  const site = await startSite(routes);
  ({ url } = site);
  return site;
}

const places = (items: unknown[]): string[] =>
  items.map((item) => (item as { at: string }).at).toSorted();
const three = ['/p?a=1&b=2', '/q', '/rel'];

test.each(['/sitemap.xml', '/s.xml', '/index.xml'])(
  'the pages of %s are found once',
  async (path) => {
    await using site = await mapSite();
    const { items } = await crawl(sitemapSpider([site.url + path]));
    expect(places(items)).toEqual(three);
    expect(site.hits(path)).toBe(1);
  },
);

test('a page that is no sitemap is one warning', async () => {
  await using site = await mapSite();
  const { items, log, result } = await crawl(sitemapSpider([`${site.url}/error.xml`]));
  expect(items).toEqual([]);
  expect(log.filter(({ level }) => /warn/i.test(level)).length).toBe(1);
  expect(result.stats['finish_reason'] ?? 'finished').toBe('finished');
});

test('a robots.txt leads to its sitemaps, in XML or text', async () => {
  await using site = await mapSite();
  const { items } = await crawl(sitemapSpider([`${site.url}/robots.txt`]));
  expect(places(items)).toEqual([...three, '/text']);
});

test('a sitemap that unpacks to more than SITEMAP_MAX_SIZE is left out', async () => {
  await using site = await mapSite();
  const { items, log, result } = await crawl(sitemapSpider([`${site.url}/bomb.xml`]), {
    SITEMAP_MAX_SIZE: 100_000,
  });
  expect(result.stats['security/blocked/SITEMAP_MAX_SIZE']).toBe(1);
  expect(items).toEqual([]);
  expect(log.some(({ msg }) => msg.includes('SITEMAP_MAX_SIZE'))).toBe(true);
});

test('indexes are followed SITEMAP_MAX_DEPTH deep', async () => {
  await using site = await mapSite();
  const { result } = await crawl(sitemapSpider([`${site.url}/deep.xml`]), {
    SITEMAP_MAX_DEPTH: 3,
  });
  expect(result.stats['security/blocked/SITEMAP_MAX_DEPTH']).toBe(1);
  expect(site.hits('/deep.xml')).toBe(4);
});

test('the first rule that fits a page counts, and the filter chooses entries', async () => {
  await using site = await mapSite();
  const rules = {
    sitemapRules: [
      [/\/q$/, 'other'],
      ['rel', 'parse'],
    ],
  };
  const { items } = await crawl(sitemapSpider([`${site.url}/sitemap.xml`], rules));
  expect(places(items)).toEqual(['/rel', 'other /q']);
  const filter = { sitemapFilter: () => [] };
  expect((await crawl(sitemapSpider([`${site.url}/sitemap.xml`], filter))).items).toEqual([]);
});

test('a crawl spider follows links by rules, each link once and by the first rule that finds it', async () => {
  await using site = await startSite({
    '/': '<a href=/list/1>list one</a><a href=/item/0>zero</a><a href=/no>no</a>',
    '/list/1': '<a href=/list/2>two</a><a href=/item/1>one</a><a href=/item/1>again</a>',
    '/list/2': '<a href=/item/2>two</a><a href=/item/broken>broken</a>',
    '/item/1': '<a href=/list/3>not followed</a>',
    '*': '<p>',
    '/item/broken': { status: 404 },
  });
  class Shop extends CrawlSpider {
    static override readonly name = 'shop';
    override readonly startUrls = [`${site.url}/`];
    override readonly rules = [
      new Rule(new LinkExtractor({ allow: '/list/' })),
      new Rule(new LinkExtractor({ allow: '/item/' }), {
        callback: 'parseItem',
        errback: this.onError,
        cbKwargs: { kind: 'item' },
        processRequest: (request) => (request.url.endsWith('/0') ? null : request),
      }),
      new Rule(new LinkExtractor({ allow: '/(?:list|item)/' }), { callback: this.never }),
    ];
    override parseStartUrl(): SpiderOutput {
      return { at: 'start' };
    }
    async *parseItem(response: Response, args: { kind: string }): SpiderOutput {
      yield { at: `${args.kind} ${new URL(response.url).pathname} by ${response.meta.linkText}` };
    }
    onError({ request }: { request: Request }): SpiderOutput {
      return [{ at: `failed ${new URL(request.url).pathname}` }];
    }
    never(response: Response): SpiderOutput {
      return { at: `never ${new URL(response.url).pathname}` };
    }
  }
  const { items } = await crawl(Shop);
  expect(places(items)).toEqual([
    'failed /item/broken',
    'item /item/1 by one',
    'item /item/2 by two',
    'start',
  ]);
  expect([site.hits('/no'), site.hits('/list/3'), site.hits('/item/1')]).toEqual([0, 0, 1]);
});

test('a crawl spider with a parse() of its own is refused', () => {
  class Wrong extends CrawlSpider {
    static override readonly name = 'wrong';
    override async *parse(): AsyncGenerator<never, void, undefined> {}
  }
  expect(() => new Wrong()).toThrow(/parseItem/);
});
