import type { Dispatcher } from 'undici';

import {
  CannotResolveHostError,
  Control,
  DownloadCancelledError,
  DownloadConnectionRefusedError,
  DownloadError,
  DownloadFailedError,
  DownloadTimeoutError,
  ResponseDataLossError,
  StopDownload,
} from '../../errors.ts';
import { Headers } from '../../http/headers.ts';
import type { Request } from '../../http/request.ts';
import { createResponse } from '../../http/response-types.ts';
import type { Response } from '../../http/response.ts';
import { hostOf, originOf } from '../../http/url.ts';
import type { ConnectionFacts } from './connect.ts';
import type { HttpHandler } from './http.ts';

/** Informational responses before the real one; more are a flood. */
const maxInformational = 100;

/** One request on the wire, its response and its clock. */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly #handler: HttpHandler;
  readonly #request: Request;
  readonly #resolve: (response: Response) => void;
  readonly #reject: (error: Error) => void;
  readonly #release: () => void;
  readonly #timer: NodeJS.Timeout;
  readonly #start = performance.now();
  readonly #maxSize: number;
  readonly #watchBytes: boolean;
  /** The connection that it is on. */
  connection: ConnectionFacts | undefined;
  /** Makes another, lenient attempt after an answer that breaks the rules of HTTP; once. */
  onParseError: (() => void) | undefined;
  /** Sends the request once more where a kept connection was closed under it; once. */
  onStale: (() => void) | undefined;
  #controller: Pick<Dispatcher.DispatchController, 'abort'> | undefined;
  #informational = 0;
  #sentAt = 0;
  #headersAt = 0;
  #status = 0;
  #headers: Record<string, string | string[] | undefined> | undefined;
  #chunks: Buffer[] = [];
  #bytes = 0;
  #warnAt: number;
  #settled = false;

  constructor(
    handler: HttpHandler,
    request: Request,
    resolve: (response: Response) => void,
    reject: (error: Error) => void,
    release: () => void,
  ) {
    this.#handler = handler;
    this.#request = request;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#release = release;
    const { meta } = request;
    this.#maxSize = meta.downloadMaxsize ?? handler.maxSize;
    this.#warnAt = (meta.downloadWarnsize ?? handler.warnSize) || Infinity;
    this.#watchBytes = handler.crawler.signals.has('bytes_received');
    const timeoutMs =
      meta.downloadTimeout === undefined ? handler.timeoutMs : meta.downloadTimeout * 1000;
    this.#timer = setTimeout(() => {
      this.fail(
        new DownloadTimeoutError(
          `${request.toString()} took longer than ${timeoutMs / 1000} s (${this.#phase}). DOWNLOAD_TIMEOUT or meta.downloadTimeout allows more.`,
        ),
      );
    }, timeoutMs);
  }

  get #phase(): string {
    if (this.#controller === undefined) return 'connecting';
    if (this.#headers === undefined) return 'waiting for the response headers';
    return `reading the body, ${this.#bytes} bytes so far`;
  }

  get isSettled(): boolean {
    return this.#settled;
  }

  get request(): Request {
    return this.#request;
  }

  onRequestStart(controller: Pick<Dispatcher.DispatchController, 'abort'>): void {
    this.#controller = controller;
    this.#sentAt = performance.now();
    if (this.#settled) controller.abort(new DownloadCancelledError('settled'));
  }

  onResponseStart(
    _: unknown,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (this.#settled) return;
    if (status < 200) {
      if (++this.#informational > maxInformational) {
        this.fail(
          new DownloadFailedError(
            `${this.#request.toString()}: more than ${maxInformational} informational responses (${status}).`,
          ),
        );
      }
      return;
    }
    this.#headersAt = performance.now();
    this.#status = status;
    this.#headers = headers;
    const announced = Number(headers['content-length'] ?? NaN);
    if (this.#maxSize && announced > this.#maxSize && this.#request.method !== 'HEAD')
      return this.#tooLarge(announced);
    const { signals, spider } = this.#handler.crawler;
    if (signals.has('headers_received')) {
      this.#obey(
        signals.send('headers_received', {
          headers: Headers.fromWire(headers),
          bodyLength: Number.isNaN(announced) ? undefined : announced,
          request: this.#request,
          spider,
        }),
      );
    }
  }

  onResponseData(_: unknown, chunk: Buffer): void {
    if (this.#settled) return;
    this.#bytes += chunk.length;
    this.#chunks.push(chunk);
    if (this.#maxSize && this.#bytes > this.#maxSize) return this.#tooLarge(this.#bytes);
    if (this.#bytes > this.#warnAt) {
      this.#warnAt = Infinity;
      this.#handler.crawler.log.warn(
        `${this.#request.toString()} has a body of more than DOWNLOAD_WARNSIZE (${this.#request.meta.downloadWarnsize ?? this.#handler.warnSize} bytes)`,
      );
    }
    if (this.#watchBytes) {
      const { signals, spider } = this.#handler.crawler;
      this.#obey(signals.send('bytes_received', { data: chunk, request: this.#request, spider }));
    }
  }

  onResponseEnd(): void {
    if (this.#settled) return;
    this.#settle();
    this.#resolve(this.#response([]));
  }

  onResponseError(_: unknown, error: Error): void {
    const again = this.#another(error);
    if (again === undefined) return this.fail(error);
    this.onStale = undefined;
    this.#controller = undefined;
    again();
  }

  /** Ends the exchange without a whole response. */
  fail(error: Error): void {
    if (this.#settled) return;
    this.#settle();
    this.#controller?.abort(error);
    const known =
      error instanceof Control || error instanceof DownloadError ? error : this.#translate(error);
    if (known instanceof ResponseDataLossError && !this.#allowsDataLoss) return this.#reject(known);
    if (known instanceof ResponseDataLossError) return this.#resolve(this.#response(['dataloss']));
    this.#reject(known);
  }

  /** Another attempt, where one makes sense. Nothing but a read is sent twice. */
  #another(error: Error): (() => void) | undefined {
    const { method } = this.#request;
    if (this.#settled || this.#headers !== undefined || (method !== 'GET' && method !== 'HEAD'))
      return undefined;
    const { onStale, onParseError } = this;
    if (onStale && this.#isStale(error)) return onStale;
    if (!onParseError || !isBroken(error)) return undefined;
    this.onParseError = undefined;
    return onParseError;
  }

  /** True if a server has closed a kept connection just when it was used again (RFC 9112 §9.3.1). */
  #isStale(error: Error): boolean {
    const { code = '' } = error as NodeJS.ErrnoException;
    return (
      this.connection !== undefined &&
      this.connection.openedAt < this.#start &&
      (code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code === 'EPIPE')
    );
  }

  get #allowsDataLoss(): boolean {
    return !(this.#request.meta.downloadFailOnDataloss ?? this.#handler.failOnDataLoss);
  }

  #settle(): void {
    this.#settled = true;
    clearTimeout(this.#timer);
    this.#release();
  }

  #tooLarge(bytes: number): void {
    this.#handler.crawler.stats.inc('security/blocked/DOWNLOAD_MAXSIZE');
    this.fail(
      new DownloadCancelledError(
        `${this.#request.toString()} has a body of ${bytes} bytes, more than DOWNLOAD_MAXSIZE (${this.#maxSize}).`,
      ),
    );
  }

  /** A listener may stop the download. */
  #obey(results: readonly unknown[]): void {
    const stop = results.find((result) => result instanceof StopDownload);
    if (stop === undefined || this.#settled) return;
    this.#settle();
    this.#controller?.abort(stop);
    const response = this.#response(['download_stopped']);
    if (!stop.fail) return this.#resolve(response);
    this.#reject(
      Object.assign(new DownloadCancelledError(`${this.#request.toString()} was stopped`), {
        response,
      }),
    );
  }

  #response(flags: string[]): Response {
    const chunks = this.#chunks;
    const now = performance.now();
    const { connection } = this;
    // Later requests of a connection did not wait for it.
    const isFirst = connection !== undefined && connection.openedAt >= this.#start;
    this.#request.meta.downloadLatency = (this.#headersAt - this.#sentAt) / 1000;
    const response = createResponse(this.#request.url, {
      status: this.#status,
      wireHeaders: this.#headers!,
      body: chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, this.#bytes),
      flags,
      protocol: connection?.protocol,
      ipAddress: connection?.ipAddress,
      timings: {
        ...(isFirst && { dns: connection.dns, tls: connection.tls }),
        connect: this.#sentAt - this.#start,
        firstByte: this.#headersAt - this.#sentAt,
        body: now - this.#headersAt,
      },
    });
    return response;
  }

  #translate(error: Error): Error {
    const { code = '' } = error as NodeJS.ErrnoException;
    const what = `${this.#request.toString()}: `;
    const after = `after ${Math.round(performance.now() - this.#start)} ms`;
    const options = { cause: error };
    if (code === 'ENOTFOUND' || code === 'EAI_AGAIN' || code === 'EAI_NODATA') {
      return new CannotResolveHostError(
        `${what}the host ${hostOf(this.#request.url)} has no address (${code}) ${after}`,
        options,
      );
    }
    if (code === 'ECONNREFUSED') {
      return new DownloadConnectionRefusedError(
        `${what}${originOf(this.#request.url)} refused the connection ${after}`,
        options,
      );
    }
    if (code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'ETIMEDOUT') {
      return new DownloadTimeoutError(`${what}no connection ${after}`, options);
    }
    if (this.#headers !== undefined) {
      return new ResponseDataLossError(
        `${what}the body ended early, with ${this.#bytes} bytes (${error.message}). DOWNLOAD_FAIL_ON_DATALOSS=false keeps it.`,
        this.#response(['dataloss']),
        options,
      );
    }
    return new DownloadFailedError(
      `${what}${error.message}${code ? ` (${code})` : ''} ${after}`,
      options,
    );
  }
}

/** The words of a parser that met no HTTP at all: a second look changes nothing. */
const hopeless = /Expected HTTP|Invalid HTTP version|Data after/i;

/** True for an answer that a browser might read all the same. */
function isBroken(error: Error): boolean {
  return (
    (error.name === 'HTTPParserError' && !hopeless.test(error.message)) ||
    // How undici sees the same header sent twice.
    (error as NodeJS.ErrnoException).code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH'
  );
}
