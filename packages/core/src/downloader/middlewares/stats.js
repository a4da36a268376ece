import { NotConfigured } from '../../errors.js';
/** Counts what passes: requests and responses with their bytes, methods and statuses; failures by class. */
export class DownloaderStatsMiddleware {
  static fromCrawler(crawler) {
    if (!crawler.settings.get('DOWNLOADER_STATS')) throw new NotConfigured();
    return new DownloaderStatsMiddleware(crawler.stats);
  }
  #stats;
  #methodKeys = new Map();
  #statusKeys = [];
  constructor(stats) {
    this.#stats = stats;
  }
  processRequest(request) {
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
    const headers = request.hasHeaders ? headerBytes(request.headers) : 0;
    stats.inc('downloader/request_bytes', head + headers + (body?.length ?? 0));
  }
  processResponse(_request, response) {
    const { status } = response;
    const stats = this.#stats;
    stats.inc('downloader/response_count');
    stats.inc((this.#statusKeys[status] ??= `downloader/response_status_count/${status}`));
    stats.inc(
      'downloader/response_bytes',
      response.body.length + headerBytes(response.headers) + 19,
    );
    return response;
  }
  processException(_request, error) {
    this.#stats.inc('downloader/exception_count');
    this.#stats.inc(`downloader/exception_type_count/${error.name}`);
  }
}
/** Bytes of "name: value" lines. */
function headerBytes(headers) {
  const raw = headers.toRaw();
  let bytes = raw.length * 2;
  for (const text of raw) bytes += text.length;
  return bytes;
}
//# sourceMappingURL=stats.js.map
