import { buildComponents } from '../crawler/component.js';
import { DropItem, toError } from '../errors.js';
/** The pipelines of one crawler in their order. */
export class ItemPipelines {
  pipelines;
  #crawler;
  #dropLevel;
  #open = [];
  constructor(crawler, classes) {
    this.#crawler = crawler;
    this.#dropLevel = crawler.settings.get('DEFAULT_DROPITEM_LOG_LEVEL');
    this.pipelines = buildComponents(classes, crawler);
  }
  async open() {
    for (const pipeline of this.pipelines) {
      await pipeline.openSpider?.(this.#crawler.spider);
      this.#open.push(pipeline);
    }
  }
  /** Closes those that were opened, the last first; one that fails does not keep the others open. */
  async close() {
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
  process(item, response) {
    let value = item;
    for (let i = 0; i < this.pipelines.length; i++) {
      const pipeline = this.pipelines[i];
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
  async #rest(first, at, item, response) {
    let value = item;
    try {
      value = this.#returned(await first, this.pipelines[at]);
      for (const pipeline of this.pipelines.slice(at + 1)) {
        value = this.#returned(await pipeline.processItem(value, response), pipeline);
      }
    } catch (thrown) {
      return this.#failed(value, toError(thrown), response);
    }
    return this.#passed(value, response);
  }
  #returned(value, pipeline) {
    if (value === undefined || value === null) {
      throw new TypeError(
        `${pipeline.constructor.name}.processItem returned nothing. Return the item, or throw DropItem to drop it.`,
      );
    }
    return value;
  }
  #passed(item, response) {
    const { signals, spider, log, logFormatter } = this.#crawler;
    if (log.isEnabled('DEBUG')) logFormatter.log(log, logFormatter.scraped(item, response));
    const sent = signals.sendAwaited('item_scraped', { item, response, spider });
    return sent instanceof Promise ? sent.then(() => true) : true;
  }
  #failed(item, error, response) {
    const { signals, spider, log, logFormatter, stats } = this.#crawler;
    let sent;
    if (error instanceof DropItem) {
      logFormatter.log(log, logFormatter.dropped(item, error, response, this.#dropLevel));
      sent = signals.sendAwaited('item_dropped', { item, response, exception: error, spider });
    } else {
      stats.inc('item_error_count');
      logFormatter.log(log, logFormatter.itemError(item, error, response));
      sent = signals.sendAwaited('item_error', { item, response, failure: error, spider });
    }
    return sent instanceof Promise ? sent.then(() => false) : false;
  }
}
//# sourceMappingURL=item-pipeline.js.map
