import type { Crawler } from '../../crawler/crawler.ts';
import { Control, IgnoreRequest, NotConfigured, toError } from '../../errors.ts';
import { Request } from '../../http/request.ts';
import type { Response } from '../../http/response.ts';
import { originOf } from '../../http/url.ts';
import type { DownloaderMiddleware } from '../middleware.ts';
import { RobotsTxt } from '../robots-parser.ts';

const dayMs = 24 * 60 * 60 * 1000;
const retryMs = 60 * 1000;
/** Origins remembered; the one fetched longest ago is forgotten first. */
const maxOrigins = 10_000;
/** Bytes of a robots.txt that are still downloaded, though not all of them are read. */
const maxDownload = 16 * 1024 * 1024;

/** What is known of an origin: its rules, that it has none, or why it may not be visited. */
type Verdict = RobotsTxt | 'no rules' | Error;

interface Entry {
  verdict: Verdict | undefined;
  pending: Promise<Verdict> | undefined;
  /** On the clock of `performance.now()`, which nobody sets back. */
  expiresAt: number;
  /** Seconds that it asks to keep between requests, cut to what is allowed. */
  floor: number;
}

/**
 * Obeys robots.txt. One fetch an origin; requests that come meanwhile wait for it. A file that cannot be had
 * with a 4xx allows everything, a 5xx or a broken connection nothing until it can be read (RFC 9309 §2.3.1).
 * `meta.dontObeyRobotstxt` lets a request pass.
 */
export class RobotsTxtMiddleware implements DownloaderMiddleware {
  static fromCrawler(crawler: Crawler): RobotsTxtMiddleware {
    if (!crawler.settings.get('ROBOTSTXT_OBEY')) throw new NotConfigured();
    return new RobotsTxtMiddleware(crawler);
  }

  readonly #crawler: Crawler;
  readonly #agent: string | null | undefined;
  readonly #defaultAgent: string;
  readonly #maxBytes: number;
  readonly #downloadMaxsize: number;
  readonly #maxDelay: number;
  readonly #entries = new Map<string, Entry>();

  constructor(crawler: Crawler) {
    const { settings } = crawler;
    this.#crawler = crawler;
    this.#agent = settings.get('ROBOTSTXT_USER_AGENT');
    this.#defaultAgent = settings.get('USER_AGENT');
    this.#maxBytes = settings.get('ROBOTSTXT_MAX_SIZE');
    this.#maxDelay = settings.get('ROBOTSTXT_CRAWL_DELAY_MAX');
    this.#downloadMaxsize = Math.min(settings.get('DOWNLOAD_MAXSIZE') || maxDownload, maxDownload);
  }

  /** @throws IgnoreRequest when robots.txt forbids it. */
  processRequest(request: Request): undefined | Promise<Request | undefined> {
    if (request.meta.dontObeyRobotstxt || !request.url.startsWith('http')) return undefined;
    const origin = originOf(request.url);
    const known = this.#entries.get(origin);
    if (known?.verdict !== undefined && known.expiresAt > performance.now()) {
      this.#keepFloor(known.floor, origin, request);
      return this.#obey(known.verdict, request);
    }
    const entry = known?.pending ? known : this.#fetch(origin, request);
    return entry.pending!.then((verdict) => {
      this.#keepFloor(entry.floor, origin, request);
      this.#obey(verdict, request);
      return this.#isEarly(request) ? this.#crawler.engine?.postpone(request) : undefined;
    });
  }

