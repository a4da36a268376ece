import type { Crawler } from '../../crawler/crawler.ts';
import type { Request } from '../../http/request.ts';
import type { Response } from '../../http/response.ts';
import type { DownloaderMiddleware, MaybePromise } from '../middleware.ts';
/** Asks for compressed bodies and decodes them, within the limits for sizes. */
export declare class HttpCompressionMiddleware implements DownloaderMiddleware {
  #private;
  static fromCrawler(crawler: Crawler): HttpCompressionMiddleware;
  constructor(crawler: Crawler);
  processRequest(request: Request): undefined;
  /** @throws DownloadCancelledError for more layers or more decoded bytes than allowed. */
  processResponse(request: Request, response: Response): MaybePromise<Response>;
}
//# sourceMappingURL=http-compression.d.ts.map
