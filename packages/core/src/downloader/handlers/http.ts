import { isIP } from 'node:net';

import type { Dispatcher } from 'undici';

import type { Crawler } from '../../crawler/crawler.ts';
import { InFlight } from '../../engine/in-flight.ts';
import { UnsupportedUrlSchemeError, UsageError } from '../../errors.ts';
import { redactUrl, type Request } from '../../http/request.ts';
import type { Response } from '../../http/response.ts';
import { originOf } from '../../http/url.ts';
import type { SlotSettings } from '../slot-registry.ts';
import { Connector, newFacts, type Target } from './connect.ts';
import { ConnectionPool, type ConnectionPoolOptions } from './connection-pool.ts';
import { Exchange } from './exchange.ts';
import type { DownloadHandler } from './handler.ts';
import { LenientReader, requestHead } from './lenient.ts';
import { isSocks, type Proxy } from './proxy.ts';

/** Pools without a transfer are closed beyond this many, the one unused for longest first. */
const idlePools = 256;
/** Origins that are known to break the rules of HTTP. */
const maxLenientOrigins = 10_000;

export interface OriginPool {
  readonly origin: string;
  readonly target: Target;
  readonly pool: ConnectionPool;
  /** An HTTP proxy without a tunnel is told the whole URL, and its credentials. */
  readonly isAbsolute: boolean;
  active: number;
}

/** `http:` and `https:` over undici, one pool for each origin and proxy. */
export class HttpHandler implements DownloadHandler {
  readonly crawler: Crawler;
  readonly timeoutMs: number;
  readonly headersTimeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly maxSize: number;
  readonly warnSize: number;
  readonly failOnDataLoss: boolean;
  /** Undefined if nothing is decoded. */
  readonly maxEncodings: number | undefined;
  readonly maxHeadersSize: number;
  readonly #localAddress: string | undefined;
  readonly #connector: Connector;
  readonly #poolOptions: ConnectionPoolOptions;
  readonly #pools = new Map<string, OriginPool>();
  readonly #exchanges = new InFlight<Exchange>();
  readonly #lenientOrigins = new Set<string>();
  /** Requests whose kept connection was closed under them. */
  readonly #sentTwice = new WeakSet<Request>();
  /** True if some slot speaks HTTP/2 or TLS in its own way. */
  readonly #slotsDiffer: boolean;

