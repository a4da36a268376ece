import { createRequire } from 'node:module';

import { type AnyNode, type Element, isTag } from 'domhandler';
import type * as ToughCookie from 'tough-cookie';

import { canonicalizeUrl } from '../http/fingerprint.ts';
import type { Response } from '../http/response.ts';
import { detach, hostOf, isUnder, originOf, resolveUrl, trimHtml } from '../http/url.ts';
import { nextNode, textBelow } from './walk.ts';

/** A link of a page. */
export interface Link {
  /** Absolute, with its fragment. */
  readonly url: string;
  readonly text: string;
  /** For those who take it off the URL; empty as `LinkExtractor` gives it. */
  readonly fragment: string;
  readonly nofollow: boolean;
}

type Texts = string | readonly string[];
type Patterns = RegExp | string | readonly (RegExp | string)[];

export interface LinkExtractorOptions {
  /** Searched in the absolute URL; one must match. */
  readonly allow?: Patterns;
  /** None may match. */
  readonly deny?: Patterns;
  /** Hosts, with everything below them. */
  readonly allowDomains?: Texts;
  readonly denyDomains?: Texts;
  /** Extensions of the path that are left out; archives, images, media, office files and programs by default. */
  readonly denyExtensions?: Texts;
  /** Only links inside of what these selectors find. */
  readonly restrictCss?: Texts;
  /** The same by XPath. */
  readonly restrictXpaths?: Texts;
  /** The text of the link must match one. */
  readonly restrictText?: Patterns;
  /** Elements that are links, `*` for all; `['a', 'area']` by default. */
  readonly tags?: Texts;
  readonly denyTags?: Texts;
  /** Attributes that hold the URL, `*` for all; `['href']` by default. */
  readonly attrs?: Texts;
  readonly denyAttrs?: Texts;
  /** Gives URLs in canonical form, without their fragments. */
  readonly canonicalize?: boolean;
  /** False gives repeats too. */
  readonly unique?: boolean;
  /** False leaves white space round a value for `processValue` to see. */
  readonly strip?: boolean;
  /** Changes each raw value; null or undefined drops it. */
  readonly processValue?: (value: string) => string | null | undefined;
  /** Which of the page's neighbours are taken; all by default. `same-domain`: under one domain that one can register. */
  readonly strategy?: 'all' | 'same-hostname' | 'same-origin' | 'same-domain';
}

const ignoredExtensions: readonly string[] = [
  // archives and disk images
  '7z 7zip bz2 rar tar tar.gz gz tgz xz zip zst iso dmg img cab',
  // images and drawings
  'mng pct bmp gif jpg jpeg png pst psp image tif tiff ai drw dxf eps ps svg cdr ico webp avif heic',
  // audio and video
  'mp3 wma ogg oga wav ra aac mid au aiff flac opus m4a 3gp asf asx avi mov mp4 mpg mpeg qt rm swf flv wmv m4v webm mkv ogv',
  // office documents
  'xls xlsm xlsx xltm xltx potm potx ppt pptm pptx pps doc docb docm docx dotm dotx odt ods odg odp pdf epub mobi',
  // programs, fonts and what pages are made of
  'css js exe bin msi msp apk jar deb rpm bat cpl hta py rb sh rss woff woff2 ttf otf eot',
].flatMap((line) => line.split(' '));

const schemes = /^(?:https?|file|ftp):/;
const nofollow = /(?:^|[\s,])nofollow(?:[\s,]|$)/i;

/** Characters of a link's text that are kept: where links stand inside of links, each would hold the page. */
const mostText = 10_000;

/** Finds the links of a page. */
export class LinkExtractor {
  readonly #allow: readonly RegExp[];
  readonly #deny: readonly RegExp[];
  readonly #allowDomains: readonly string[];
  readonly #denyDomains: readonly string[];
  readonly #denyExtensions: ReadonlySet<string>;
  readonly #restrictCss: string | undefined;
  readonly #restrictXpaths: readonly string[];
  readonly #restrictText: readonly RegExp[];
  readonly #tags: Names;
  readonly #attrs: Names;
  readonly #options: LinkExtractorOptions;
  #skipped = 0;

