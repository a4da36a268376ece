// Follows all links of a site and writes the URL of every page: the Lycosa half of the comparison.
import { appendFileSync } from 'node:fs';

import { CrawlerProcess, LinkExtractor, type Response, Spider, type SpiderOutput } from 'lycosa';

const [url = '', out = ''] = process.argv.slice(2);

class RealSpider extends Spider {
  static override readonly name = 'real';
  override readonly startUrls = [url];
  override readonly allowedDomains = [new URL(url).hostname];
  readonly links: LinkExtractor = new LinkExtractor();

  override *parse(response: Response): SpiderOutput {
    appendFileSync(out, `${response.url}\n`);
    if (!response.isText) return;
    yield* response.followAll(this.links.extractLinks(response));
  }
}

await using crawls = new CrawlerProcess({
  settings: { LOG_LEVEL: 'INFO', ROBOTSTXT_OBEY: false, CONCURRENT_REQUESTS: 16, RETRY_BACKOFF: 0 },
});
const result = await crawls.crawl(RealSpider);
process.exitCode = result.ok ? 0 : 1;
