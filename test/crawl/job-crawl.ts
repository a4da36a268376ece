// One run of a job in a process of its own, for tests that kill it: job-crawl.ts URL JOBDIR FEED [BATCHES]
import { CrawlerProcess, type Response, Spider, type SpiderOutput } from 'lycosa';

const [url = '', jobdir = '', feed = '', batches = ''] = process.argv.slice(2);

class JobSpider extends Spider {
  static override readonly name = 'job';
  override readonly startUrls = [`${url}/0`];
  override *parse(response: Response): SpiderOutput {
    yield { path: new URL(response.url).pathname, body: response.css('p::text').get() };
    yield* response.followAll('a');
  }
}

await using crawls = new CrawlerProcess({
  settings: {
    JOBDIR: jobdir,
    FEEDS: {
      [feed]: { format: 'jsonlines', overwrite: true },
      ...(batches && { [batches]: { batchItemCount: 50, overwrite: true } }),
    },
    LOG_LEVEL: 'ERROR',
    ROBOTSTXT_OBEY: false,
    RETRY_BACKOFF: 0.05,
    BACKOFF_ENABLED: false,
  },
});
const running = crawls.crawl(JobSpider);
await crawls.start();
const result = await running;
process.stdout.write(
  `${JSON.stringify({ reason: result.reason, ok: result.ok, error: result.error?.message })}\n`,
);
