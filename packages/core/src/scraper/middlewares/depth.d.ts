import type { Crawler } from '../../crawler/crawler.ts';
import type { Request } from '../../http/request.ts';
import type { Response } from '../../http/response.ts';
import type { SpiderMiddleware } from '../spider-middleware.ts';
/**
 * Counts links from the start in `meta.depth`, drops what lies beyond `DEPTH_LIMIT`, and lowers the priority
 * by `DEPTH_PRIORITY` a level.
 */
export declare class DepthMiddleware implements SpiderMiddleware {
  #private;
  static fromCrawler(crawler: Crawler): DepthMiddleware;
  constructor(crawler: Crawler);
  /** A start response is depth 0. */
  processSpiderInput(response: Response): void;
  getProcessedRequest(request: Request, response: Response | null): Request | null;
}
//# sourceMappingURL=depth.d.ts.map
