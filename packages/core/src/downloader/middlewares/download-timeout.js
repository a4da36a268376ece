/** Fills `meta.downloadTimeout` with `DOWNLOAD_TIMEOUT`, in seconds. */
export class DownloadTimeoutMiddleware {
  static fromCrawler(crawler) {
    return new DownloadTimeoutMiddleware(crawler.settings.get('DOWNLOAD_TIMEOUT'));
  }
  #seconds;
  constructor(seconds) {
    this.#seconds = seconds;
  }
  processRequest(request) {
    request.meta.downloadTimeout ??= this.#seconds;
  }
}
//# sourceMappingURL=download-timeout.js.map
