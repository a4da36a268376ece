import type { Crawler } from '../../crawler/crawler.ts';
import type { Request } from '../../http/request.ts';
import type { DownloaderMiddleware } from '../middleware.ts';
/** Fills `meta.downloadTimeout` with `DOWNLOAD_TIMEOUT`, in seconds. */
export declare class DownloadTimeoutMiddleware implements DownloaderMiddleware {
  #private;
  static fromCrawler(crawler: Crawler): DownloadTimeoutMiddleware;
  constructor(seconds: number);
  processRequest(request: Request): undefined;
}
//# sourceMappingURL=download-timeout.d.ts.map
