import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';

import { decode, detectEncoding } from '../http/encoding.ts';
import { type CallbackRef, Request } from '../http/request.ts';
import type { Response } from '../http/response.ts';
import { resolveUrl } from '../http/url.ts';
import { readSitemap, type SitemapEntry, sitemapUrlsFromRobots } from './sitemap.ts';
import { Spider, type SpiderOutput } from './spider.ts';

const gunzipLater = promisify(gunzip);

/** Crawls the pages that sitemaps list. */
export class SitemapSpider<Item = unknown> extends Spider<Item> {
  /** Where the sitemaps are; of a `/robots.txt`, its `Sitemap:` lines are read. */
  readonly sitemapUrls: readonly string[] = [];
  /** Patterns of page URLs and their callbacks. The first that fits counts; a page that none fits is left out. */
  readonly sitemapRules: readonly (readonly [RegExp | string, CallbackRef])[] = [['', 'parse']];
  /** Patterns of the sitemaps to follow in an index; all by default. */
  readonly sitemapFollow: readonly (RegExp | string)[] = [''];
  /** Crawls pages in other languages too. */
  readonly sitemapAlternateLinks: boolean = false;

  override start(): SpiderOutput<Item> {
    // Not past the duplicate filter: an index may list itself.
    return this.sitemapUrls.map((url) => new Request(url, { callback: this.parseSitemap }));
  }

  /** Which entries are used. Override it to choose by `lastmod` and the like. */
  sitemapFilter(entries: Iterable<SitemapEntry>): Iterable<SitemapEntry> {
    return entries;
  }

  async *parseSitemap(response: Response): AsyncGenerator<Request, void, undefined> {
    const text = await this.#textOf(response);
    if (text === undefined) return;
    if (/^[^?#]*\/robots\.txt(?:[?#]|$)/.test(response.url)) {
      for (const url of sitemapUrlsFromRobots(text, response.url)) {
        yield new Request(url, { callback: this.parseSitemap });
      }
      return;
    }
    const { type, entries } = readSitemap(text);
    if (type === 'sitemapindex') yield* this.#sitemapsOf(entries, response);
    else if (/^(?:urlset|rss|RDF|feed)$/.test(type)) yield* this.#pagesOf(entries, response);
    else this.log.warn(`No sitemap at ${response.url}: ${type ? `<${type}>` : 'not XML'}.`);
  }

  *#sitemapsOf(entries: readonly SitemapEntry[], response: Response): Generator<Request> {
    const depth = Number(response.meta['sitemapDepth'] ?? 0) + 1;
    const maxDepth = this.settings.get('SITEMAP_MAX_DEPTH');
    if (maxDepth > 0 && depth > maxDepth) {
      this.crawler.stats.inc('security/blocked/SITEMAP_MAX_DEPTH');
      this.log.warn(
        `The sitemaps listed at ${response.url} are left out: they are nested deeper than ${maxDepth} (SITEMAP_MAX_DEPTH).`,
      );
      return;
    }
    for (const url of this.#urlsOf(entries, response)) {
      if (this.sitemapFollow.some((pattern) => url.search(pattern) >= 0)) {
        yield new Request(url, { callback: this.parseSitemap, meta: { sitemapDepth: depth } });
      }
    }
  }

  *#pagesOf(entries: readonly SitemapEntry[], response: Response): Generator<Request> {
    for (const url of this.#urlsOf(entries, response)) {
      const rule = this.sitemapRules.find(([pattern]) => url.search(pattern) >= 0);
      if (rule !== undefined) yield new Request(url, { callback: rule[1] });
    }
  }

  /** Links to other schemes are no pages. */
  *#urlsOf(entries: readonly SitemapEntry[], response: Response): Generator<string> {
    for (const { loc, alternate = [] } of this.sitemapFilter(entries)) {
      for (const link of this.sitemapAlternateLinks ? [loc, ...alternate] : [loc]) {
        const url = resolveUrl(link, response.url);
        if (url !== undefined && /^https?:/.test(url)) yield url;
      }
    }
  }

  /** Undefined where it is too large or damaged. */
  async #textOf(response: Response): Promise<string | undefined> {
    const limit = this.settings.get('SITEMAP_MAX_SIZE');
    let { body } = response;
    const isGzip = body[0] === 0x1f && body[1] === 0x8b;
    try {
      if (isGzip) body = await gunzipLater(body, limit > 0 ? { maxOutputLength: limit } : {});
    } catch (thrown) {
      if ((thrown as { code?: string }).code !== 'ERR_BUFFER_TOO_LARGE') {
        this.log.warn(`The sitemap ${response.url} is damaged: ${(thrown as Error).message}.`);
        return undefined;
      }
      body = Buffer.alloc(limit + 1);
    }
    if (limit > 0 && body.length > limit) {
      this.crawler.stats.inc('security/blocked/SITEMAP_MAX_SIZE');
      this.log.warn(
        `The sitemap ${response.url} is left out: it has more than ${limit} bytes (SITEMAP_MAX_SIZE).`,
      );
      return undefined;
    }
    if (response.isText && !isGzip) return response.text;
    return decode(body, detectEncoding(body, undefined));
  }
}
