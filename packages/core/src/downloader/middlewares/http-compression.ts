import type { Crawler } from '../../crawler/crawler.ts';
import { DownloadCancelledError, NotConfigured } from '../../errors.ts';
import { Headers } from '../../http/headers.ts';
import type { Request } from '../../http/request.ts';
import { createResponse } from '../../http/response-types.ts';
import type { Response } from '../../http/response.ts';
import type { DownloaderMiddleware, MaybePromise } from '../middleware.ts';
import {
  type Coding,
  decode,
  encodingsOf,
  hasZstd,
  takeKnown,
  TooLargeError,
} from './content-coding.ts';

/** Asks for compressed bodies and decodes them, within the limits for sizes. */
export class HttpCompressionMiddleware implements DownloaderMiddleware {
  static fromCrawler(crawler: Crawler): HttpCompressionMiddleware {
    if (!crawler.settings.get('COMPRESSION_ENABLED')) throw new NotConfigured();
    return new HttpCompressionMiddleware(crawler);
  }

  readonly #crawler: Crawler;
  readonly #accepted: string;
  readonly #maxEncodings: number;
  readonly #maxSize: number;
  readonly #warnSize: number;

  constructor(crawler: Crawler) {
    const { settings } = crawler;
    this.#crawler = crawler;
    this.#accepted = hasZstd ? 'gzip, deflate, br, zstd' : 'gzip, deflate, br';
    this.#maxEncodings = settings.get('DOWNLOAD_MAX_ENCODINGS');
    this.#maxSize = settings.get('DOWNLOAD_MAXSIZE');
    this.#warnSize = settings.get('DOWNLOAD_WARNSIZE');
  }

  processRequest(request: Request): undefined {
    request.headers.setDefault('accept-encoding', this.#accepted);
  }

  /** @throws DownloadCancelledError for more layers or more decoded bytes than allowed. */
  processResponse(request: Request, response: Response): MaybePromise<Response> {
    if (response.header('content-encoding') === undefined || request.method === 'HEAD') {
      return response;
    }
    const names = encodingsOf(response.headers.getAll('content-encoding'));
    if (names.length > this.#maxEncodings) {
      throw this.#refusal(
        request,
        'DOWNLOAD_MAX_ENCODINGS',
        `is encoded ${names.length} times, more than ${this.#maxEncodings}`,
      );
    }
    const codings = takeKnown(names);
    if (codings.length === 0 && names.length > 0) return response;
    return this.#decode(request, response, codings, names);
  }

  #decode(
    request: Request,
    response: Response,
    codings: readonly Coding[],
    rest: readonly string[],
  ): MaybePromise<Response> {
    const { downloadMaxsize, downloadTruncate = false } = request.meta;
    const limit = downloadMaxsize ?? this.#maxSize;
    try {
      const decoded = decode(response.body, codings, limit, downloadTruncate);
      if (!(decoded instanceof Promise)) return this.#rebuild(request, response, decoded, rest);
      return decoded.then(
        (done) => this.#rebuild(request, response, done, rest),
        (error: unknown) => {
          throw this.#tooLarge(request, limit, error);
        },
      );
    } catch (error) {
      throw this.#tooLarge(request, limit, error);
    }
  }

  #rebuild(
    request: Request,
    response: Response,
    { body, isTruncated }: { body: Buffer; isTruncated: boolean },
    rest: readonly string[],
  ): Response {
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
    const { url, status, protocol, ipAddress, certificate, timings } = response;
    const flags = [...response.flags, 'decoded'];
    if (isTruncated && !flags.includes('truncated')) flags.push('truncated');
    return createResponse(url, {
      status,
      headers,
      body,
      flags,
      request,
      ...(protocol !== undefined && { protocol }),
      ...(ipAddress !== undefined && { ipAddress }),
      certificate,
      timings,
    });
  }

  #tooLarge(request: Request, limit: number, error: unknown): unknown {
    if (!(error instanceof TooLargeError)) return error;
    return this.#refusal(request, 'DOWNLOAD_MAXSIZE', `has more than ${limit} bytes once decoded`);
  }

  #refusal(request: Request, setting: string, what: string): DownloadCancelledError {
    this.#crawler.stats.inc(`security/blocked/${setting}`);
    return new DownloadCancelledError(`The body of ${request.toString()} ${what} (${setting}).`);
  }
}