  constructor(crawler: Crawler) {
    const { settings } = crawler;
    this.crawler = crawler;
    this.timeoutMs = settings.get('DOWNLOAD_TIMEOUT') * 1000;
    this.headersTimeoutMs = settings.get('DOWNLOAD_HEADERS_TIMEOUT') * 1000 || Infinity;
    this.idleTimeoutMs = settings.get('DOWNLOAD_IDLE_TIMEOUT') * 1000 || Infinity;
    this.maxSize = settings.get('DOWNLOAD_MAXSIZE');
    this.warnSize = settings.get('DOWNLOAD_WARNSIZE');
    this.failOnDataLoss = settings.get('DOWNLOAD_FAIL_ON_DATALOSS');
    this.maxHeadersSize = settings.get('DOWNLOAD_MAX_HEADERS_SIZE');
    this.maxEncodings = settings.get('COMPRESSION_ENABLED')
      ? settings.get('DOWNLOAD_MAX_ENCODINGS')
      : undefined;
    this.#localAddress = settings.get('DOWNLOAD_BIND_ADDRESS');
    this.#connector = new Connector(crawler);
    this.#slotsDiffer = Object.values(settings.get('DOWNLOAD_SLOTS')).some(
      ({ http2, tls }) => http2 || tls !== undefined,
    );
    this.#poolOptions = {
      pipelining: 1,
      // A connection is free only a moment after its response has ended; without a bound another one would be opened.
      connections: mostConcurrent(crawler),
      // Ours bounds the whole exchange; undici's two would only restart on every byte.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: 10_000,
      // Each exchange has its limit.
      maxHeaderSize: Number.MAX_SAFE_INTEGER,
    };
  }

  // oxlint-disable-next-line typescript/promise-function-async -- a promise of its own for each request would be one too many
  download(request: Request): Promise<Response> {
    let used: OriginPool;
    try {
      used = this.#poolFor(request);
    } catch (thrown) {
      return Promise.reject(thrown as Error);
    }
    used.active++;
    return new Promise<Response>((resolve, reject) => {
      const exchange = new Exchange(this, used, request, resolve, reject);
      this.#exchanges.add(exchange, true);
      if (this.#lenientOrigins.size > 0 && this.#isLenient(used, request))
        this.#sendLenient(used, exchange);
      else this.#send(used, exchange);
    });
  }

  /** An exchange has ended. */
  release(exchange: Exchange, used: OriginPool): void {
    this.#exchanges.delete(exchange);
    // Nobody waits for a connection that is not there yet.
    if (--used.active === 0 && used.target.connecting.size > 0) breakOff(used.target);
  }

  /** Answers of `origin` break the rules of HTTP: from now on they are read as browsers do. */
  readLeniently(origin: string): true {
    if (this.#lenientOrigins.size >= maxLenientOrigins) this.#lenientOrigins.clear();
    this.#lenientOrigins.add(origin);
    return true;
  }

  /** True the first time a request asks. */
  sendOnceMore(request: Request): boolean {
    if (this.#sentTwice.has(request)) return false;
    this.#sentTwice.add(request);
    return true;
  }

  abort(error: Error): void {
    for (const exchange of this.#exchanges.keys()) exchange.fail(error);
  }

  async close(): Promise<void> {
    const pools = [...this.#pools.values()];
    this.#pools.clear();
    await Promise.all(
      pools.map(({ pool, target }) => {
        breakOff(target);
        return pool.destroy();
      }),
    );
  }

  /** Open pools. */
  get pools(): number {
    return this.#pools.size;
  }

  #poolFor(request: Request): OriginPool {
    const { url, meta } = request;
    const origin = originOf(url);
    const authorization = meta.proxy ? request.headers.get('proxy-authorization') : undefined;
    const bound = meta.bindaddress ?? this.#localAddress;
    let key = meta.proxy ? `${origin} ${meta.proxy} ${authorization ?? ''}` : origin;
    let own: SlotSettings | undefined;
    if (this.#slotsDiffer) {
      const slot = this.crawler.slots.keyOf(request);
      own = this.crawler.slots.settingsOf(slot);
      if (own !== undefined) key = `${slot} ${key}`;
    }
    if (meta.bindaddress !== undefined) key = `${meta.bindaddress} from ${key}`;
    let used = this.#pools.get(key);
    if (used === undefined) {
      used = this.#open(
        origin,
        meta.proxy ? toProxy(meta.proxy, authorization) : undefined,
        own,
        bound,
      );
      this.#pools.set(key, used);
      if (this.#pools.size > idlePools) this.#evict();
    } else if (this.#pools.size > idlePools / 2) {
      this.#pools.delete(key);
      this.#pools.set(key, used);
    }
    return used;
  }

  #open(
    origin: string,
    proxy: Proxy | undefined,
    own: SlotSettings | undefined,
    localAddress: string | undefined,
  ): OriginPool {
    if (localAddress !== undefined && isIP(localAddress) === 0) {
      throw new UsageError(
        `DOWNLOAD_BIND_ADDRESS and meta.bindaddress must be an IP address of this machine, got ${JSON.stringify(localAddress)}.`,
      );
    }
    const allowH2 = own?.http2 === true;
    const target: Target = {
      proxy,
      allowH2,
      connecting: new Set(),
      phase: 'connecting',
      tls: own?.tls,
      localAddress,
    };
    const pool = new ConnectionPool(origin, this.#poolOptions, this.#connector, target);
    const isAbsolute = proxy !== undefined && !isSocks(proxy) && origin.startsWith('http:');
    return { origin, target, pool, isAbsolute, active: 0 };
  }

  #isLenient({ origin }: OriginPool, { method }: Request): boolean {
    return (method === 'GET' || method === 'HEAD') && this.#lenientOrigins.has(origin);
  }

  #send(used: OriginPool, exchange: Exchange): void {
    const { request } = exchange;
    const path = pathOf(request.url);
    try {
      used.pool.dispatch(
        {
          path: used.isAbsolute ? used.origin + path : path,
          method: request.method as Dispatcher.HttpMethod,
          headers: request.hasHeaders ? rawHeaders(request, used) : null,
          body: request.body,
        },
        exchange,
      );
    } catch (cause) {
      exchange.fail(cause as Error);
    }
  }

  /** Asks again, on a connection of its own, and takes what a browser would take. */
  #sendLenient(used: OriginPool, exchange: Exchange): void {
    const { request } = exchange;
    const { origin, target } = used;
    const { protocol, hostname, host, port } = new URL(origin);
    const facts = newFacts();
    const to = { protocol, hostname: hostname.replace(/^\[|\]$/g, ''), host, port };
    // One version only: this reader knows no other.
    const plain = { ...target, allowH2: false };
    this.#connector.connect(to, plain, facts, (...[error, socket]) => {
      if (error !== null) return exchange.fail(error);
      exchange.connection = facts;
      // What is still to come of it is of no interest.
      socket.on('error', () => {});
      const controller = {
        abort: () => void socket.destroy(),
        pause: () => void socket.pause(),
        resume: () => void socket.resume(),
      };
      exchange.onRequestStart(controller);
      if (exchange.isSettled) return;
      const sink = {
        onStart: (status: number, headers: Record<string, string | string[]>) =>
          exchange.onResponseStart(undefined, status, headers),
        onData: (chunk: Buffer) => exchange.onResponseData(undefined, chunk),
        onEnd: () => {
          socket.destroy();
          exchange.onResponseEnd();
        },
        onFailure: (failure: Error) => {
          socket.destroy();
          exchange.fail(failure);
        },
      };
      const path = used.isAbsolute ? origin + pathOf(request.url) : pathOf(request.url);
      const headers = request.hasHeaders ? rawHeaders(request, used) : [];
      new LenientReader(sink, request.method !== 'HEAD', this.maxHeadersSize).read(socket);
      socket.write(requestHead(request.method, path, host, headers), 'latin1');
    });
  }

  #evict(): void {
    for (const [key, { pool, active }] of this.#pools) {
      if (active > 0) continue;
      this.#pools.delete(key);
      void pool.destroy();
      if (this.#pools.size <= idlePools) return;
    }
  }
}

