// Crawls whose memory must not grow, for memory.test.ts and test/bench/memory.mjs.
import { setImmediate as turn } from 'node:timers/promises';

import { startSite } from '@lycosa/site';
import {
  type Crawler,
  CrawlerProcess,
  createLogger,
  Request,
  type Response,
  type SettingsInput,
  Spider,
  type SpiderClass,
  type SpiderOutput,
} from 'lycosa';

import { quick } from './scrape.ts';

/** Memory at one moment of a crawl, in MB. */
export interface Sample {
  /** What was done by then. */
  readonly count: number;
  readonly heapMb: number;
  /** Buffers outside the heap. */
  readonly externalMb: number;
  readonly rssMb: number;
}

function sample(count: number): Sample {
  globalThis.gc?.();
  const { heapUsed, external, rss } = process.memoryUsage();
  const mb = (bytes: number): number => Math.round(bytes / 1e5) / 10;
  return { count, heapMb: mb(heapUsed), externalMb: mb(external), rssMb: mb(rss) };
}

async function run(spider: SpiderClass, settings: SettingsInput): Promise<void> {
  const logger = createLogger({
    level: 'ERROR',
    format: 'json',
    destination: { write: (line: string) => void process.stderr.write(line) },
  });
  await using crawls = new CrawlerProcess({ settings: { ...quick, ...settings }, logger });
  const result = await crawls.crawl(spider);
  if (!result.ok) throw result.error ?? new Error(result.reason);
}

/** One callback yields `count` items of 10 kB to a pipeline that takes its time. */
export async function measureItems(count: number): Promise<Sample[]> {
  const samples: Sample[] = [];
  class ItemSpider extends Spider {
    static override readonly name = 'items';
    override readonly startUrls = ['data:,start'];
    override *parse(): SpiderOutput {
      for (let id = 0; id < count; id++)
        yield { id, text: Buffer.alloc(10_000, 97 + (id % 26)).toString('latin1') };
    }
  }
  let passed = 0;
  class SlowPipeline {
    async processItem(item: unknown): Promise<unknown> {
      await turn();
      if (++passed % Math.floor(count / 5) === 0) samples.push(sample(passed));
      return item;
    }
  }
  await run(ItemSpider, { ITEM_PIPELINES: [[SlowPipeline, 300]] });
  return samples;
}

/** `count` pages of 1 MB; the title of each is kept, and nothing else may be. */
export async function measurePages(count: number): Promise<Sample[]> {
  const filler = `<p>${'words of a long page '.repeat(50)}</p>`.repeat(1000);
  await using site = await startSite({
    '*': ({ url }) => `<title>The title of the page ${url}</title>${filler}`,
  });
  const titles: unknown[] = [];
  const samples: Sample[] = [];
  class PageSpider extends Spider {
    static override readonly name = 'pages';
    override *start(): SpiderOutput {
      for (let id = 0; id < count; id++) yield new Request(`${site.url}/${id}`);
    }
    override parse(response: Response): void {
      titles.push(response.css('title::text').get());
      if (titles.length % Math.floor(count / 5) === 0) samples.push(sample(titles.length));
    }
  }
  await run(PageSpider, {});
  return samples;
}

/** `count` requests for `hosts` hosts wait in a job; the crawl ends before it makes any. */
export async function measurePending(
  count: number,
  hosts: number,
  jobdir: string,
): Promise<Sample[]> {
  const samples: Sample[] = [];
  class PendingSpider extends Spider {
    static override readonly name = 'pending';
    override readonly startUrls = ['data:,start'];
    override async *parse(): SpiderOutput {
      const engine = this.crawler.engine!;
      engine.pause();
      for (let at = 1; at <= count; at++) {
        yield new Request(`http://host-${at % hosts}.test/some/path/to/a/page-${at}.html`);
        if (at % 100 === 0) await turn();
        if (at % Math.floor(count / 5) === 0) samples.push(sample(at));
      }
      engine.closeSpider('enough');
    }
  }
  await run(PendingSpider, { JOBDIR: jobdir });
  return samples;
}

/** Takes up the job that `measurePending` left, until its first request, which nobody answers. */
export async function measureResume(
  jobdir: string,
): Promise<{ secondsToFirst: number; rssMoreMb: number }> {
  const before = sample(0).rssMb;
  const start = performance.now();
  let secondsToFirst = Infinity;
  let rssMoreMb = 0;
  class PendingSpider extends Spider {
    static override readonly name = 'pending';
    override readonly startUrls = ['data:,start'];
    override parse(): void {}
  }
  class FirstHandler {
    readonly #crawler: Crawler;
    constructor(crawler: Crawler) {
      this.#crawler = crawler;
    }
    static fromCrawler(crawler: Crawler): FirstHandler {
      return new FirstHandler(crawler);
    }
    download(request: Request): Promise<Response> {
      secondsToFirst = Math.min(secondsToFirst, (performance.now() - start) / 1000);
      this.#crawler.stop('fast');
      return Promise.reject(new Error(request.url));
    }
  }
  const DOWNLOAD_HANDLERS = { http: FirstHandler };
  await run(PendingSpider, { JOBDIR: jobdir, DOWNLOAD_HANDLERS }).catch(() => {});
  rssMoreMb = sample(0).rssMb - before;
  return { secondsToFirst, rssMoreMb };
}
