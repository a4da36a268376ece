import { resolve as resolvePath } from 'node:path';

import type { Dispatcher } from 'undici';

import {
  DownloadCancelledError,
  DownloadFailedError,
  DownloadProxyError,
  DownloadTimeoutError,
  ResponseDataLossError,
  StopDownload,
} from '../../errors.ts';
import { Headers } from '../../http/headers.ts';
import type { Request } from '../../http/request.ts';
import { createResponse } from '../../http/response-types.ts';
import type { Response } from '../../http/response.ts';
import { TooLargeError } from '../middlewares/content-coding.ts';
import { type ConnectionFacts, timingsOf } from './connect.ts';
import {
  headersError,
  headersOverflow,
  isCertificate,
  proxyName,
  toDownloadError,
} from './failure.ts';
import { FileBody, type Source, takeCodings, toFileError } from './file-body.ts';
import { SendAgain } from './handler.ts';
import type { HttpHandler, OriginPool } from './http.ts';

/** Informational responses before the real one; more are a flood. */
const maxInformational = 100;
/** Bytes that are neither headers nor body, and more of them for each byte of it: one in a chunk, and that in a record of TLS. */
const maxFraming = 65_536;
const maxFramingPerByte = 64;

type WireHeaders = Record<string, string | string[] | undefined>;
type Controller = Pick<Dispatcher.DispatchController, 'abort'> & Source;

