import type { Crawler } from '../../crawler/crawler.ts';
import {
  CannotResolveHostError,
  Control,
  DownloadCancelledError,
  DownloadError,
  IgnoreRequest,
  NotConfigured,
  toError,
  UnsupportedUrlSchemeError,
} from '../../errors.ts';
import { Request } from '../../http/request.ts';
import type { Response } from '../../http/response.ts';
import { originOf } from '../../http/url.ts';
import type { DownloaderMiddleware, MaybePromise } from '../middleware.ts';
import { type RobotsParser, type RobotsParserClass, RobotsTxt } from '../robots-parser.ts';

const dayMs = 24 * 60 * 60 * 1000;
const retryMs = 60 * 1000;
/** Origins remembered; the one fetched longest ago is forgotten first. */
const maxOrigins = 10_000;
/** Bytes of a robots.txt that are read where `ROBOTSTXT_MAX_SIZE` sets no limit. */
const maxDownload = 16 * 1024 * 1024;

/** What is known of an origin: its rules, that it has none, or why it may not be visited. */
type Verdict = RobotsParser | 'no rules' | Error;

interface Entry {
  verdict: Verdict | undefined;
  pending: Promise<Verdict> | undefined;
  /** Times in a row that it could not be had. */
  failures: number;
  /** Pages wait until it is asked for again. */
  isHeld: boolean;
  /** On the clock of `performance.now()`, which nobody sets back. */
  expiresAt: number;
  /** Seconds that it asks to keep between requests, cut to what is allowed. */
  floor: number;
}

/**
 * Obeys robots.txt. One fetch an origin; requests that come meanwhile wait for it. A file that cannot be had
 * with a 4xx allows everything, a 5xx or a broken connection nothing until it can be read (RFC 9309 §2.3.1): the
 * pages wait in the scheduler while it is asked for `ROBOTSTXT_RETRY_TIMES` more. `meta.dontObeyRobotstxt` lets a
 * request pass.
 */
export class RobotsTxtMiddleware implements DownloaderMiddleware {
  static fromCrawler(crawler: Crawler): RobotsTxtMiddleware {
    if (!crawler.settings.get('ROBOTSTXT_OBEY')) throw new NotConfigured();
    return new RobotsTxtMiddleware(crawler);
  }

  readonly #crawler: Crawler;
  readonly #parser: RobotsParserClass;
  readonly #agent: string | null | undefined;
  readonly #defaultAgent: string;
  readonly #maxBytes: number;
  readonly #maxDelay: number;
  readonly #retryTimes: number;
  readonly #retryMs: number;
  readonly #entries = new Map<string, Entry>();

  constructor(crawler: Crawler) {
    const { settings } = crawler;
    this.#crawler = crawler;
    this.#parser = crawler.components.robotsParser ?? RobotsTxt;
    this.#agent = settings.get('ROBOTSTXT_USER_AGENT');
    this.#defaultAgent = settings.get('USER_AGENT');
    this.#maxBytes = settings.get('ROBOTSTXT_MAX_SIZE') || maxDownload;
    this.#maxDelay = settings.get('ROBOTSTXT_CRAWL_DELAY_MAX');
    this.#retryTimes = settings.get('ROBOTSTXT_RETRY_TIMES');
    this.#retryMs = settings.get('ROBOTSTXT_RETRY_DELAY') * 1000;
  }

  /** @throws IgnoreRequest when robots.txt forbids it. */
  processRequest(request: Request): MaybePromise<Request | undefined> {
    if (request.meta.dontObeyRobotstxt || !request.url.startsWith('http')) return undefined;
    const origin = originOf(request.url);
    const known = this.#entries.get(origin);
    if (known?.verdict !== undefined && known.expiresAt > performance.now()) {
      return this.#follow(known, origin, request);
    }
    const entry = known?.pending ? known : this.#fetch(origin, request);
    return entry.pending!.then(
      () =>
        this.#follow(entry, origin, request) ??
        (this.#isEarly(request) ? this.#crawler.engine?.postpone(request) : undefined),
    );
  }

  #follow(entry: Entry, origin: string, request: Request): Request | undefined {
    this.#keepFloor(entry.floor, origin, request);
    if (entry.isHeld) return this.#hold(entry, request);
    return this.#obey(entry.verdict!, request);
  }

