import { type ComponentClass } from '../crawler/component.ts';
import type { Crawler } from '../crawler/crawler.ts';
import type { MaybePromise } from '../downloader/middleware.ts';
import { Request } from '../http/request.ts';
import { Response } from '../http/response.ts';
import type { ItemPipelines } from '../pipeline/item-pipeline.ts';
import type { SpiderMiddleware } from './spider-middleware.ts';
/** How the scraping of a response ended. `stopped`: the crawl closed before all of its output was taken. */
export type ScrapeResult = 'done' | 'failed' | 'dropped' | 'stopped';
/** What the scraper needs of the engine. */
export interface ScraperHost {
  schedule(request: Request): MaybePromise<boolean>;
  closeSpider(reason: string): void;
  /** True once nothing more may pass: a limit was reached, or the stop is fast. */
  readonly isCut: boolean;
  readonly limits: {
    items?: number;
  };
}
/** Response in, requests and items out: spider middlewares, then callback or errback. */
export declare class Scraper {
  #private;
  readonly middlewares: readonly SpiderMiddleware[];
  /** Bytes of the responses being scraped, as Scrapy counts them. */
  activeBytes: number;
  active: number;
  constructor(
    crawler: Crawler,
    host: ScraperHost,
    pipelines: ItemPipelines,
    middlewares: readonly (readonly [ComponentClass<SpiderMiddleware>, number])[],
  );
  get itemsInFlight(): number;
  /** Resolves when everything the response led to has settled. Never throws. */
  scrape(outcome: Response | Error, request: Request): Promise<ScrapeResult>;
  /** Logs, counts and signals what spider code threw. */
  reportError(error: Error, request: Request | null, response: Response | null): void;
  /** One element of the output, through the middlewares, to the scheduler or the pipelines. */
  take(element: unknown, response: Response | null): MaybePromise<unknown>;
}
//# sourceMappingURL=scraper.d.ts.map
