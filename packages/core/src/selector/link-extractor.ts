import type { AnyNode, Element } from 'domhandler';
import { isTag, textContent } from 'domutils';

import { canonicalizeUrl } from '../http/fingerprint.ts';
import type { Response } from '../http/response.ts';
import { detach, hostOf, isUnder, originOf, resolveUrl } from '../http/url.ts';
import { compileQuery, type Found, runQuery } from './query.ts';

/** A link of a page. */
export interface Link {
  /** Absolute, without its fragment. */
  readonly url: string;
  readonly text: string;
  /** Without the `#`; empty if there was none. */
  readonly fragment: string;
  readonly nofollow: boolean;
}

type Patterns = RegExp | string | readonly (RegExp | string)[];

export interface LinkExtractorOptions {
  /** Searched in the absolute URL; one must match. */
  readonly allow?: Patterns;
  /** None may match. */
  readonly deny?: Patterns;
  /** Hosts, with everything below them. */
  readonly allowDomains?: string | readonly string[];
  readonly denyDomains?: string | readonly string[];
  /** Extensions without dot; archives, images, media, office files and programs by default. */
  readonly denyExtensions?: readonly string[];
  /** Only links inside what these selectors find. */
  readonly restrictCss?: string | readonly string[];
  /** The text of the link must match one. */
  readonly restrictText?: Patterns;
  /** `['a', 'area']` by default. */
  readonly tags?: readonly string[];
  /** `['href']` by default. */
  readonly attrs?: readonly string[];
  /** Gives URLs in canonical form. */
  readonly canonicalize?: boolean;
  /** False gives repeats too. */
  readonly unique?: boolean;
  /** Changes each raw value; null or undefined drops it. */
  readonly processValue?: (value: string) => string | null | undefined;
  /** Which of the page's neighbours are taken; all by default. */
  readonly strategy?: 'all' | 'same-hostname' | 'same-origin' | 'same-domain';
}

/** Archives, images, audio, video, office documents, programs. */
const ignoredExtensions: readonly string[] =
  '7z 7zip bz2 rar tar gz tgz xz zip zst mng pct bmp gif jpg jpeg png pst psp image tif tiff ai drw dxf eps ps svg cdr ico webp avif heic mp3 wma ogg wav ra aac mid au aiff flac opus m4a 3gp asf asx avi mov mp4 mpg qt rm swf wmv m4v webm mkv flv ts xls xlsx ppt pptx pps doc docx odt ods odg odp css pdf exe bin rss dmg iso apk jar deb rpm msi xml woff woff2 ttf otf eot'
    .split(' ')
    .filter((extension) => extension !== 'xml');

const schemes = /^(?:https?|file|ftp):/;

/** Finds the links of a page. */
export class LinkExtractor {
  readonly #allow: readonly RegExp[];
  readonly #deny: readonly RegExp[];
  readonly #allowDomains: readonly string[];
  readonly #denyDomains: readonly string[];
  readonly #denyExtensions: ReadonlySet<string>;
  readonly #restrictCss: readonly string[];
  readonly #restrictText: readonly RegExp[];
  readonly #query: string;
  readonly #attrs: readonly string[];
  readonly #options: LinkExtractorOptions;

