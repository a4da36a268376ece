import type { Crawler } from '../../crawler/crawler.ts';
import type { Request } from '../../http/request.ts';
import type { Response } from '../../http/response.ts';
import type { DownloaderMiddleware } from '../middleware.ts';
/** Follows `<meta http-equiv="refresh">` where its delay is below `METAREFRESH_MAXDELAY`. */
export declare class MetaRefreshMiddleware implements DownloaderMiddleware {
  #private;
  static fromCrawler(crawler: Crawler): MetaRefreshMiddleware;
  constructor(crawler: Crawler);
  /** @throws IgnoreRequest after `REDIRECT_MAX_TIMES`. */
  processResponse(request: Request, response: Response): Request | Response;
}
/** Where a page sends its reader, and after how many seconds. */
export interface MetaRefresh {
  readonly delay: number;
  /** Absolute, unless it cannot be parsed. */
  readonly url: string;
}
/**
 * The first meta refresh with a URL in the first 4096 characters of a page; comments and what lies in
 * `ignoreTags` do not count.
 */
export declare function getMetaRefresh(
  html: string,
  pageUrl: string,
  ignoreTags?: readonly string[],
): MetaRefresh | undefined;
//# sourceMappingURL=meta-refresh.d.ts.map
