import {
  type CrawlResult,
  CrawlerProcess,
  createLogger,
  Request,
  type Response,
  type SettingsInput,
  Spider,
  type SpiderArgs,
  type SpiderClass,
  type SpiderOutput,
} from 'lycosa';

/** What a test wants to know of a crawl. */
export interface Scraped {
  readonly items: unknown[];
  readonly result: CrawlResult;
  /** Log lines, as JSON. */
  readonly log: readonly LogLine[];
}

export interface LogLine {
  readonly level: string;
  readonly msg: string;
  readonly [key: string]: unknown;
}

/** Settings that keep tests short: no robots.txt, no waiting before a retry. */
export const quick: SettingsInput = {
  ROBOTSTXT_OBEY: false,
  RETRY_BACKOFF: 0,
  BACKOFF_ENABLED: false,
  LOGSTATS_INTERVAL: 0,
  STATS_DUMP: false,
};

/** Runs a spider for real and collects its items. */
export async function crawl(
  spider: SpiderClass,
  settings: SettingsInput = {},
  args: SpiderArgs = {},
): Promise<Scraped> {
  const log: LogLine[] = [];
  const logger = createLogger({
    level: 'DEBUG',
    format: 'json',
    destination: { write: (line: string) => void log.push(JSON.parse(line) as LogLine) },
  });
  const items: unknown[] = [];
  class Collect {
    processItem(item: unknown): unknown {
      items.push(item);
      return item;
    }
  }
  await using process = new CrawlerProcess({ settings: { ...quick, ...settings }, logger });
  process.settings.set(
    'ITEM_PIPELINES',
    [...process.settings.get('ITEM_PIPELINES'), [Collect, 1000]],
    'cmdline',
  );
  const result = await process.crawl(spider, args);
  return { items, result, log };
}

/** A spider of one callback: yields the status and body of each start page. */
export function pageSpider(
  urls: readonly string[],
  parse?: (response: Response, spider: Spider) => SpiderOutput,
): SpiderClass {
  return class PageSpider extends Spider {
    static override readonly name = 'page';
    override readonly startUrls = urls;
    override parse(response: Response): SpiderOutput {
      if (parse) return parse(response, this);
      return { url: response.url, status: response.status, text: response.text };
    }
    override start(): SpiderOutput {
      return urls.map((url) => new Request(url, { errback: this.onError, dontFilter: true }));
    }
    onError(failure: { error: Error }): SpiderOutput {
      return { error: failure.error.name, message: failure.error.message };
    }
  };
}
