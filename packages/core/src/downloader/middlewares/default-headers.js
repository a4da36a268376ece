/** Adds the headers of `DEFAULT_REQUEST_HEADERS` that a request does not have. */
export class DefaultHeadersMiddleware {
  static fromCrawler(crawler) {
    return new DefaultHeadersMiddleware(crawler.settings.get('DEFAULT_REQUEST_HEADERS'));
  }
  #headers;
  /** @param headers - Null as a value leaves the header out. */
  constructor(headers) {
    this.#headers = Object.entries(headers).flatMap(([name, value]) =>
      value === null || value === undefined ? [] : [[name.toLowerCase(), String(value)]],
    );
  }
  processRequest(request) {
    const { headers } = request;
    for (const header of this.#headers) headers.setDefault(header[0], header[1]);
  }
}
//# sourceMappingURL=default-headers.js.map
