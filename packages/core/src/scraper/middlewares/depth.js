/**
 * Counts links from the start in `meta.depth`, drops what lies beyond `DEPTH_LIMIT`, and lowers the priority
 * by `DEPTH_PRIORITY` a level.
 */
export class DepthMiddleware {
  static fromCrawler(crawler) {
    return new DepthMiddleware(crawler);
  }
  #crawler;
  #limit;
  #priority;
  #verbose;
  #keys = [];
  #deepest = 0;
  constructor(crawler) {
    const { settings } = crawler;
    this.#crawler = crawler;
    this.#limit = settings.get('DEPTH_LIMIT');
    this.#priority = settings.get('DEPTH_PRIORITY');
    this.#verbose = settings.get('DEPTH_STATS_VERBOSE');
  }
  /** A start response is depth 0. */
  processSpiderInput(response) {
    const meta = response.request?.meta;
    if (meta === undefined || meta.depth !== undefined) return;
    meta.depth = 0;
    if (this.#verbose) this.#count(0);
  }
  getProcessedRequest(request, response) {
    if (response === null) return request;
    const { meta } = request;
    const depth = meta.depthReset ? 0 : (response.request?.meta.depth ?? 0) + 1;
    if (meta.depthReset) delete meta.depthReset;
    if (this.#limit && depth > this.#limit) {
      this.#crawler.stats.inc('depth/request_ignored_count');
      this.#crawler.dropped(request, 'depth');
      return null;
    }
    if (this.#verbose) this.#count(depth);
    if (depth > this.#deepest || (depth === 0 && this.#deepest === 0)) {
      this.#deepest = depth;
      this.#crawler.stats.max('request_depth_max', depth);
    }
    meta.depth = depth;
    if (!this.#priority || depth === 0) return request;
    return request.replace({ priority: request.priority - depth * this.#priority });
  }
  #count(depth) {
    this.#crawler.stats.inc((this.#keys[depth] ??= `request_depth_count/${depth}`));
  }
}
//# sourceMappingURL=depth.js.map
