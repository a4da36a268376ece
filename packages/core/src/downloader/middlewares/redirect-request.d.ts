import type { Crawler } from '../../crawler/crawler.ts';
import { type Request } from '../../http/request.ts';
import type { Response } from '../../http/response.ts';
/** Follows a response to where it points; shared by HTTP redirects and meta refresh. */
export declare class Redirector {
  #private;
  constructor(crawler: Crawler);
  /** The URL that `location` means, or undefined where it may not or cannot be followed; then it is counted. */
  resolve(location: string, base: string): URL | undefined;
  /**
   * The request that follows `request` to `target`.
   *
   * @param reason - Status, or what else led there; kept in `meta.redirectReasons`.
   * @param method - GET drops the body of another method.
   * @throws IgnoreRequest after `REDIRECT_MAX_TIMES`.
   */
  follow(
    request: Request,
    response: Response,
    target: URL,
    reason: number | string,
    method: string,
  ): Request;
}
//# sourceMappingURL=redirect-request.d.ts.map
