import { Control, IgnoreRequest, NotConfigured, toError } from '../../errors.js';
import { Request } from '../../http/request.js';
import { originOf } from '../../http/url.js';
import { RobotsTxt } from '../robots-parser.js';
const dayMs = 24 * 60 * 60 * 1000;
const retryMs = 60 * 1000;
/** Origins remembered; the one fetched longest ago is forgotten first. */
const maxOrigins = 10_000;
/** Bytes of a robots.txt that are still downloaded, though not all of them are read. */
const maxDownload = 16 * 1024 * 1024;
/**
 * Obeys robots.txt. One fetch an origin; requests that come meanwhile wait for it. A file that cannot be had
 * with a 4xx allows everything, a 5xx or a broken connection nothing until it can be read (RFC 9309 §2.3.1).
 * `meta.dontObeyRobotstxt` lets a request pass.
 */
export class RobotsTxtMiddleware {
  static fromCrawler(crawler) {
    if (!crawler.settings.get('ROBOTSTXT_OBEY')) throw new NotConfigured();
    return new RobotsTxtMiddleware(crawler);
  }
  #crawler;
  #agent;
  #defaultAgent;
  #maxBytes;
  #downloadMaxsize;
  #entries = new Map();
  constructor(crawler) {
    const { settings } = crawler;
    this.#crawler = crawler;
    this.#agent = settings.get('ROBOTSTXT_USER_AGENT');
    this.#defaultAgent = settings.get('USER_AGENT');
    this.#maxBytes = settings.get('ROBOTSTXT_MAX_SIZE');
    this.#downloadMaxsize = Math.min(settings.get('DOWNLOAD_MAXSIZE') || maxDownload, maxDownload);
  }
  /** @throws IgnoreRequest when robots.txt forbids it. */
  processRequest(request) {
    if (request.meta.dontObeyRobotstxt || !request.url.startsWith('http')) return undefined;
    const origin = originOf(request.url);
    const entry = this.#entries.get(origin);
    if (entry?.verdict !== undefined && entry.expiresAt > Date.now()) {
      return this.#obey(entry.verdict, request);
    }
    const pending = entry?.pending ?? this.#fetch(origin, request);
    return pending.then((verdict) => this.#obey(verdict, request));
  }
  #obey(verdict, request) {
    if (verdict === 'no rules') return;
    if (verdict instanceof Error) {
      if (!(verdict instanceof IgnoreRequest)) throw verdict;
      this.#crawler.stats.inc('robotstxt/forbidden');
      throw new IgnoreRequest(verdict.message, 'robots');
    }
    const own = request.hasHeaders ? request.headers.get('user-agent') : undefined;
    if (verdict.isAllowed(request.url, this.#agent || own || this.#defaultAgent)) return;
    this.#crawler.stats.inc('robotstxt/forbidden');
    throw new IgnoreRequest('Forbidden by robots.txt', 'robots');
  }
  #fetch(origin, request) {
    const entry = { verdict: undefined, pending: undefined, expiresAt: 0 };
    entry.pending = this.#download(origin, request).then((verdict) => {
      entry.verdict = verdict;
      entry.expiresAt = Date.now() + (verdict instanceof Error ? retryMs : dayMs);
      entry.pending = undefined;
      return verdict;
    });
    this.#entries.delete(origin);
    this.#entries.set(origin, entry);
    if (this.#entries.size > maxOrigins) this.#evict();
    return entry.pending;
  }
  #evict() {
    for (const [origin, entry] of this.#entries) {
      if (entry.pending) continue;
      this.#entries.delete(origin);
      return;
    }
  }
  /** Never rejects: every outcome is a verdict. */
  async #download(origin, cause) {
    const { engine, stats, log } = this.#crawler;
    const { proxy, downloadSlot } = cause.meta;
    const request = new Request(`${origin}/robots.txt`, {
      dontFilter: true,
      priority: 1000,
      meta: {
        dontObeyRobotstxt: true,
        allowOffsite: true,
        downloadMaxsize: this.#downloadMaxsize,
        ...(proxy !== undefined && { proxy }),
        ...(downloadSlot !== undefined && { downloadSlot }),
      },
    });
    try {
      if (engine === undefined) throw new Error('The engine is not running.');
      const response = await engine.download(request);
      stats.inc('robotstxt/response_count');
      stats.inc(`robotstxt/response_status_count/${response.status}`);
      return await this.#read(response, request, origin);
    } catch (thrown) {
      const error = toError(thrown);
      stats.inc(`robotstxt/exception_count/${error.name}`);
      // More redirects than allowed, or a middleware that refused: the file counts as absent.
      if (error instanceof Control) return 'no rules';
      log.warn(
        `robots.txt of ${origin} could not be had, so nothing of it is fetched for 60 s: ${error.message}`,
      );
      return error;
    } finally {
      stats.inc('robotstxt/request_count');
    }
  }
  async #read(response, request, origin) {
    const { status } = response;
    if (status >= 500) {
      this.#crawler.log.warn(
        `robots.txt of ${origin} answers with status ${status}, so nothing of it is fetched for 60 s (RFC 9309 2.3.1.4). ROBOTSTXT_OBEY=false would.`,
      );
      return new IgnoreRequest(`robots.txt of ${origin} answers with status ${status}`, 'robots');
    }
    if (status < 200 || status >= 300) return 'no rules';
    const { body } = response;
    if (body.length > this.#maxBytes) this.#tooLong(origin, body.length);
    const robotparser = new RobotsTxt(this.#maxBytes ? body.subarray(0, this.#maxBytes) : body);
    const { signals } = this.#crawler;
    if (signals.has('robots_parsed')) {
      await signals.sendAwaited('robots_parsed', { robotparser, request });
    }
    return robotparser;
  }
  #tooLong(origin, bytes) {
    if (!this.#maxBytes) return;
    this.#crawler.stats.inc('security/blocked/ROBOTSTXT_MAX_SIZE');
    this.#crawler.log.warn(
      `robots.txt of ${origin} has ${bytes} bytes; only the first ${this.#maxBytes} are read (ROBOTSTXT_MAX_SIZE).`,
    );
  }
}
//# sourceMappingURL=robots-txt.js.map