  constructor(options: LinkExtractorOptions = {}) {
    this.#options = options;
    this.#allow = patterns(options.allow);
    this.#deny = patterns(options.deny);
    this.#allowDomains = list(options.allowDomains).map(lowerCase);
    this.#denyDomains = list(options.denyDomains).map(lowerCase);
    this.#denyExtensions = new Set(
      list(options.denyExtensions ?? ignoredExtensions).map((one) =>
        lowerCase(one.replace(/^\./, '')),
      ),
    );
    this.#restrictCss = list(options.restrictCss).join(',') || undefined;
    this.#restrictXpaths = list(options.restrictXpaths);
    this.#restrictText = patterns(options.restrictText);
    this.#tags = new Names(options.tags ?? ['a', 'area'], options.denyTags);
    this.#attrs = new Names(options.attrs ?? 'href', options.denyAttrs);
  }

  /** Values seen so far that looked like links and were no URLs. */
  get skipped(): number {
    return this.#skipped;
  }

  /** The links, in the order of the page; what is no URL is skipped. */
  extractLinks(response: Response): Link[] {
    const { unique = true } = this.#options;
    const links: Link[] = [];
    const seen = new Set<string>();
    for (const anchor of this.#anchors(response)) {
      for (const name of this.#attrs.of(anchor.attribs)) {
        const found = this.#urlOf(anchor.attribs[name]!, response);
        if (found === undefined || seen.has(found)) continue;
        const { canonicalize = false } = this.#options;
        const url = canonicalize ? canonicalizeUrl(found) : found;
        const key = canonicalize ? url : canonicalizeUrl(found, true);
        if (seen.has(key) || !this.#wants(url, response.url)) continue;
        const text = textBelow(anchor, mostText);
        if (this.#restrictText.length > 0 && !some(this.#restrictText, text)) continue;
        if (unique) seen.add(key).add(found);
        const isNofollow = nofollow.test(anchor.attribs.rel ?? '');
        links.push({ url: detach(url), text: detach(text), fragment: '', nofollow: isNofollow });
      }
    }
    return links;
  }

  /** True if a link to `url` would be taken. */
  matches(url: string): boolean {
    return this.#wants(url, undefined);
  }

  #urlOf(raw: string, response: Response): string | undefined {
    const { processValue, strip = true } = this.#options;
    const stripped = strip ? trimHtml(raw) : raw;
    const value = processValue ? processValue(stripped) : stripped;
    if (value === null || value === undefined) return undefined;
    const url = resolveUrl(value, response.baseUrl, response);
    if (url === undefined) this.#skipped++;
    return url !== undefined && schemes.test(url) ? url : undefined;
  }

  /** The elements that may be links, each once. */
  #anchors(response: Response): Element[] {
    if (!response.isText) return [];
    const anchors = new Set<Element>();
    for (const region of this.#regions(response)) {
      if (region === undefined) continue;
      for (let node: AnyNode | null = region; node !== null; node = nextNode(node, region)) {
        if (isTag(node) && this.#tags.has(node.name)) anchors.add(node);
      }
    }
    return [...anchors];
  }

  /** Where links are looked for. */
  #regions(response: Response): (AnyNode | undefined)[] {
    if (this.#restrictCss === undefined && this.#restrictXpaths.length === 0)
      return [response.tree];
    const regions = this.#restrictXpaths.flatMap((query) => [...response.xpath(query)]);
    if (this.#restrictCss !== undefined) regions.push(...response.css(this.#restrictCss));
    return regions.map((region) => region.node);
  }

  #wants(url: string, page: string | undefined): boolean {
    if (this.#allow.length > 0 && !some(this.#allow, url)) return false;
    if (some(this.#deny, url)) return false;
    if (this.#allowDomains.length > 0 && !isUnderAny(url, this.#allowDomains)) return false;
    if (this.#denyDomains.length > 0 && isUnderAny(url, this.#denyDomains)) return false;
    return (page === undefined || this.#isNeighbour(url, page)) && !this.#isDeniedExtension(url);
  }

  #isDeniedExtension(url: string): boolean {
    const end = url.search(/[?#]/);
    const name = url.slice(
      url.lastIndexOf('/', end < 0 ? url.length : end) + 1,
      end < 0 ? undefined : end,
    );
    // Every ending counts: of `a.tar.gz` both `tar.gz` and `gz`.
    for (let dot = name.indexOf('.'); dot >= 0; dot = name.indexOf('.', dot + 1)) {
      if (this.#denyExtensions.has(lowerCase(name.slice(dot + 1)))) return true;
    }
    return false;
  }

  #isNeighbour(url: string, page: string): boolean {
    switch (this.#options.strategy) {
      case 'same-hostname':
        return hostOf(url) === hostOf(page);
      case 'same-origin':
        return originOf(url) === originOf(page);
      case 'same-domain':
        return domainOf(hostOf(url)) === domainOf(hostOf(page));
      case 'all':
      case undefined:
        return true;
    }
  }
}

/** Names of elements or attributes; all with `*`, but for the denied. */
class Names {
  /** Undefined for all. */
  readonly #names: ReadonlySet<string> | undefined;
  readonly #denied: ReadonlySet<string>;

  constructor(names: Texts, denied: Texts | undefined) {
    this.#denied = new Set(list(denied));
    const wanted = list(names);
    this.#names = wanted.includes('*')
      ? undefined
      : new Set(wanted.filter((name) => !this.#denied.has(name)));
  }

  has(name: string): boolean {
    return this.#names === undefined ? !this.#denied.has(name) : this.#names.has(name);
  }

  /** Those of them that `attributes` has. */
  of(attributes: Readonly<Record<string, string>>): string[] {
    if (this.#names === undefined) return Object.keys(attributes).filter((name) => this.has(name));
    const found: string[] = [];
    for (const name of this.#names) if (Object.hasOwn(attributes, name)) found.push(name);
    return found;
  }
}

const requireHere = createRequire(import.meta.url);
let library: typeof ToughCookie | undefined;

/** The part of a host that one can register, by the Public Suffix List; undefined where there is none. */
export function registrableDomain(host: string): string | undefined {
  if (host.startsWith('.')) return undefined;
  library ??= requireHere('tough-cookie') as typeof ToughCookie;
  const options = { allowSpecialUseDomain: true, ignoreError: true };
  return library.getPublicSuffix(host, options) ?? undefined;
}

function domainOf(host: string): string {
  return registrableDomain(host) ?? host;
}

function isUnderAny(url: string, domains: readonly string[]): boolean {
  const host = hostOf(url);
  return domains.some((domain) => isUnder(host, domain));
}

function lowerCase(text: string): string {
  return text.toLowerCase();
}

function list(value: Texts | undefined): readonly string[] {
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
