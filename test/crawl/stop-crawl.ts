// A job whose requests wait behind a delay of a second, in a process of its own: stop-crawl.ts URL JOBDIR
import { CrawlerProcess, Request, Spider, type SpiderOutput } from 'lycosa';

const [url = '', jobdir = ''] = process.argv.slice(2);

class SlowSpider extends Spider {
  static override readonly name = 'slow';
  override *start(): SpiderOutput {
    for (let page = 0; page < 17; page++) yield new Request(`${url}/${page}`);
  }
  override *parse(): SpiderOutput {
    yield {};
  }
}

await using crawls = new CrawlerProcess({
  settings: {
    JOBDIR: jobdir,
    DOWNLOAD_DELAY: 1,
    RANDOMIZE_DOWNLOAD_DELAY: false,
    LOG_LEVEL: 'ERROR',
    ROBOTSTXT_OBEY: false,
  },
});
const running = crawls.crawl(SlowSpider);
await crawls.start();
const { reason } = await running;
process.stdout.write(reason);
