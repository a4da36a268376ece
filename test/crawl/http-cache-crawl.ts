// Fills an HTTP cache, in a process of its own: http-cache-crawl.ts URL FOLDER PAGES
import { CrawlerProcess, Request, Spider, type SpiderOutput } from 'lycosa';

const [url = '', folder = '', pages = ''] = process.argv.slice(2);

class CachedSpider extends Spider {
  static override readonly name = 'page';
  override *start(): SpiderOutput {
    for (let page = 0; page < Number(pages); page++) yield new Request(`${url}/${page}`);
  }
  override parse(): void {}
}

await using crawls = new CrawlerProcess({
  settings: {
    HTTPCACHE_ENABLED: true,
    HTTPCACHE_DIR: folder,
    CONCURRENT_REQUESTS_PER_DOMAIN: 16,
    LOG_LEVEL: 'ERROR',
    ROBOTSTXT_OBEY: false,
    STATS_DUMP: false,
  },
});
const running = crawls.crawl(CachedSpider);
await crawls.start();
await running;
