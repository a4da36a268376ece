import type { ComponentClass } from '../crawler/component.ts';
import type { Crawler } from '../crawler/crawler.ts';
import type { MaybePromise } from '../downloader/middleware.ts';
import type { Response } from '../http/response.ts';
import type { Spider } from '../spider/spider.ts';
/** Item in, item out. Pipelines are asked in the order of their numbers. */
export interface ItemPipeline<Item = unknown> {
  /** Awaited before the first request. What it throws ends the crawl. */
  openSpider?(spider: Spider): MaybePromise<void>;
  /** Awaited at the end, in reverse order. */
  closeSpider?(spider: Spider): MaybePromise<void>;
  /**
   * Returns the item for the next pipeline.
   *
   * @param response - Where the item comes from; null for items of `start()`.
   * @throws DropItem to drop it.
   */
  processItem(item: Item, response: Response | null): MaybePromise<unknown>;
}
/** The pipelines of one crawler in their order. */
export declare class ItemPipelines {
  #private;
  readonly pipelines: readonly ItemPipeline[];
  constructor(
    crawler: Crawler,
    classes: readonly (readonly [ComponentClass<ItemPipeline>, number])[],
  );
  open(): Promise<void>;
  /** Closes those that were opened, the last first; one that fails does not keep the others open. */
  close(): Promise<void>;
  /** True if the item passed. Never throws; a promise only where a pipeline or a listener returned one. */
  process(item: unknown, response: Response | null): MaybePromise<boolean>;
}
//# sourceMappingURL=item-pipeline.d.ts.map