  constructor(options: LinkExtractorOptions = {}) {
    this.#options = options;
    this.#allow = patterns(options.allow);
    this.#deny = patterns(options.deny);
    this.#allowDomains = list(options.allowDomains);
    this.#denyDomains = list(options.denyDomains);
    this.#denyExtensions = new Set(
      (options.denyExtensions ?? ignoredExtensions).map((one) =>
        one.replace(/^\./, '').toLowerCase(),
      ),
    );
    this.#restrictCss = list(options.restrictCss);
    this.#restrictText = patterns(options.restrictText);
    this.#query = (options.tags ?? ['a', 'area']).join(',');
    this.#attrs = options.attrs ?? ['href'];
  }

  /** The links, in the order of the page; what is no URL is skipped. */
  extractLinks(response: Response): Link[] {
    const { unique = true, canonicalize = false, processValue } = this.#options;
    const base = response.baseUrl;
    const links: Link[] = [];
    const seen = new Set<string>();
    for (const element of this.#elements(response)) {
      for (const attribute of this.#attrs) {
        const raw = element.attribs[attribute];
        if (raw === undefined) continue;
        const value = processValue ? processValue(raw) : raw;
        if (value === null || value === undefined) continue;
        const resolved = resolveUrl(value.trim(), base);
        if (resolved === undefined || !schemes.test(resolved)) continue;
        const hash = resolved.indexOf('#');
        const bare = hash < 0 ? resolved : resolved.slice(0, hash);
        const url = canonicalize ? canonicalizeUrl(resolved) : bare;
        if (unique && seen.has(url)) continue;
        if (!this.#wants(url, response.url)) continue;
        const text = textContent(element);
        if (this.#restrictText.length > 0 && !some(this.#restrictText, text)) continue;
        seen.add(url);
        links.push({
          url: detach(url),
          text: detach(text),
          fragment: hash < 0 ? '' : detach(resolved.slice(hash + 1)),
          nofollow: /(?:^|\s)nofollow(?:\s|$)/i.test(element.attribs.rel ?? ''),
        });
      }
    }
    return links;
  }

  /** True if a link to `url` would be taken. */
  matches(url: string): boolean {
    return this.#wants(url, undefined);
  }

  #elements(response: Response): Element[] {
    if (!response.isText) return [];
    const found: Found[] = [];
    const query = compileQuery(this.#query);
    if (this.#restrictCss.length === 0) {
      runQuery(query, response.tree, found);
    } else {
      for (const region of response.css(this.#restrictCss.join(',')))
        runQuery(query, region.node as AnyNode, found);
    }
    return [...new Set(found)].filter(
      (one): one is Element => typeof one !== 'string' && isTag(one),
    );
  }

  #wants(url: string, page: string | undefined): boolean {
    if (this.#allow.length > 0 && !some(this.#allow, url)) return false;
    if (this.#deny.length > 0 && some(this.#deny, url)) return false;
    const host = hostOf(url);
    if (
      this.#allowDomains.length > 0 &&
      !this.#allowDomains.some((domain) => isUnder(host, domain))
    )
      return false;
    if (this.#denyDomains.some((domain) => isUnder(host, domain))) return false;
    if (page !== undefined && !this.#isNeighbour(url, host, page)) return false;
    const path = url.replace(/[?#].*$/, '');
    const dot = path.lastIndexOf('.');
    return (
      dot < path.lastIndexOf('/') || !this.#denyExtensions.has(path.slice(dot + 1).toLowerCase())
    );
  }

  #isNeighbour(url: string, host: string, page: string): boolean {
    switch (this.#options.strategy) {
      case 'same-hostname':
        return host === hostOf(page);
      case 'same-origin':
        return originOf(url) === originOf(page);
      case 'same-domain': {
        const own = hostOf(page);
        return isUnder(host, own) || isUnder(own, host) || isUnder(host, own.replace(/^www\./, ''));
      }
      case 'all':
      case undefined:
        return true;
    }
  }
}

function list(value: string | readonly string[] | undefined): readonly string[] {
  return value === undefined ? [] : typeof value === 'string' ? [value] : value;
}

/** Without the flags that make a RegExp remember where it was. */
function patterns(value: Patterns | undefined): RegExp[] {
  const all =
    value === undefined
      ? []
      : typeof value === 'string' || value instanceof RegExp
        ? [value]
        : value;
  return all.map((one) =>
    typeof one === 'string'
      ? new RegExp(one)
      : new RegExp(one.source, one.flags.replace(/[gy]/g, '')),
  );
}

function some(regexes: readonly RegExp[], text: string): boolean {
  return regexes.some((regex) => regex.test(text));
}
