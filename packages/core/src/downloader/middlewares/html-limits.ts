import type { Crawler } from '../../crawler/crawler.ts';
import type { Request } from '../../http/request.ts';
import type { Response } from '../../http/response.ts';
import type { LimitName, TreeLimits } from '../../selector/limits.ts';
import type { DownloaderMiddleware } from '../middleware.ts';

/** Gives pages the limits of `HTML_MAX_DEPTH`, `HTML_MAX_NODES` and `PARSE_TIMEOUT`, and tells when one is met. */
export class HtmlLimitsMiddleware implements DownloaderMiddleware {
  static fromCrawler(crawler: Crawler): HtmlLimitsMiddleware {
    return new HtmlLimitsMiddleware(crawler);
  }

  readonly #crawler: Crawler;
  readonly #limits: Omit<TreeLimits, 'onLimit'>;
  readonly #told = new Set<LimitName>();

  constructor(crawler: Crawler) {
    const { settings } = crawler;
    this.#crawler = crawler;
    this.#limits = {
      depth: settings.get('HTML_MAX_DEPTH') || Infinity,
      nodes: settings.get('HTML_MAX_NODES') || Infinity,
      timeMs: settings.get('PARSE_TIMEOUT') * 1000 || Infinity,
    };
  }

  processResponse(_: Request, response: Response): Response {
    if (response.isText) {
      const { url } = response;
      response.treeLimits = { ...this.#limits, onLimit: (name) => this.#met(name, url) };
    }
    return response;
  }

  #met(name: LimitName, url: string): void {
    const { stats, log, settings } = this.#crawler;
    stats.inc(`security/blocked/${name}`);
    if (this.#told.has(name)) return;
    this.#told.add(name);
    log.warn(
      `${url} ${meaning[name]} (${name}: ${settings.get(name)}). Further ones are counted only.`,
    );
  }
}

const meaning: Readonly<Record<LimitName, string>> = {
  HTML_MAX_DEPTH: 'nests deeper than pages may: its deepest elements stand side by side',
  HTML_MAX_NODES: 'has more in it than pages may: the rest of it is left out',
  PARSE_TIMEOUT:
    'takes longer to read than pages may: the rest of it, or a query on it, is left out',
};