  /** Until the file is asked for again: the copy waits in the scheduler, through a stop and a resumed job too. */
  #hold(entry: Entry, request: Request): Request {
    this.#crawler.stats.inc('robotstxt/held_count');
    const wait = Math.max(0, entry.expiresAt - performance.now());
    return request.replace({ dontFilter: true, notBefore: Date.now() + Math.ceil(wait) + 1 });
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
    const entry: Entry = {
      verdict: undefined,
      pending: undefined,
      failures: last?.failures ?? 0,
      isHeld: false,
      expiresAt: 0,
      floor: 0,
    };
    entry.pending = this.#download(origin, request).then((verdict) => {
      const kept = verdict instanceof Error ? known : undefined;
      const wait = verdict instanceof Error ? this.#failed(entry, verdict, origin, kept) : dayMs;
      if (!(verdict instanceof Error)) entry.failures = 0;
      entry.expiresAt = performance.now() + wait;
      entry.pending = undefined;
      entry.floor = kept?.floor ?? this.#floorOf(verdict, request, origin);
      return (entry.verdict = kept?.verdict ?? verdict);
    });
    this.#entries.delete(origin);
    this.#entries.set(origin, entry);
    if (this.#entries.size > maxOrigins) this.#evict();
    return entry;
  }

  /** @returns Milliseconds until the file may be asked for again. */
  #failed(entry: Entry, error: Error, origin: string, kept: Entry | undefined): number {
    const tries = entry.failures++;
    entry.isHeld = kept === undefined && tries < this.#retryTimes && isPassing(error);
    const wait = entry.isHeld ? this.#retryMs * 2 ** tries : retryMs;
    const then =
      kept !== undefined
        ? 'the rules it had hold'
        : entry.isHeld
          ? 'its pages wait'
          : 'nothing of it is fetched';
    const { log } = this.#crawler;
    const text = `${error.message}: ${then} for ${wait / 1000} s (robots.txt of ${origin}, RFC 9309 2.3.1.4).`;
    if (error instanceof IgnoreRequest) log.warn(`${text} ROBOTSTXT_OBEY=false would not wait.`);
    // Pages that are not held fail with the same error, and tell.
    else if (entry.isHeld) log.info(text);
    else log.debug(text);
    return wait;
  }

  #evict(): void {
    for (const [origin, entry] of this.#entries) {
      if (entry.pending) continue;
      this.#entries.delete(origin);
      return;
    }
  }

  /** Never rejects: every outcome is a verdict. */
  async #download(origin: string, cause: Request): Promise<Verdict> {
    const { engine, stats } = this.#crawler;
    const { proxy, downloadSlot } = cause.meta;
    const request = new Request(`${origin}/robots.txt`, {
      dontFilter: true,
      priority: 1000,
      meta: {
        dontObeyRobotstxt: true,
        allowOffsite: true,
        downloadMaxsize: this.#maxBytes,
        downloadTruncate: true,
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
      return error instanceof Control ? 'no rules' : error;
    } finally {
      stats.inc('robotstxt/request_count');
    }
  }

  async #read(response: Response, request: Request, origin: string): Promise<Verdict> {
    const { status } = response;
    if (status >= 500) {
      return new IgnoreRequest(`robots.txt of ${origin} answers with status ${status}`, 'robots');
    }
    if (status < 200 || status >= 300) return 'no rules';
    let { body } = response;
    if (response.flags.includes('truncated')) {
      // What is shorter was damaged on its way.
      if (body.length === this.#maxBytes) this.#tooLong(origin);
      // Half of a rule might forbid or allow more than all of it.
      body = body.subarray(0, body.lastIndexOf('\n') + 1);
    }
    const robotparser = new this.#parser(body);
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

  #delayFor(robots: RobotsParser, request: Request): number {
    const agent = this.#agentOf(request);
    return Math.max(robots.crawlDelay?.(agent) ?? 0, robots.requestGap?.(agent) ?? 0);
  }

  #agentOf(request: Request): string {
    const own = request.hasHeaders ? request.headers.get('user-agent') : undefined;
    return this.#agent || own || this.#defaultAgent;
  }

  #tooLong(origin: string): void {
    this.#crawler.stats.inc('security/blocked/ROBOTSTXT_MAX_SIZE');
    this.#crawler.log.warn(
      `robots.txt of ${origin} is longer than ${this.#maxBytes} bytes; the rest is not read (ROBOTSTXT_MAX_SIZE).`,
    );
  }
}

/** It may be there a little later. A name that does not exist will not, nor what we do not visit. */
function isPassing(error: Error): boolean {
  if (error instanceof IgnoreRequest) return true;
  if (error instanceof DownloadCancelledError || error instanceof UnsupportedUrlSchemeError)
    return false;
  if (error instanceof CannotResolveHostError)
    return (error.cause as { code?: string } | undefined)?.code !== 'ENOTFOUND';
  return error instanceof DownloadError;
}