/** One request on the wire, its response and its clock. */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly #handler: HttpHandler;
  readonly #request: Request;
  readonly #used: OriginPool;
  readonly #resolve: (response: Response) => void;
  readonly #reject: (error: Error) => void;
  #timer: NodeJS.Timeout;
  readonly #start = performance.now();
  readonly #maxSize: number;
  readonly #watchBytes: boolean;
  /** The connection that it is on. */
  connection: ConnectionFacts | undefined;
  #controller: Controller | undefined;
  #informational = 0;
  #sentAt = 0;
  #headersAt = 0;
  /** When something of the body came last. */
  #lastAt = 0;
  /** What had come on the connection before. */
  #readBefore = 0;
  /** What has come since and is parsed. */
  #parsed = 0;
  #status = 0;
  #headers: WireHeaders | undefined;
  #chunks: Buffer[] = [];
  #bytes = 0;
  #warnAt: number;
  #file: FileBody | undefined;
  #settled = false;

  constructor(
    handler: HttpHandler,
    used: OriginPool,
    request: Request,
    resolve: (response: Response) => void,
    reject: (error: Error) => void,
  ) {
    this.#handler = handler;
    this.#used = used;
    this.#request = request;
    this.#resolve = resolve;
    this.#reject = reject;
    const { meta } = request;
    this.#maxSize = meta.downloadMaxsize ?? handler.maxSize;
    this.#warnAt = (meta.downloadWarnsize ?? handler.warnSize) || Infinity;
    this.#watchBytes = handler.crawler.signals.has('bytes_received');
    // One timer for three limits: it is set for the shortest, and again for what is due then.
    const first = Math.min(this.#timeoutMs, this.#headersTimeoutMs, this.#idleTimeoutMs);
    this.#timer = setTimeout(checkTime, first, this);
  }

  get #timeoutMs(): number {
    const { downloadTimeout } = this.#request.meta;
    return downloadTimeout === undefined ? this.#handler.timeoutMs : downloadTimeout * 1000;
  }

  get #headersTimeoutMs(): number {
    const { downloadHeadersTimeout } = this.#request.meta;
    if (downloadHeadersTimeout === undefined) return this.#handler.headersTimeoutMs;
    return downloadHeadersTimeout * 1000 || Infinity;
  }

  get #idleTimeoutMs(): number {
    const { downloadIdleTimeout } = this.#request.meta;
    if (downloadIdleTimeout === undefined) return this.#handler.idleTimeoutMs;
    return downloadIdleTimeout * 1000 || Infinity;
  }

  /** Fails if one of the limits has passed, else waits for the next. */
  checkTime(): void {
    const now = performance.now();
    const end = this.#start + this.#timeoutMs;
    if (now >= end) return this.#timeOut(this.#timeoutMs, 'took longer than', 'TIMEOUT', 'Timeout');
    let next: number;
    if (this.#headers === undefined) {
      next = this.#start + this.#headersTimeoutMs;
      if (now >= next)
        return this.#timeOut(
          this.#headersTimeoutMs,
          'had no response headers after',
          'HEADERS_TIMEOUT',
          'HeadersTimeout',
        );
    } else {
      // While the disk is waited for it is not the server that is idle.
      next = (this.#file?.isPaused ? now : this.#lastAt) + this.#idleTimeoutMs;
      if (now >= next)
        return this.#timeOut(
          this.#idleTimeoutMs,
          'was sent no more for',
          'IDLE_TIMEOUT',
          'IdleTimeout',
        );
    }
    this.#timer = setTimeout(checkTime, Math.min(next, end) - now, this);
  }

  /**
   * More has been read, and is not parsed yet. The parser itself has no limit for a reason, chunk sizes and extensions,
   * and beyond its limit for headers it makes an error of each further one.
   */
  bytesCame(bytesRead: number): void {
    const allowed = this.#handler.maxHeadersSize * (1 + this.#informational);
    if (this.#headers === undefined) {
      if (this.#parsed > allowed) return this.fail(headersError());
    } else if (this.#parsed > allowed + maxFraming + (1 + maxFramingPerByte) * this.#bytes) {
      return this.fail(this.#floodError());
    }
    this.#parsed = bytesRead - this.#readBefore;
  }

  #floodError(): DownloadFailedError {
    const { stats } = this.#handler.crawler;
    stats.inc('security/blocked/DOWNLOAD_MAX_HEADERS_SIZE');
    return new DownloadFailedError(
      `${this.#request.toString()}: more than ${maxFraming} bytes that are neither header nor body ${this.#after} (${this.#phase}).`,
    );
  }

  get #after(): string {
    return `after ${Math.round(performance.now() - this.#start)} ms`;
  }

  #timeOut(ms: number, what: string, setting: string, meta: string): void {
    const { proxy, phase } = this.#used.target;
    const isConnecting = this.#controller === undefined;
    this.#handler.crawler.stats.inc(`security/blocked/DOWNLOAD_${setting}`);
    const message = `${this.#request.toString()} ${what} ${ms / 1000} s (${this.#phase}). DOWNLOAD_${setting} or meta.download${meta} allows more.`;
    this.fail(
      isConnecting && proxy !== undefined && phase.includes('proxy')
        ? new DownloadProxyError(message)
        : new DownloadTimeoutError(message),
    );
  }

  get #phase(): string {
    const { proxy, phase } = this.#used.target;
    if (this.#controller === undefined)
      return phase.includes('proxy') ? `${phase} ${proxyName(proxy!.url)}` : phase;
    if (this.#headers === undefined) return 'waiting for the response headers';
    return `reading the body, ${this.#bytes} bytes so far`;
  }

  get isSettled(): boolean {
    return this.#settled;
  }

  get request(): Request {
    return this.#request;
  }

  onRequestStart(controller: Controller): void {
    this.#controller = controller;
    this.#sentAt = performance.now();
    if (this.connection !== undefined) {
      this.#readBefore = this.connection.bytesRead;
      this.connection.watcher = this;
    }
    if (this.#settled) controller.abort(new DownloadCancelledError('settled'));
  }

  onResponseStart(_: unknown, status: number, headers: WireHeaders): void {
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
    const { maxHeadersSize } = this.#handler;
    // Nearly all are read at once, with a body that is shorter than this.
    if (this.#parsed > maxHeadersSize && sizeOf(headers) > maxHeadersSize)
      return this.fail(headersError());
    this.#headersAt = performance.now();
    this.#lastAt = this.#headersAt;
    this.#status = status;
    this.#headers = headers;
    const announced = Number(headers['content-length'] ?? NaN);
    const isTooLong = this.#maxSize && announced > this.#maxSize && !this.#mayTruncate;
    if (isTooLong && this.#request.method !== 'HEAD') return this.fail(this.#sizeError(announced));
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
    if (this.#request.meta.downloadTo !== undefined) this.#openFile(this.#request.meta.downloadTo);
  }

  /** Only a page that came as asked for is written: errors and redirects stay what they are. */
  #openFile(path: string): void {
    const isWanted = this.#status < 300 && this.#status !== 204 && this.#request.method !== 'HEAD';
    if (this.#settled || !isWanted) return;
    const full = resolvePath(this.#handler.crawler.root, path);
    try {
      const codings = takeCodings(this.#request, this.#headers!, this.#handler.maxEncodings);
      this.#file = new FileBody(full, codings, this.#maxSize, this.#controller!, (error) => {
        if (!this.#settled) this.fail(this.#fileError(error, full));
      });
    } catch (thrown) {
      if (thrown instanceof DownloadCancelledError)
        this.#handler.crawler.stats.inc('security/blocked/DOWNLOAD_MAX_ENCODINGS');
      this.fail(this.#fileError(thrown as Error, full));
    }
  }

  onResponseData(_: unknown, chunk: Buffer): void {
    if (this.#settled) return;
    this.#bytes += chunk.length;
    this.#lastAt = performance.now();
    if (this.#file === undefined) this.#chunks.push(chunk);
    if (this.#maxSize && this.#bytes > this.#maxSize)
      return this.#mayTruncate ? this.#truncate() : this.fail(this.#sizeError(this.#bytes));
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
    if (this.#file !== undefined && !this.#settled) this.#file.write(chunk);
  }

  get #mayTruncate(): boolean {
    const { downloadTruncate, downloadTo } = this.#request.meta;
    return downloadTruncate === true && downloadTo === undefined;
  }

  #truncate(): void {
    this.#settle();
    this.#controller?.abort(new DownloadCancelledError('truncated'));
    const last = this.#chunks.pop()!;
    this.#chunks.push(last.subarray(0, last.length - (this.#bytes - this.#maxSize)));
    this.#resolve(this.#response(['truncated']));
  }

  onResponseEnd(): void {
    if (this.#settled) return;
    this.#settle();
    const flags = this.#isOpenEnded ? ['partial'] : [];
    if (this.#file === undefined) this.#resolve(this.#response(flags));
    else void this.#finishFile(this.#file, flags);
  }

  /** No length was announced: whether it is whole, only the server knows. */
  get #isOpenEnded(): boolean {
    const headers = this.#headers!;
    return (
      this.#bytes > 0 &&
      headers['content-length'] === undefined &&
      headers['transfer-encoding'] === undefined &&
      this.connection?.protocol === 'HTTP/1.1'
    );
  }

  onResponseError(_: unknown, error: Error): void {
    if (this.#settled) return;
    if (!this.#mayRepeat(error)) return this.fail(error);
    this.#settle();
    this.#reject(new SendAgain());
  }

  /** Ends the exchange without a whole response. */
  fail(error: Error): void {
    if (this.#settled) return;
    this.#settle();
    this.#controller?.abort(error);
    const known = this.#translate(error);
    const isKept = known instanceof ResponseDataLossError && this.#allowsDataLoss;
    const file = this.#file;
    if (file !== undefined && isKept) void this.#finishFile(file, ['dataloss']);
    else if (file !== undefined) void file.discard().then(() => this.#reject(known));
    else if (isKept) this.#resolve(this.#response(['dataloss']));
    else this.#reject(known);
  }

  #translate(error: Error): Error {
    const { proxy } = this.#used.target;
    const phase = this.#phase;
    const { stats } = this.#handler.crawler;
    if ((error as NodeJS.ErrnoException).code === headersOverflow)
      stats.inc('security/blocked/DOWNLOAD_MAX_HEADERS_SIZE');
    else if (isCertificate(error)) stats.inc('security/blocked/DOWNLOAD_VERIFY_CERTIFICATES');
    const known = toDownloadError(error, this.#request, this.#start, proxy?.url, phase);
    const isOurs = known === error || known instanceof DownloadTimeoutError;
    if (isOurs || this.#headers === undefined) return known;
    return new ResponseDataLossError(
      `${this.#request.toString()}: the body ended early, with ${this.#bytes} bytes ${this.#after} (${error.message}). DOWNLOAD_FAIL_ON_DATALOSS=false keeps it.`,
      this.#response(['dataloss']),
      { cause: error },
    );
  }

  /** Ends with the response once its file is in place. */
  async #finishFile(file: FileBody, flags: string[]): Promise<void> {
    try {
      await file.finish();
    } catch (thrown) {
      await file.discard();
      this.#reject(this.#fileError(thrown as Error, file.path));
      return;
    }
    this.#handler.crawler.stats.inc('downloader/response_bytes', file.bytes);
    this.#resolve(this.#response(flags, file.path));
  }

  #fileError(error: Error, path: string): Error {
    if (error instanceof TooLargeError) return this.#sizeError(this.#maxSize, 'more than ');
    return toFileError(error, path, this.#request);
  }

  /** True where another attempt makes sense. Nothing but a read is sent twice. */
  #mayRepeat(error: Error): boolean {
    const { method } = this.#request;
    if (this.#headers !== undefined || (method !== 'GET' && method !== 'HEAD')) return false;
    if (isBroken(error)) return this.#handler.readLeniently(this.#used.origin);
    return this.#isStale(error) && this.#handler.sendOnceMore(this.#request);
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
    if (this.connection?.watcher === this) this.connection.watcher = undefined;
    this.#handler.release(this, this.#used);
  }

  #sizeError(bytes: number, about = ''): DownloadCancelledError {
    this.#handler.crawler.stats.inc('security/blocked/DOWNLOAD_MAXSIZE');
    return new DownloadCancelledError(
      `${this.#request.toString()} has a body of ${about}${bytes} bytes, beyond DOWNLOAD_MAXSIZE (${this.#maxSize}).`,
    );
  }

  /** A listener may stop the download. */
  #obey(results: readonly unknown[]): void {
    const stop = results.find((result) => result instanceof StopDownload);
    if (stop === undefined || this.#settled) return;
    this.#settle();
    this.#controller?.abort(stop);
    const response = this.#response(['download_stopped']);
    const end = (): void => {
      if (!stop.fail) return this.#resolve(response);
      const error = new DownloadCancelledError(`${this.#request.toString()} was stopped`);
      this.#reject(Object.assign(error, { response }));
    };
    if (this.#file === undefined) end();
    else void this.#file.discard().then(end);
  }

  #response(flags: string[], path?: string): Response {
    const chunks = this.#chunks;
    const { connection } = this;
    this.#request.meta.downloadLatency = (this.#headersAt - this.#sentAt) / 1000;
    return createResponse(this.#request.url, {
      status: this.#status,
      wireHeaders: this.#headers!,
      body: chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks),
      path,
      flags,
      protocol: connection?.protocol,
      ipAddress: connection?.ipAddress,
      certificate: connection?.certificate,
      timings: timingsOf(connection, this.#start, this.#sentAt, this.#headersAt),
    });
  }
}

function checkTime(exchange: Exchange): void {
  exchange.checkTime();
}

function sizeOf(headers: WireHeaders): number {
  let size = 0;
  for (const name in headers)
    for (const value of [headers[name]].flat()) size += name.length + (value?.length ?? 0);
  return size;
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
