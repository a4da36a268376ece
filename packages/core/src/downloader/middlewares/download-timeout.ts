import type { Crawler } from '../../crawler/crawler.ts';
import type { Request } from '../../http/request.ts';
import type { DownloaderMiddleware } from '../middleware.ts';

/** Fills `meta.downloadTimeout` with `DOWNLOAD_TIMEOUT`, in seconds. */
export class DownloadTimeoutMiddleware implements DownloaderMiddleware {
  static fromCrawler(crawler: Crawler): DownloadTimeoutMiddleware {
    return new DownloadTimeoutMiddleware(crawler.settings.get('DOWNLOAD_TIMEOUT'));
  }

  readonly #seconds: number;

  constructor(seconds: number) {
    this.#seconds = seconds;
  }

  processRequest(request: Request): undefined {
    request.meta.downloadTimeout ??= this.#seconds;
  }
}
