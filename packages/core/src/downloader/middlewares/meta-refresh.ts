import type { Crawler } from '../../crawler/crawler.ts';
import { NotConfigured } from '../../errors.ts';
import type { Request } from '../../http/request.ts';
import { HtmlResponse } from '../../http/response-types.ts';
import type { Response } from '../../http/response.ts';
import { resolveUrl } from '../../http/url.ts';
import type { DownloaderMiddleware } from '../middleware.ts';
import { Redirector } from './redirect-request.ts';

/** Characters of a page that are searched, as in Scrapy: a refresh stands in the head. */
const searched = 4096;

/** Follows `<meta http-equiv="refresh">` where its delay is below `METAREFRESH_MAXDELAY`. */
export class MetaRefreshMiddleware implements DownloaderMiddleware {
  static fromCrawler(crawler: Crawler): MetaRefreshMiddleware {
    if (!crawler.settings.get('METAREFRESH_ENABLED')) throw new NotConfigured();
    return new MetaRefreshMiddleware(crawler);
  }

  readonly #redirector: Redirector;
  readonly #maxDelay: number;
  readonly #ignoreTags: readonly string[];

  constructor(crawler: Crawler) {
    const { settings } = crawler;
    this.#redirector = new Redirector(crawler);
    this.#maxDelay = settings.get('METAREFRESH_MAXDELAY');
    this.#ignoreTags = ['script', ...settings.get('METAREFRESH_IGNORE_TAGS')];
  }

  /** @throws IgnoreRequest after `REDIRECT_MAX_TIMES`. */
  processResponse(request: Request, response: Response): Request | Response {
    if (!(response instanceof HtmlResponse) || request.method === 'HEAD') return response;
    if (request.meta.dontRedirect) return response;
    // A look at the bytes first: few pages have a refresh, and decoding costs.
    if (!/refresh/i.test(response.body.toString('latin1', 0, searched))) {
      return response;
    }
    const refresh = getMetaRefresh(response.text, response.url, this.#ignoreTags, response);
    if (refresh === undefined || refresh.delay >= this.#maxDelay) return response;
    const target = this.#redirector.resolve(refresh.url, response.url);
    if (target === undefined) return response;
    const method = request.method === 'POST' || request.body !== undefined ? 'GET' : request.method;
    return this.#redirector.follow(request, response, target, 'meta refresh', method);
  }
}

/** Where a page sends its reader, and after how many seconds. */
export interface MetaRefresh {
  readonly delay: number;
  /** Absolute, unless it cannot be parsed. */
  readonly url: string;
}

// Alternatives that begin with different characters, and no nesting: linear in the length of the page.
const attribute = /([^\s"'<>/=]+)\s*(?:=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?/g;

/**
 * The first meta refresh with a URL in the first 4096 characters of a page; comments and what lies in
 * `ignoreTags` do not count.
 */
export function getMetaRefresh(
  html: string,
  pageUrl: string,
  ignoreTags: readonly string[] = ['script', 'noscript'],
  page?: { readonly encoding: string },
): MetaRefresh | undefined {
  const text = html.slice(0, searched);
  const lower = text.toLowerCase();
  const ignored = new Set(ignoreTags);
  let base: string | undefined;
  for (let at = text.indexOf('<'); at >= 0; at = text.indexOf('<', at)) {
    if (text.startsWith('<!--', at)) {
      const end = text.indexOf('-->', at + 4);
      if (end < 0) return undefined;
      at = end + 3;
      continue;
    }
    const name = /[a-z][a-z0-9]*/y;
    name.lastIndex = ++at;
    const tag = name.exec(lower)?.[0];
    if (tag === undefined) continue;
    at += tag.length;
    if (ignored.has(tag)) {
      at = lower.indexOf(`</${tag}`, at);
      if (at < 0) return undefined;
      continue;
    }
    if (tag !== 'meta' && tag !== 'base') continue;
    const attributes = attributesOf(text, at);
    if (tag === 'base') base ??= attributes.get('href');
    else if (attributes.get('http-equiv')?.trim().toLowerCase() === 'refresh') {
      const refresh = parseContent(attributes.get('content') ?? '');
      if (refresh === undefined) continue;
      const from = (base && URL.parse(base, pageUrl)?.href) || pageUrl;
      return { delay: refresh.delay, url: resolveUrl(refresh.url, from, page) ?? refresh.url };
    }
  }
  return undefined;
}

/** Names and values of a tag from behind its name to its end, or to the next tag. */
function attributesOf(text: string, start: number): Map<string, string> {
  const found = new Map<string, string>();
  let quote = '';
  let end = start;
  for (; end < text.length; end++) {
    const char = text[end]!;
    if (quote) {
      if (char === quote) quote = '';
    } else if (char === '"' || char === "'") quote = char;
    else if (char === '>' || char === '<') break;
  }
  for (const match of text.slice(start, end).matchAll(attribute)) {
    const name = match[1]!.toLowerCase();
    if (!found.has(name)) found.set(name, decodeEntities(match[2] ?? match[3] ?? match[4] ?? ''));
  }
  return found;
}

const content = /^\s*(\d*(?:\.\d*)?)\s*(?:[;,\s]\s*)(?:url\s*=\s*)?(.*)$/is;

/** `5; url=next.html`, its URL with or without quotes. */
function parseContent(value: string): MetaRefresh | undefined {
  const match = content.exec(value);
  if (!match || match[1] === '' || match[1] === '.') return undefined;
  let url = match[2]!.trim();
  const quote = url[0];
  if (quote === '"' || quote === "'") {
    const end = url.indexOf(quote, 1);
    url = url.slice(1, end < 0 ? undefined : end).trim();
  }
  return url === '' ? undefined : { delay: Number(match[1]), url };
}

const entities: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00a0',
  sol: '/',
  colon: ':',
  semi: ';',
  equals: '=',
};

function decodeEntities(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(
    /&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|([a-z]+));/gi,
    (whole, hex, decimal, name) => {
      if (name !== undefined) return entities[String(name).toLowerCase()] ?? String(whole);
      const code = hex === undefined ? Number(decimal) : parseInt(String(hex), 16);
      return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd';
    },
  );
}
