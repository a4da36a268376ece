import type { Crawler } from '../../crawler/crawler.ts';
import type { Request } from '../../http/request.ts';
import type { Response } from '../../http/response.ts';
import type { DownloadHandler } from './handler.ts';
/** `http:` and `https:` over undici, one pool for each origin. */
export declare class HttpHandler implements DownloadHandler {
  #private;
  readonly crawler: Crawler;
  readonly timeoutMs: number;
  readonly maxSize: number;
  readonly warnSize: number;
  readonly failOnDataLoss: boolean;
  constructor(crawler: Crawler);
  download(request: Request): Promise<Response>;
  abort(error: Error): void;
  close(): Promise<void>;
}
//# sourceMappingURL=http.d.ts.map
