import type { Crawler, CrawlResult } from '../crawler/crawler.ts';
import type { SlotChange } from '../downloader/slot.ts';
import type { Failure } from '../errors.ts';
import type { Headers } from '../http/headers.ts';
import type { Request } from '../http/request.ts';
import type { Response } from '../http/response.ts';
import type { Spider } from '../spider/spider.ts';

/** Every signal and what its listeners receive. Add your own by declaration merging. */
export interface SignalMap {
  /** The crawl begins; sent for every crawl, also for one that cannot start. */
  crawl_started: { crawler: Crawler };
  /** The crawl could not start. */
  crawl_failed: { crawler: Crawler; error: Error };
  /** The crawl has its result. Awaited. */
  crawl_ended: { crawler: Crawler; result: CrawlResult };
  /** Scheduler and pipelines are open. Awaited; may throw `CloseSpider`. */
  spider_opened: { spider: Spider };
  /** The engine is about to dispatch. Awaited. */
  engine_started: object;
  /** The engine asked for a request and got none; very often. */
  scheduler_empty: object;
  /** A request is about to enter the scheduler. `IgnoreRequest` drops it. */
  request_scheduled: { request: Request; spider: Spider };
  /** A request is not made; `cause` says why. */
  request_dropped: { request: Request; cause: string; spider: Spider };
  /** The middlewares are done and the request joins its slot. */
  request_reached_downloader: { request: Request; spider: Spider };
  /** Status and headers are there. `StopDownload` reads no further. */
  headers_received: {
    headers: Headers;
    bodyLength: number | undefined;
    request: Request;
    spider: Spider;
  };
  /** A piece of body is there. `StopDownload` reads no further. */
  bytes_received: { data: Buffer; request: Request; spider: Spider };
  /** The download handler returned a response; the slot is still held. */
  response_downloaded: { response: Response; request: Request; spider: Spider };
  /** The download handler returned no response; the slot is still held. */
  download_failed: { error: Error; request: Request; spider: Spider };
  /** The transfer has ended, well or badly. */
  request_left_downloader: { request: Request; spider: Spider };
  /** The engine has a response, all middlewares passed. */
  response_received: { response: Response; request: Request; spider: Spider };
  /** An item passed every pipeline. Awaited. */
  item_scraped: { item: unknown; response: Response | null; spider: Spider };
  /** A pipeline threw `DropItem`. Awaited. */
  item_dropped: { item: unknown; response: Response | null; exception: Error; spider: Spider };
  /** A pipeline threw something else. Awaited. */
  item_error: { item: unknown; response: Response | null; failure: Error; spider: Spider };
  /** A callback, an errback or `start()` threw. */
  spider_error: { failure: Failure; response: Response | null; spider: Spider };
  /** A robots.txt was read. Awaited. */
  robots_parsed: { robotparser: unknown; request: Request };
  /** The delay of a slot that the crawl uses has changed, or it was paused; `change.cause` says why. */
  slot_changed: { key: string; change: SlotChange };
  /** Memory passed `MEMUSAGE_WARNING_MB`; once. */
  memusage_warning_reached: object;
  /** Nothing left to do. `DontCloseSpider` keeps the spider open, `CloseSpider` sets the reason. */
  spider_idle: { spider: Spider };
  /** A feed, or one batch of it, is stored or has failed. Awaited. */
  feed_slot_closed: { slot: unknown };
  /** Everything is done and closed, feeds are stored before normal listeners run. Awaited. */
  spider_closed: { spider: Spider; reason: string };
  /** All feeds of the crawl are stored. Awaited. */
  feed_exporter_closed: object;
  /** The engine is down. Awaited. */
  engine_stopped: object;
}