  /** After the file it is not yet the turn of a page: it waits in the scheduler, where it holds up no other site. */
  #isEarly(request: Request): boolean {
    const { slots } = this.#crawler;
    return slots.get(slots.keyOf(request)).nextAt > performance.now();
  }

  /** What robots.txt asks to keep between two requests is the least that a slot keeps. */
  #keepFloor(floor: number, origin: string, request: Request): void {
    const { slots } = this.#crawler;
    if (floor > 0) slots.setSiteFloor(slots.keyOf(request), origin, floor);
  }

  #obey(verdict: Verdict, request: Request): undefined {
    if (verdict === 'no rules') return;
    if (verdict instanceof Error) {
      if (!(verdict instanceof IgnoreRequest)) throw verdict;
      this.#crawler.stats.inc('robotstxt/forbidden');
      throw new IgnoreRequest(verdict.message, 'robots');
    }
    if (verdict.isAllowed(request.url, this.#agentOf(request))) return;
    this.#crawler.stats.inc('robotstxt/forbidden');
    throw new IgnoreRequest('Forbidden by robots.txt', 'robots');
  }

  #fetch(origin: string, request: Request): Entry {
    const last = this.#entries.get(origin);
    // Rules that were known hold on where the file cannot be had again (RFC 9309 §2.4).
    const known = last?.verdict === undefined || last.verdict instanceof Error ? undefined : last;
    const entry: Entry = { verdict: undefined, pending: undefined, expiresAt: 0, floor: 0 };
    entry.pending = this.#download(origin, request, known !== undefined).then((verdict) => {
      const kept = verdict instanceof Error ? known : undefined;
      entry.expiresAt = performance.now() + (verdict instanceof Error ? retryMs : dayMs);
      entry.pending = undefined;
      entry.floor = kept?.floor ?? this.#floorOf(verdict, request, origin);
      return (entry.verdict = kept?.verdict ?? verdict);
    });
    this.#entries.delete(origin);
    this.#entries.set(origin, entry);
    if (this.#entries.size > maxOrigins) this.#evict();
    return entry;
  }

  #evict(): void {
    for (const [origin, entry] of this.#entries) {
      if (entry.pending) continue;
      this.#entries.delete(origin);
      return;
    }
  }

  /** Never rejects: every outcome is a verdict. */
  async #download(origin: string, cause: Request, isKnown: boolean): Promise<Verdict> {
    const { engine, stats, log } = this.#crawler;
    const { proxy, downloadSlot } = cause.meta;
    const then = isKnown
      ? 'the rules it had hold for another 60 s'
      : 'nothing of it is fetched for 60 s';
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
      return await this.#read(response, request, origin, then);
    } catch (thrown) {
      const error = toError(thrown);
      stats.inc(`robotstxt/exception_count/${error.name}`);
      // More redirects than allowed, or a middleware that refused: the file counts as absent.
      if (error instanceof Control) return 'no rules';
      // Whoever is not fetched for it tells.
      log.debug(`robots.txt of ${origin} could not be had, so ${then}: ${error.message}`);
      return error;
    } finally {
      stats.inc('robotstxt/request_count');
    }
  }

  async #read(
    response: Response,
    request: Request,
    origin: string,
    then: string,
  ): Promise<Verdict> {
    const { status } = response;
    if (status >= 500) {
      this.#crawler.log.warn(
        `robots.txt of ${origin} answers with status ${status}, so ${then} (RFC 9309 2.3.1.4). ROBOTSTXT_OBEY=false would.`,
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

  #floorOf(verdict: Verdict, cause: Request, origin: string): number {
    if (this.#maxDelay <= 0 || verdict instanceof Error) return 0;
    const asked = verdict === 'no rules' ? 0 : this.#delayFor(verdict, cause);
    const kept = Math.min(asked, this.#maxDelay);
    const { slots, stats, log } = this.#crawler;
    const key = slots.keyOf(cause);
    if (kept === 0) {
      slots.setSiteFloor(key, origin, undefined);
      return 0;
    }
    stats.inc('robotstxt/crawl_delay_count');
    if (asked <= kept) {
      log.info(`robots.txt of ${origin} asks for ${asked} s between requests: kept for ${key}.`);
      return kept;
    }
    stats.inc('security/blocked/ROBOTSTXT_CRAWL_DELAY_MAX');
    log.warn(
      `robots.txt of ${origin} asks for ${asked} s between requests; ${kept} s are kept (ROBOTSTXT_CRAWL_DELAY_MAX).`,
    );
    return kept;
  }

  #delayFor(robots: RobotsTxt, request: Request): number {
    const agent = this.#agentOf(request);
    return Math.max(robots.crawlDelay(agent) ?? 0, robots.requestGap(agent) ?? 0);
  }

  #agentOf(request: Request): string {
    const own = request.hasHeaders ? request.headers.get('user-agent') : undefined;
    return this.#agent || own || this.#defaultAgent;
  }

  #tooLong(origin: string, bytes: number): void {
    if (!this.#maxBytes) return;
    this.#crawler.stats.inc('security/blocked/ROBOTSTXT_MAX_SIZE');
    this.#crawler.log.warn(
      `robots.txt of ${origin} has ${bytes} bytes; only the first ${this.#maxBytes} are read (ROBOTSTXT_MAX_SIZE).`,
    );
  }
}
