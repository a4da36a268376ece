// One crawler of the peers' benchmark: follows all links of the synthetic site, each page once, and writes one JSON
// line a page. Arguments: --url --out --concurrency --kind small|catalog|article --hosts --pages.
import { parseArgs } from 'node:util';

import { CrawlerProcess, type Response, type Selector, Spider, type SpiderOutput } from 'lycosa';

const { values } = parseArgs({
  options: {
    url: { type: 'string', default: '' },
    out: { type: 'string', default: 'out.jsonl' },
    concurrency: { type: 'string', default: '16' },
    kind: { type: 'string', default: 'small' },
    hosts: { type: 'string', default: '1' },
    pages: { type: 'string' },
    set: { type: 'string', multiple: true, default: [] },
  },
});
const { kind } = values;
const concurrency = Number(values.concurrency);

class BenchSpider extends Spider {
  static override readonly name = 'bench';
  override readonly startUrls = [values.url];
  override readonly allowedDomains = Array.from(
    { length: Number(values.hosts) },
    (_, h) => `127.0.0.${h + 1}`,
  );

  override *parse(response: Response): SpiderOutput {
    yield { url: response.url, title: response.css('title::text').get(), ...fields(response) };
    yield* response.followAll('a[href]');
  }
}

function fields(response: Response): object {
  if (kind === 'small')
    return { h1: response.css('h1::text').get(), links: response.css('a[href]').length };
  if (kind === 'article') {
    return {
      h1: response.css('h1.headline::text').get(),
      author: response.css('.byline .author::text').get(),
      date: response.css('time::attr(datetime)').get(),
      description: response.css('meta[name=description]::attr(content)').get(),
      tags: response.css('ul.tags a::text').getAll(),
      text: response
        .css('.body p')
        .map((paragraph) => paragraph.text())
        .join('\n'),
    };
  }
  if (!response.url.endsWith('/index.html')) {
    return {
      products: response.css('article.product_pod').map((pod) => ({
        title: pod.css('h3 a::attr(title)').get(),
        price: pod.css('p.price_color::text').get(),
        rating: lastClass(pod),
        href: pod.css('h3 a::attr(href)').get(),
      })),
    };
  }
  const main = response.css('div.product_main').at(0)!;
  return {
    name: main.css('h1::text').get(),
    price: main.css('p.price_color::text').get(),
    rating: lastClass(main),
    stock: main.css('p.availability::text').getAll().join('').trim(),
    upc: response.css('table td::text').get(),
    description: response.css('#product_description + p::text').get(),
  };
}

function lastClass(part: Selector): string | undefined {
  return part.css('p.star-rating::attr(class)').get('').split(' ').pop();
}

await using process = new CrawlerProcess({
  settings: {
    CONCURRENT_REQUESTS: concurrency,
    CONCURRENT_REQUESTS_PER_DOMAIN: concurrency,
    ROBOTSTXT_OBEY: false,
    LOG_LEVEL: 'WARNING',
    FEEDS: { [values.out]: { format: 'jsonlines', overwrite: true } },
    ...Object.fromEntries(values.set.map((pair) => pair.split('=', 2) as [string, string])),
  },
});
const result = await process.crawl(BenchSpider);
if (!result.ok) throw result.error ?? new Error(result.reason);
