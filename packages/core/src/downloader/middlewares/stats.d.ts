import type { Crawler } from '../../crawler/crawler.ts';
import type { Request } from '../../http/request.ts';
import type { Response } from '../../http/response.ts';
import type { StatsCollector } from '../../stats/stats-collector.ts';
import type { DownloaderMiddleware } from '../middleware.ts';
/** Counts what passes: requests and responses with their bytes, methods and statuses; failures by class. */
export declare class DownloaderStatsMiddleware implements DownloaderMiddleware {
  #private;
  static fromCrawler(crawler: Crawler): DownloaderStatsMiddleware;
  constructor(stats: StatsCollector);
  processRequest(request: Request): undefined;
  processResponse(_request: Request, response: Response): Response;
  processException(_request: Request, error: Error): undefined;
}
//# sourceMappingURL=stats.d.ts.map
