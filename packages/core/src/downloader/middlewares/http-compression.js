import { DownloadCancelledError, NotConfigured } from '../../errors.js';
import { Headers } from '../../http/headers.js';
import { createResponse } from '../../http/response-types.js';
import { codingOf, decode, hasZstd, TooLargeError } from './content-coding.js';
/** Asks for compressed bodies and decodes them, within the limits for sizes. */
export class HttpCompressionMiddleware {
  static fromCrawler(crawler) {
    if (!crawler.settings.get('COMPRESSION_ENABLED')) throw new NotConfigured();
    return new HttpCompressionMiddleware(crawler);
  }
  #crawler;
  #accepted;
  #maxEncodings;
  #maxSize;
  #warnSize;
  constructor(crawler) {
    const { settings } = crawler;
    this.#crawler = crawler;
    this.#accepted = hasZstd ? 'gzip, deflate, br, zstd' : 'gzip, deflate, br';
    this.#maxEncodings = settings.get('DOWNLOAD_MAX_ENCODINGS');
    this.#maxSize = settings.get('DOWNLOAD_MAXSIZE');
    this.#warnSize = settings.get('DOWNLOAD_WARNSIZE');
  }
  processRequest(request) {
    request.headers.setDefault('accept-encoding', this.#accepted);
  }
  /** @throws DownloadCancelledError for more layers or more decoded bytes than allowed. */
  processResponse(request, response) {
    if (response.header('content-encoding') === undefined || request.method === 'HEAD') {
      return response;
    }
    const names = response.headers
      .getAll('content-encoding')
      .flatMap((value) => value.toLowerCase().split(','))
      .map((name) => name.trim())
      .filter((name) => name !== '' && name !== 'identity');
    if (names.length > this.#maxEncodings) {
      throw this.#refusal(
        request,
        'DOWNLOAD_MAX_ENCODINGS',
        `is encoded ${names.length} times, more than ${this.#maxEncodings}`,
      );
    }
    const codings = [];
    while (names.length > 0) {
      const coding = codingOf(names.at(-1));
      // What we do not know, and what lies below it, stays as it is.
      if (coding === undefined) break;
      codings.push(coding);
      names.pop();
    }
    if (codings.length === 0 && names.length > 0) return response;
    return this.#decode(request, response, codings, names);
  }
  #decode(request, response, codings, rest) {
    const limit = request.meta.downloadMaxsize ?? this.#maxSize;
    try {
      const decoded = decode(response.body, codings, limit);
      if (!(decoded instanceof Promise)) return this.#rebuild(request, response, decoded, rest);
      return decoded.then(
        (done) => this.#rebuild(request, response, done, rest),
        (error) => {
          throw this.#tooLarge(request, limit, error);
        },
      );
    } catch (error) {
      throw this.#tooLarge(request, limit, error);
    }
  }
  #rebuild(request, response, { body, isTruncated }, rest) {
    const { stats, log } = this.#crawler;
    stats.inc('httpcompression/response_count');
    stats.inc('httpcompression/response_bytes', body.length);
    const warnSize = request.meta.downloadWarnsize ?? this.#warnSize;
    if (warnSize && body.length > warnSize && response.body.length <= warnSize) {
      log.warn(
        `${request.toString()} has a body of ${body.length} bytes once decoded, more than DOWNLOAD_WARNSIZE (${warnSize} bytes)`,
      );
    }
    const headers = new Headers(response.headers);
    if (rest.length > 0) headers.set('content-encoding', rest.join(', '));
    else headers.delete('content-encoding');
    const { url, status, protocol, ipAddress, timings } = response;
    const flags = [...response.flags, 'decoded'];
    if (isTruncated) flags.push('truncated');
    return createResponse(url, {
      status,
      headers,
      body,
      flags,
      request,
      ...(protocol !== undefined && { protocol }),
      ...(ipAddress !== undefined && { ipAddress }),
      ...(timings !== undefined && { timings }),
    });
  }
  #tooLarge(request, limit, error) {
    if (!(error instanceof TooLargeError)) return error;
    return this.#refusal(request, 'DOWNLOAD_MAXSIZE', `has more than ${limit} bytes once decoded`);
  }
  #refusal(request, setting, what) {
    this.#crawler.stats.inc(`security/blocked/${setting}`);
    return new DownloadCancelledError(`The body of ${request.toString()} ${what} (${setting}).`);
  }
}
//# sourceMappingURL=http-compression.js.map