function pathOf(url: string): string {
  const end = url.indexOf('#');
  const start = url.indexOf('/', url.indexOf('://') + 3);
  return url.slice(start, end < 0 ? undefined : end);
}

/** The credentials of a proxy reach a proxy that reads the request, nobody behind a tunnel. */
function rawHeaders(request: Request, { target, isAbsolute }: OriginPool): string[] {
  const raw = request.headers.toRaw();
  if (target.proxy === undefined || isAbsolute) return raw;
  const at = raw.findIndex((name, i) => i % 2 === 0 && name === 'proxy-authorization');
  if (at >= 0) raw.splice(at, 2);
  return raw;
}

const proxySchemes = new Set(['http:', 'https:', 'socks:', 'socks5:', 'socks5h:']);

function toProxy(text: string, authorization: string | undefined): Proxy {
  const url = URL.parse(text);
  if (url === null || !proxySchemes.has(url.protocol) || url.hostname === '') {
    throw new UnsupportedUrlSchemeError(
      `${redactUrl(text)} is not the URL of a proxy: http://, https:// or socks5://, host and port.`,
    );
  }
  return { url, authorization };
}

function breakOff({ connecting }: Target): void {
  const error = Object.assign(new Error('nobody waits for the connection'), {
    code: 'ECONNABORTED',
  });
  for (const socket of connecting) socket.destroy(error);
  connecting.clear();
}

/** The highest concurrency of any slot; null is no bound. */
function mostConcurrent({ settings }: Crawler): number | null {
  const own = Object.values(settings.get('DOWNLOAD_SLOTS')).map((slot) => slot.concurrency ?? 0);
  const common =
    settings.get('CONCURRENT_REQUESTS_PER_IP') ||
    settings.get('CONCURRENT_REQUESTS_PER_DOMAIN') ||
    Infinity;
  const most = Math.min(Math.max(common, ...own), settings.get('CONCURRENT_REQUESTS') || Infinity);
  return Number.isFinite(most) ? most : null;
}
