import { type Response, SitemapSpider, type SpiderOutput } from 'lycosa';

/** What the spider finds. Add a field for each thing you want to keep. */
interface Page {
  url: string;
  title: string;
}

export class $classname extends SitemapSpider<Page> {
  static override readonly name = '$name';
  override readonly allowedDomains = ['$domain'];
  // A sitemap, or a robots.txt that names some.
  override readonly sitemapUrls = [new URL('/robots.txt', '$url').href];

  override async *parse(response: Response): SpiderOutput<Page> {
    yield { url: response.url, title: response.css('title::text').get('').trim() };
  }
}
