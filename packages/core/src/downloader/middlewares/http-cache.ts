import { createHash } from 'node:crypto';

import { buildComponents } from '../../crawler/component.ts';
import type { Crawler } from '../../crawler/crawler.ts';
import {
  DownloadCancelledError,
  DownloadError,
  IgnoreRequest,
  NotConfigured,
  SettingsError,
  toError,
} from '../../errors.ts';
import type { Request } from '../../http/request.ts';
import { createResponse } from '../../http/response-types.ts';
import type { Response } from '../../http/response.ts';
import { answerConditional, isConditional, isPartial } from '../http-cache/conditional.ts';
import { DummyPolicy } from '../http-cache/dummy-policy.ts';
import { FilesystemCacheStorage } from '../http-cache/filesystem-storage.ts';
import type { CachedResponse, HttpCachePolicy } from '../http-cache/policy.ts';
import { RfcPolicy } from '../http-cache/rfc-policy.ts';
import type { HttpCacheEntry, HttpCacheStorage } from '../http-cache/storage.ts';
import type { DownloaderMiddleware } from '../middleware.ts';

/** A request on its way to the server, and what is known of its answer. */
interface Passing {
  readonly key: string;
  /** Stale. */
  readonly cached?: CachedResponse;
  /** Names of the headers that were added to ask whether it still holds. */
  readonly added: readonly string[];
}

/** Headers that a 304 says of itself, not of the stored response (RFC 9111 §3.2). */
const notUpdated = new Set(
  'connection content-encoding content-length content-range content-type keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer transfer-encoding upgrade'.split(
    ' ',
  ),
);
const incomplete = new Set(['dataloss', 'truncated', 'download_stopped']);
const policies = { dummy: DummyPolicy, rfc: RfcPolicy } as const;

/** Answers requests from stored responses, and stores those that come. Off unless `HTTPCACHE_ENABLED`. */
export class HttpCacheMiddleware implements DownloaderMiddleware {
  static fromCrawler(crawler: Crawler): HttpCacheMiddleware {
    const { settings } = crawler;
    if (!settings.get('HTTPCACHE_ENABLED')) throw new NotConfigured();
    const Policy = settings.get('HTTPCACHE_POLICY');
    const PolicyClass = typeof Policy === 'string' ? policies[Policy] : Policy;
    if (PolicyClass === undefined) {
      throw new SettingsError(
        `HTTPCACHE_POLICY must be dummy, rfc or a class, got ${JSON.stringify(Policy)}.`,
      );
    }
    const Storage = settings.get('HTTPCACHE_STORAGE') ?? FilesystemCacheStorage;
    const [storage] = buildComponents<HttpCacheStorage>([[Storage, 0]], crawler);
    if (storage === undefined) throw new NotConfigured('its storage is off.');
    return new HttpCacheMiddleware(crawler, new PolicyClass(settings), storage);
  }

  readonly #crawler: Crawler;
  readonly #policy: HttpCachePolicy;
  readonly #storage: HttpCacheStorage;
  readonly #expirationMs: number;
  readonly #ignoreMissing: boolean;
  readonly #passing = new WeakMap<Request, Passing>();

  constructor(crawler: Crawler, policy: HttpCachePolicy, storage: HttpCacheStorage) {
    this.#crawler = crawler;
    this.#policy = policy;
    this.#storage = storage;
    this.#expirationMs = crawler.settings.get('HTTPCACHE_EXPIRATION_SECS') * 1000;
    this.#ignoreMissing = crawler.settings.get('HTTPCACHE_IGNORE_MISSING');
  }

