import type { ComponentClass } from '../crawler/component.ts';
import { buildComponents } from '../crawler/component.ts';
import type { Crawler } from '../crawler/crawler.ts';
import type { MaybePromise } from '../downloader/middleware.ts';
import { DropItem, toError } from '../errors.ts';
import type { Response } from '../http/response.ts';
import type { LogLevel } from '../log/logger.ts';
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
export class ItemPipelines {
  readonly pipelines: readonly ItemPipeline[];
  readonly #crawler: Crawler;
  readonly #dropLevel: LogLevel;
  readonly #open: ItemPipeline[] = [];

  constructor(
    crawler: Crawler,
    classes: readonly (readonly [ComponentClass<ItemPipeline>, number])[],
  ) {
    this.#crawler = crawler;
    this.#dropLevel = crawler.settings.get('DEFAULT_DROPITEM_LOG_LEVEL');
    this.pipelines = buildComponents(classes, crawler);
  }

  async open(): Promise<void> {
    for (const pipeline of this.pipelines) {
      await pipeline.openSpider?.(this.#crawler.spider);
      this.#open.push(pipeline);
    }
  }

  /** Closes those that were opened, the last first; one that fails does not keep the others open. */
  async close(): Promise<void> {
    for (const pipeline of this.#open.splice(0).reverse()) {
      try {
        await pipeline.closeSpider?.(this.#crawler.spider);
      } catch (thrown) {
        this.#crawler.fail(toError(thrown));
        this.#crawler.log.error(`${pipeline.constructor.name}.closeSpider failed`, {
          error: toError(thrown),
        });
      }
    }
  }

  /** True if the item passed. Never throws; a promise only where a pipeline or a listener returned one. */
  process(item: unknown, response: Response | null): MaybePromise<boolean> {
    let value = item;
    for (let i = 0; i < this.pipelines.length; i++) {
      const pipeline = this.pipelines[i]!;
      try {
        const next = pipeline.processItem(value, response);
        if (next instanceof Promise) return this.#rest(next, i, value, response);
        value = this.#returned(next, pipeline);
      } catch (thrown) {
        return this.#failed(value, toError(thrown), response);
      }
    }
    return this.#passed(value, response);
  }

  async #rest(
    first: Promise<unknown>,
    at: number,
    item: unknown,
    response: Response | null,
  ): Promise<boolean> {
    let value = item;
    try {
      value = this.#returned(await first, this.pipelines[at]!);
      for (const pipeline of this.pipelines.slice(at + 1)) {
        value = this.#returned(await pipeline.processItem(value, response), pipeline);
      }
    } catch (thrown) {
      return this.#failed(value, toError(thrown), response);
    }
    return this.#passed(value, response);
  }

  #returned(value: unknown, pipeline: ItemPipeline): unknown {
    if (value === undefined || value === null) {
      throw new TypeError(
        `${pipeline.constructor.name}.processItem returned nothing. Return the item, or throw DropItem to drop it.`,
      );
    }
    return value;
  }

  #passed(item: unknown, response: Response | null): MaybePromise<true> {
    const { signals, spider, log, logFormatter } = this.#crawler;
    if (log.isEnabled('DEBUG')) logFormatter.log(log, logFormatter.scraped(item, response));
    const sent = signals.sendAwaited('item_scraped', { item, response, spider });
    return sent instanceof Promise ? sent.then(() => true as const) : true;
  }

  #failed(item: unknown, error: Error, response: Response | null): MaybePromise<false> {
    const { signals, spider, log, logFormatter, stats } = this.#crawler;
    let sent: unknown;
    if (error instanceof DropItem) {
      logFormatter.log(log, logFormatter.dropped(item, error, response, this.#dropLevel));
      sent = signals.sendAwaited('item_dropped', { item, response, exception: error, spider });
    } else {
      stats.inc('item_error_count');
      logFormatter.log(log, logFormatter.itemError(item, error, response));
      sent = signals.sendAwaited('item_error', { item, response, failure: error, spider });
    }
    return sent instanceof Promise ? sent.then(() => false as const) : false;
  }
}
