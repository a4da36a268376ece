import type { Crawler } from '../../crawler/crawler.ts';
import { IgnoreRequest } from '../../errors.ts';
import type { Request } from '../../http/request.ts';
import { hostOf, originOf } from '../../http/url.ts';
import type { DownloaderMiddleware } from '../middleware.ts';

/** Hosts whose verdict is remembered. */
const maxHosts = 10_000;

/**
 * Keeps the crawl on `spider.allowedDomains` and what lies below them. It looks when a request is
 * scheduled and again when it is made, which is how redirects are caught. Requests with `dontFilter` or
 * `meta.allowOffsite` pass. The list may change while the crawl runs.
 */
export class OffsiteMiddleware implements DownloaderMiddleware {
  static fromCrawler(crawler: Crawler): OffsiteMiddleware {
    return new OffsiteMiddleware(crawler);
  }

  readonly #crawler: Crawler;
  /** The list that `#domains` and `#verdicts` were made from. */
  #source: readonly string[] = [];
  #domains = new Set<string>();
  #verdicts = new Map<string, boolean>();
  /** `scheme://host/` of the last URL that was allowed: the next is often of the same site. */
  #allowed = '\0';
  readonly #refused = new Set<string>();
  readonly #warned = new Set<string>();

  constructor(crawler: Crawler) {
    this.#crawler = crawler;
    crawler.signals.connect('request_scheduled', ({ request }) => this.processRequest(request));
  }

  /** @throws IgnoreRequest for a request to another site. */
  processRequest(request: Request): undefined {
    const domains = this.#crawler.spider.allowedDomains;
    if (domains === undefined || domains === null || domains.length === 0) return;
    if (request.dontFilter || request.meta.allowOffsite) return;
    if (!isSame(domains, this.#source)) this.#take(domains);
    const { url } = request;
    if (url.startsWith(this.#allowed)) return;
    const host = hostOf(url);
    if (!this.#isAllowed(host) && !url.startsWith('data:')) this.#refuse(host);
    this.#allowed = `${originOf(url)}/`;
  }

  #isAllowed(host: string): boolean {
    const known = this.#verdicts.get(host);
    if (known !== undefined) return known;
    const verdict = isUnderAny(host, this.#domains);
    if (this.#verdicts.size >= maxHosts) this.#verdicts.clear();
    this.#verdicts.set(host, verdict);
    return verdict;
  }

  #refuse(host: string): never {
    const { stats, log } = this.#crawler;
    if (!this.#refused.has(host) && this.#refused.size < maxHosts) {
      this.#refused.add(host);
      stats.inc('offsite/domains');
      log.debug(`Filtered offsite request to ${host}: it is not under allowedDomains`);
    }
    stats.inc('offsite/filtered');
    throw new IgnoreRequest(
      `${host || 'a URL without host'} is not under allowedDomains`,
      'offsite',
    );
  }

  #take(domains: readonly string[]): void {
    this.#source = [...domains];
    this.#verdicts.clear();
    this.#allowed = '\0';
    this.#domains = new Set();
    for (const entry of domains) {
      const domain = this.#domainOf(entry);
      if (domain) this.#domains.add(domain);
    }
  }

  /** The host that an entry means; a word of warning if it is written in another way. */
  #domainOf(entry: string): string | undefined {
    const text = String(entry ?? '').trim();
    const name = text.replace(/^\*?\./, '').toLowerCase();
    if (/^[a-z0-9_][a-z0-9._-]*$/.test(name)) return name.replace(/\.$/, '');
    const bare = /^[a-z][a-z0-9+.-]*:\/\//i.test(text)
      ? text
      : `http://${text.replace(/^\/+/, '')}`;
    const host = text === '' ? undefined : URL.parse(bare)?.hostname;
    const isName = host && /[^\0-\x7f]/.test(text) && !/[:/]/.test(text);
    if (!isName && !this.#warned.has(text)) {
      this.#warned.add(text);
      this.#crawler.log.warn(
        `allowedDomains takes host names, not ${JSON.stringify(entry)}. ${
          host ? `Write ${JSON.stringify(host)}; it is taken as that.` : 'It is left out.'
        }`,
      );
    }
    return host;
  }
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/** True if `host` or a domain above it is in the set. */
function isUnderAny(host: string, domains: ReadonlySet<string>): boolean {
  let rest = host.endsWith('.') ? host.slice(0, -1) : host;
  for (;;) {
    if (domains.has(rest)) return true;
    const dot = rest.indexOf('.');
    if (dot < 0) return false;
    rest = rest.slice(dot + 1);
  }
}