  async processRequest(request: Request): Promise<Response | undefined> {
    const { dontCache, downloadTo } = request.meta;
    if (dontCache || downloadTo !== undefined || isPartial(request)) return undefined;
    if (!this.#policy.shouldCacheRequest(request)) return undefined;
    const { stats } = this.#crawler;
    const key = this.#keyOf(request);
    const cached = await this.#retrieve(key, request);
    if (cached === undefined) {
      stats.inc('httpcache/miss');
      if (this.#ignoreMissing) {
        stats.inc('httpcache/ignore');
        throw new IgnoreRequest(
          `${request.toString()} is not in the cache (HTTPCACHE_IGNORE_MISSING).`,
          'httpcache',
        );
      }
    } else if (this.#policy.isCachedResponseFresh(cached, request)) {
      stats.inc('httpcache/hit');
      return isConditional(request) ? answerConditional(request, cached.response) : cached.response;
    }
    // The server is asked just that, and what it says is about a page that the spider knows.
    if (isConditional(request)) return undefined;
    const added: string[] = [];
    const validators = cached && this.#policy.validators?.(cached);
    for (const [name, value] of Object.entries(validators ?? {})) {
      request.headers.set(name, value);
      added.push(name);
    }
    this.#passing.set(request, { key, ...(cached && { cached }), added });
    return undefined;
  }

  async processResponse(request: Request, response: Response): Promise<Response> {
    const passing = this.#take(request);
    if (passing === undefined) {
      if (this.#policy.invalidates?.(request, response)) await this.#forget(request);
      return response;
    }
    const { stats } = this.#crawler;
    const { key, cached } = passing;
    if (cached === undefined) {
      stats.inc('httpcache/firsthand');
    } else if (this.#policy.isCachedResponseValid(cached, response, request)) {
      stats.inc('httpcache/revalidate');
      return response.status === 304
        ? this.#renew(key, cached, response, request)
        : cached.response;
    } else {
      stats.inc('httpcache/invalidate');
    }
    // What is not whole today would be served for whole tomorrow.
    const isComplete = !response.flags.some((flag) => incomplete.has(flag));
    if (isComplete && this.#policy.shouldCacheResponse(response, request)) {
      stats.inc('httpcache/store');
      await this.#store(key, response, request);
    } else {
      stats.inc('httpcache/uncacheable');
    }
    return response;
  }

  processException(request: Request, error: Error): Response | undefined {
    const { cached } = this.#take(request) ?? {};
    if (cached === undefined || !(error instanceof DownloadError)) return undefined;
    if (error instanceof DownloadCancelledError) return undefined;
    if (this.#policy.isCachedResponseUsableOnError?.(cached, request) === false) return undefined;
    this.#crawler.stats.inc('httpcache/errorrecovery');
    return cached.response;
  }

  /** What the request is known by, and whose it is: an answer to one user's credentials is for no other. */
  #keyOf(request: Request): string {
    const hash = createHash('sha256').update(this.#crawler.fingerprints.of(request));
    if (request.hasHeaders) {
      for (const name of ['authorization', 'cookie']) {
        const values = request.headers.getAll(name);
        if (values.length > 0) hash.update(`\0${JSON.stringify([name, values])}`);
      }
    }
    return hash.digest('hex').slice(0, 40);
  }

  #take(request: Request): Passing | undefined {
    const passing = this.#passing.get(request);
    if (passing === undefined) return undefined;
    this.#passing.delete(request);
    // A retry asks anew.
    for (const name of passing.added) request.headers.delete(name);
    return passing;
  }

  async #retrieve(key: string, request: Request): Promise<CachedResponse | undefined> {
    let entry: HttpCacheEntry | undefined;
    try {
      entry = await this.#storage.retrieve(key);
    } catch (thrown) {
      this.#crawler.stats.inc('httpcache/retrieve_error');
      this.#crawler.log.warn(
        `The cached response of ${request.toString()} cannot be read: ${toError(thrown).message}. It is fetched again.`,
      );
      return undefined;
    }
    if (entry === undefined) return undefined;
    const { url, status, headers, body, protocol, ipAddress, storedAt, vary } = entry;
    if (this.#expirationMs > 0 && Date.now() - storedAt >= this.#expirationMs) return undefined;
    if (vary && (vary.names.includes('*') || digestOf(request, vary.names) !== vary.digest)) {
      return undefined;
    }
    const flags = ['cached'];
    const init = { status, headers, body, protocol, ipAddress, flags, request };
    return { response: createResponse(url, init), storedAt };
  }

  /** The page may be another now. */
  async #forget(request: Request): Promise<void> {
    for (const method of ['GET', 'HEAD']) {
      try {
        await this.#storage.remove(this.#keyOf(request.replace({ method, body: undefined })));
      } catch (thrown) {
        this.#crawler.log.warn(
          `The cached response of ${request.toString()} cannot be removed: ${toError(thrown).message}.`,
        );
      }
    }
  }

  /** The stored response with the headers of the 304 that confirmed it. */
  async #renew(
    key: string,
    { response }: CachedResponse,
    confirmed: Response,
    request: Request,
  ): Promise<Response> {
    const headers = { ...response.headers.toJSON() };
    for (const [name, value] of Object.entries(confirmed.headers.toJSON())) {
      if (!notUpdated.has(name)) headers[name] = value;
    }
    if (!confirmed.headers.has('age')) delete headers['age'];
    const renewed = response.replace({ headers });
    await this.#store(key, renewed, request);
    return renewed;
  }

  async #store(key: string, response: Response, request: Request): Promise<void> {
    const { url, status, body, protocol, ipAddress } = response;
    const storedAt = Date.now();
    const headers = response.headers.toJSON();
    headers['date'] ??= new Date(storedAt).toUTCString();
    const names = this.#policy.varyBy?.(response) ?? [];
    const vary = names.length > 0 ? { names, digest: digestOf(request, names) } : undefined;
    try {
      const entry = { url, status, headers, body, storedAt, protocol, ipAddress, vary };
      await this.#storage.store(key, entry);
    } catch (thrown) {
      this.#crawler.log.warn(
        `The response ${response.toString()} cannot be cached: ${toError(thrown).message}.`,
      );
    }
  }
}

/** Of the values only a digest is kept: there may be credentials among them. */
function digestOf(request: Request, names: readonly string[]): string {
  const hash = createHash('sha256');
  // The validators that the cache itself adds choose nothing.
  for (const name of names.toSorted()) {
    const values = request.hasHeaders ? request.headers.getAll(name) : [];
    hash.update(
      JSON.stringify([
        name,
        values
          .join(',')
          .replace(/\s*,\s*/g, ',')
          .trim(),
      ]),
    );
  }
  return hash.digest('hex');
}
