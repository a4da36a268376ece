import { CrawlSpider, LinkExtractor, type Response, Rule, type SpiderOutput } from 'lycosa';

/** What the spider finds. Add a field for each thing you want to keep. */
interface Page {
  url: string;
  title: string;
}

export class $classname extends CrawlSpider<Page> {
  static override readonly name = '$name';
  override readonly allowedDomains = ['$domain'];
  override readonly startUrls = ['$url'];
  // Each link belongs to the first rule that finds it. Narrow them with allow, deny or restrictCss.
  override readonly rules = [
    new Rule(new LinkExtractor(), { callback: this.parseItem, follow: true }),
  ];

  async *parseItem(response: Response): SpiderOutput<Page> {
    yield { url: response.url, title: response.css('title::text').get('').trim() };
  }
}
