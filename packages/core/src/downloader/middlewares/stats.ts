import type { Crawler } from '../../crawler/crawler.ts';
import { NotConfigured } from '../../errors.ts';
import type { Request } from '../../http/request.ts';
import type { Response } from '../../http/response.ts';
import type { StatsCollector } from '../../stats/stats-collector.ts';
import type { DownloaderMiddleware } from '../middleware.ts';

/** By status; one for all, since a place for each status up to 200 is too much for each of many spiders. */
const statusKeys: string[] = [];

/** Counts what passes: requests and responses with their bytes, methods and statuses; failures by class. */
export class DownloaderStatsMiddleware implements DownloaderMiddleware {
  static fromCrawler(crawler: Crawler): DownloaderStatsMiddleware {
    if (!crawler.settings.get('DOWNLOADER_STATS')) throw new NotConfigured();
    return new DownloaderStatsMiddleware(crawler.stats);
  }

  readonly #stats: StatsCollector;
  readonly #methodKeys = new Map<string, string>();

  constructor(stats: StatsCollector) {
    this.#stats = stats;
  }

  processRequest(request: Request): undefined {
    const { method, body } = request;
    let key = this.#methodKeys.get(method);
    if (key === undefined) {
      key = `downloader/request_method_count/${method}`;
      this.#methodKeys.set(method, key);
    }
    const stats = this.#stats;
    stats.inc('downloader/request_count');
    stats.inc(key);
    // "GET /path HTTP/1.1", a Host line, the headers, an empty line: as long as the whole URL, nearly.
    const head = method.length + request.url.length + 20;
    const headers = request.hasHeaders ? request.headers.byteLength : 0;
    stats.inc('downloader/request_bytes', head + headers + (body?.length ?? 0));
  }

  processResponse(_request: Request, response: Response): Response {
    const { status } = response;
    const stats = this.#stats;
    stats.inc('downloader/response_count');
    stats.inc((statusKeys[status] ??= `downloader/response_status_count/${status}`));
    stats.inc('downloader/response_bytes', response.body.length + response.headers.byteLength + 19);
    return response;
  }

  processException(_request: Request, error: Error): undefined {
    this.#stats.inc('downloader/exception_count');
    this.#stats.inc(`downloader/exception_type_count/${error.name}`);
  }
}
