import { Pool } from 'undici';

import {
  CannotResolveHostError,
  Control,
  DownloadCancelledError,
  DownloadConnectionRefusedError,
  DownloadFailedError,
  DownloadTimeoutError,
  ResponseDataLossError,
  StopDownload,
} from '../../errors.js';
import { Headers } from '../../http/headers.js';
import { createResponse } from '../../http/response-types.js';
import { hostOf, originOf } from '../../http/url.js';
/** Pools without a transfer are closed beyond this many, the one unused for longest first. */
const idlePools = 256;
/** `http:` and `https:` over undici, one pool for each origin. */
export class HttpHandler {
  crawler;
  timeoutMs;
  maxSize;
  warnSize;
  failOnDataLoss;
  #poolOptions;
  #pools = new Map();
  #exchanges = new Set();
  constructor(crawler) {
    const { settings } = crawler;
    this.crawler = crawler;
    this.timeoutMs = settings.get('DOWNLOAD_TIMEOUT') * 1000;
    this.maxSize = settings.get('DOWNLOAD_MAXSIZE');
    this.warnSize = settings.get('DOWNLOAD_WARNSIZE');
    this.failOnDataLoss = settings.get('DOWNLOAD_FAIL_ON_DATALOSS');
    this.#poolOptions = {
      pipelining: 1,
      // A connection is free only a moment after its response has ended; without a bound another one would be opened.
      connections: mostConcurrent(crawler),
      // Ours bounds the whole exchange; undici's two would only restart on every byte.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: 10_000,
      maxHeaderSize: settings.get('DOWNLOAD_MAX_HEADERS_SIZE'),
      connect: {
        timeout: this.timeoutMs,
        rejectUnauthorized: settings.get('DOWNLOAD_VERIFY_CERTIFICATES'),
        // A host with a dead IPv6 address is reached by its other one.
        autoSelectFamily: true,
      },
    };
  }
  download(request) {
    const { url } = request;
    const origin = originOf(url);
    let entry = this.#pools.get(origin);
    if (entry === undefined) {
      entry = { pool: new Pool(origin, this.#poolOptions), active: 0 };
      this.#pools.set(origin, entry);
      if (this.#pools.size > idlePools) this.#evict();
    }
    const used = entry;
    used.active++;
    return new Promise((resolve, reject) => {
      const exchange = new Exchange(this, request, resolve, reject, () => {
        used.active--;
        this.#exchanges.delete(exchange);
      });
      this.#exchanges.add(exchange);
      const end = url.indexOf('#');
      const start = url.indexOf('/', url.indexOf('://') + 3);
      const path = url.slice(start, end < 0 ? undefined : end);
      try {
        used.pool.dispatch(
          {
            path,
            method: request.method,
            headers: request.hasHeaders ? request.headers.toRaw() : null,
            body: request.body,
          },
          exchange,
        );
      } catch (cause) {
        exchange.fail(cause);
      }
    });
  }
  abort(error) {
    for (const exchange of this.#exchanges) exchange.fail(error);
  }
  async close() {
    const pools = [...this.#pools.values()];
    this.#pools.clear();
    await Promise.all(pools.map(({ pool }) => pool.destroy()));
  }
  #evict() {
    for (const [origin, { pool, active }] of this.#pools) {
      if (active > 0) continue;
      this.#pools.delete(origin);
      void pool.destroy();
      if (this.#pools.size <= idlePools) return;
    }
  }
}
/** The highest concurrency of any slot; null is no bound. */
function mostConcurrent({ settings }) {
  const own = Object.values(settings.get('DOWNLOAD_SLOTS')).map((slot) => slot.concurrency ?? 0);
  const common = settings.get('CONCURRENT_REQUESTS_PER_DOMAIN') || Infinity;
  const most = Math.min(Math.max(common, ...own), settings.get('CONCURRENT_REQUESTS') || Infinity);
  return Number.isFinite(most) ? most : null;
}
/** One request on the wire, its response and its clock. */
class Exchange {
  #handler;
  #request;
  #resolve;
  #reject;
  #release;
  #timer;
  #start = performance.now();
  #maxSize;
  #watchBytes;
  #controller;
  #sentAt = 0;
  #headersAt = 0;
  #status = 0;
  #headers;
  #chunks = [];
  #bytes = 0;
  #warnAt;
  #settled = false;
  constructor(handler, request, resolve, reject, release) {
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
  get #phase() {
    if (this.#controller === undefined) return 'connecting';
    if (this.#headers === undefined) return 'waiting for the response headers';
    return `reading the body, ${this.#bytes} bytes so far`;
  }
  onRequestStart(controller) {
    this.#controller = controller;
    this.#sentAt = performance.now();
    if (this.#settled) controller.abort(new DownloadCancelledError('settled'));
  }
  onResponseStart(_, status, headers) {
    if (status < 200 || this.#settled) return;
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
  onResponseData(_, chunk) {
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
  onResponseEnd() {
    if (this.#settled) return;
    this.#settle();
    this.#resolve(this.#response([]));
  }
  onResponseError(_, error) {
    this.fail(error);
  }
  /** Ends the exchange without a whole response. */
  fail(error) {
    if (this.#settled) return;
    this.#settle();
    this.#controller?.abort(error);
    const known =
      error instanceof Control || 'code' in error === false ? error : this.#translate(error);
    if (known instanceof ResponseDataLossError && !this.#allowsDataLoss) return this.#reject(known);
    if (known instanceof ResponseDataLossError) return this.#resolve(this.#response(['dataloss']));
    this.#reject(known);
  }
  get #allowsDataLoss() {
    return !(this.#request.meta.downloadFailOnDataloss ?? this.#handler.failOnDataLoss);
  }
  #settle() {
    this.#settled = true;
    clearTimeout(this.#timer);
    this.#release();
  }
  #tooLarge(bytes) {
    this.#handler.crawler.stats.inc('security/blocked/DOWNLOAD_MAXSIZE');
    this.fail(
      new DownloadCancelledError(
        `${this.#request.toString()} has a body of ${bytes} bytes, more than DOWNLOAD_MAXSIZE (${this.#maxSize}).`,
      ),
    );
  }
  /** A listener may stop the download. */
  #obey(results) {
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
  #response(flags) {
    const chunks = this.#chunks;
    const now = performance.now();
    this.#request.meta.downloadLatency = (this.#headersAt - this.#sentAt) / 1000;
    const response = createResponse(this.#request.url, {
      status: this.#status,
      wireHeaders: this.#headers,
      body: chunks.length === 1 ? chunks[0] : Buffer.concat(chunks, this.#bytes),
      flags,
      protocol: 'HTTP/1.1',
      timings: {
        connect: this.#sentAt - this.#start,
        firstByte: this.#headersAt - this.#sentAt,
        body: now - this.#headersAt,
      },
    });
    return response;
  }
  #translate(error) {
    const { code = '' } = error;
    if (error.name.endsWith('Error') && error instanceof DownloadFailedError) return error;
    const what = `${this.#request.toString()}: `;
    const after = `after ${Math.round(performance.now() - this.#start)} ms`;
    const options = { cause: error };
    if (error instanceof DownloadTimeoutError || error instanceof DownloadCancelledError)
      return error;
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
//# sourceMappingURL=http.js.map
