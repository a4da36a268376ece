import type { Crawler } from '../crawler/crawler.ts';
import { Downloader } from '../downloader/downloader.ts';
import type { MaybePromise } from '../downloader/middleware.ts';
import { Request } from '../http/request.ts';
import type { Response } from '../http/response.ts';
import { ItemPipelines } from '../pipeline/item-pipeline.ts';
import { type Scheduler } from '../scheduler/scheduler.ts';
import { Scraper, type ScraperHost } from '../scraper/scraper.ts';
export type StopMode = 'graceful' | 'fast';
/** The heart of a crawl: one loop that wakes on events, and the life of each request. */
export declare class Engine implements ScraperHost {
  #private;
  readonly downloader: Downloader;
  readonly scraper: Scraper;
  readonly pipelines: ItemPipelines;
  readonly scheduler: Scheduler;
  /** Exact caps: the engine lets no item and no response beyond them pass. 0 or absent means none. */
  readonly limits: {
    items?: number;
    pages?: number;
  };
  constructor(crawler: Crawler);
  get isCut(): boolean;
  get isClosing(): boolean;
  get isPaused(): boolean;
  get reason(): string;
  /** Requests under way: downloading or being scraped. */
  get inFlight(): number;
  /** True if `start()` may be asked for more. */
  get wantsMore(): boolean;
  /** Runs the loop until the spider is closed; the pipelines are open, `spider_opened` is sent. */
  run(): Promise<void>;
  /**
   * Puts a request in the scheduler.
   *
   * @returns False if it was dropped, which `request_dropped` tells.
   * @throws UsageError when its callback is no method of the spider, or its meta is no JSON.
   */
  schedule(request: Request): MaybePromise<boolean>;
  /**
   * Fetches a page past the scheduler: through the downloader middlewares and the slot, redirects and retries included.
   *
   * @throws DownloadError where no response came.
   */
  download(request: Request): Promise<Response>;
  pause(): void;
  unpause(): void;
  /**
   * Closes the spider. `graceful` finishes what is on the wire and its callbacks; `fast` breaks transfers off and
   * takes no more output. Both give the rest back to the scheduler. A second call can only make it faster.
   */
  closeSpider(reason?: string, mode?: StopMode): void;
}
//# sourceMappingURL=engine.d.ts.map
