// One worker of a crawl that many share: worker.ts REDIS_URL SITE_URL FEED [NAME=VALUE…], NAME being a setting.
import { RedisScheduler } from '@lycosa/redis';
import { CrawlerProcess, type Response, Spider, type SpiderOutput } from 'lycosa';

const [redis = '', site = '', feed = '', ...settings] = process.argv.slice(2);

class TreeSpider extends Spider {
  static override readonly name = 'tree';
  override readonly startUrls = [site];
  override *parse(response: Response): SpiderOutput {
    yield { url: response.url };
    yield* response.followAll('a');
  }
}

await using crawls = new CrawlerProcess({
  settings: {
    SCHEDULER: RedisScheduler,
    REDIS_URL: redis,
    ...(feed && { FEEDS: { [feed]: { format: 'jsonlines', overwrite: false } } }),
    LOG_LEVEL: 'WARNING',
    ROBOTSTXT_OBEY: false,
    RETRY_BACKOFF: 0.05,
    BACKOFF_ENABLED: false,
    ...Object.fromEntries(settings.map((text) => text.split('=', 2) as [string, string])),
  },
});
const running = crawls.crawl(TreeSpider);
await crawls.start();
const { reason, ok, error, stats } = await running;
process.stdout.write(`${JSON.stringify({ reason, ok, error: error?.message, stats })}\n`);
