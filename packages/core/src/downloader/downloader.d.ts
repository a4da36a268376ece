import { type ComponentClass } from '../crawler/component.ts';
import type { Crawler } from '../crawler/crawler.ts';
import { Request } from '../http/request.ts';
import { Response } from '../http/response.ts';
import type { DownloaderMiddleware } from './middleware.ts';
import type { Slot } from './slot.ts';
/** Request in, response out: middlewares around the slot around the handler. */
export declare class Downloader {
  #private;
  readonly middlewares: readonly DownloaderMiddleware[];
  constructor(
    crawler: Crawler,
    middlewares: readonly (readonly [ComponentClass<DownloaderMiddleware>, number])[],
  );
  /** Transfers on the wire. */
  get transferring(): number;
  /** `slot` holds a place for `request`, taken by the scheduler. */
  expect(request: Request, slot: Slot): void;
  /**
   * The response; or a request to make instead: a redirect, a retry.
   *
   * @throws DownloadError where no response came, `IgnoreRequest` where a middleware refused.
   */
  fetch(request: Request): Promise<Request | Response>;
  /** Sends back what is not on the wire yet. */
  cancelWaiting(): void;
  /** Breaks off what is on the wire. */
  abort(): void;
  close(): Promise<void>;
}
//# sourceMappingURL=downloader.d.ts.map
