import type { Crawler } from '../../crawler/crawler.ts';
import type { Request } from '../../http/request.ts';
import type { DownloaderMiddleware } from '../middleware.ts';

/** Adds the headers of `DEFAULT_REQUEST_HEADERS` that a request does not have. */
export class DefaultHeadersMiddleware implements DownloaderMiddleware {
  static fromCrawler(crawler: Crawler): DefaultHeadersMiddleware {
    return new DefaultHeadersMiddleware(crawler.settings.get('DEFAULT_REQUEST_HEADERS'));
  }

  readonly #headers: readonly (readonly [string, string])[];

  /** @param headers - Null as a value leaves the header out. */
  constructor(headers: Readonly<Record<string, string | null | undefined>>) {
    this.#headers = Object.entries(headers).flatMap(([name, value]) =>
      value === null || value === undefined ? [] : [[name.toLowerCase(), String(value)] as const],
    );
  }

  processRequest(request: Request): undefined {
    const { headers } = request;
    for (const header of this.#headers) headers.setDefault(header[0], header[1]);
  }
}
