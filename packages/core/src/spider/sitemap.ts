import { decodeXML } from 'entities';
import { Parser } from 'htmlparser2';

import { resolveUrl } from '../http/url.ts';

/** One entry of a sitemap: the texts of its elements by name, `lastmod` and `priority` among them. */
export interface SitemapEntry {
  readonly loc: string;
  /** The same page in other languages. */
  readonly alternate?: readonly string[];
  readonly [name: string]: string | readonly string[] | undefined;
}

export interface Sitemap {
  /** Name of the root element: `urlset` for pages, as `rss`, `RDF` and `feed`; `sitemapindex` for other sitemaps; empty for what is no XML. */
  readonly type: string;
  readonly entries: readonly SitemapEntry[];
}

/** Reads a sitemap: XML, with or without prefixes, a feed, or one URL a line. Entities of its own are not resolved. */
export function readSitemap(text: string): Sitemap {
  const lines = text
    .replace(/^\uFEFF/, '')
    .trim()
    .split(/[\r\n]+/);
  if (lines.every((line) => /^https?:\/\/\S+$/i.test(line.trim()))) {
    return { type: 'urlset', entries: lines.map((line) => ({ loc: line.trim() })) };
  }
  const reader = new SitemapReader();
  const parser = new Parser(reader, { xmlMode: true, decodeEntities: false });
  parser.end(text);
  return { type: reader.type, entries: reader.entries };
}

/**
 * Root, entry, element: what lies deeper belongs to extensions (`image:loc`). The entries of feeds are pages too:
 * https://www.sitemaps.org/protocol.html#otherformats
 */
class SitemapReader {
  type = '';
  readonly entries: SitemapEntry[] = [];
  #depth = 0;
  /** Of the entry that is being read; 0 outside of one. */
  #entryDepth = 0;
  #isCdata = false;
  #text = '';
  /** What stands in the entry itself. */
  #bare = '';
  #entry = new Map<string, string>();
  #alternate: string[] = [];

  onopentag(name: string, attributes: Record<string, string>): void {
    this.#depth++;
    const local = localName(name);
    if (this.#depth === 1 && this.type === '') this.type = local;
    if (this.#entryDepth === 0 && this.#isEntry(local)) {
      this.#entryDepth = this.#depth;
      this.#entry = new Map();
      this.#alternate = [];
      this.#bare = '';
    } else if (this.#isElement) {
      this.#text = '';
      if (local === 'link') this.#link(attributes);
    }
  }

  get #isElement(): boolean {
    return this.#entryDepth > 0 && this.#depth === this.#entryDepth + 1;
  }

  #isEntry(local: string): boolean {
    if (this.type === 'feed') return local === 'entry';
    if (this.type === 'rss' || this.type === 'RDF') return local === 'item';
    return this.#depth === 2;
  }

  #link({ href, rel = 'alternate' }: Record<string, string>): void {
    if (href === undefined) return;
    if (this.type !== 'feed') this.#alternate.push(decoded(href));
    else if (rel === 'alternate' && !this.#entry.has('loc')) this.#entry.set('loc', decoded(href));
  }

  ontext(text: string): void {
    const read = this.#isCdata ? text : decoded(text);
    if (this.#isElement) this.#text += read;
    else if (this.#entryDepth > 0 && this.#depth === this.#entryDepth) this.#bare += read;
  }

  oncdatastart(): void {
    this.#isCdata = true;
  }

  oncdataend(): void {
    this.#isCdata = false;
  }

  onclosetag(name: string): void {
    const local = localName(name);
    if (this.#isElement) {
      const text = this.#text.trim();
      if (local !== 'link') this.#entry.set(local, text);
      // In RSS the link is the page; elsewhere it is empty.
      else if (text !== '' && !this.#entry.has('loc')) this.#entry.set('loc', text);
    }
    if (this.#entryDepth > 0 && this.#depth === this.#entryDepth) this.#close();
    this.#depth--;
  }

  #close(): void {
    this.#entryDepth = 0;
    const bare = this.#bare.trim();
    // Some write the address without its element.
    const loc = this.#entry.get('loc') || (/^https?:\/\/\S+$/i.test(bare) ? bare : '');
    const alternate = this.#alternate;
    if (loc)
      this.entries.push({
        ...Object.fromEntries(this.#entry),
        loc,
        ...(alternate.length > 0 && { alternate }),
      });
  }
}

/** The `Sitemap:` lines of a robots.txt, as absolute URLs. */
export function sitemapUrlsFromRobots(text: string, url: string): string[] {
  const urls: string[] = [];
  for (const line of text.split(/[\r\n]+/)) {
    const value = /^[\uFEFF\s]*sitemap\s*:\s*([^\s#][^#]*)/i.exec(line)?.[1]?.trim();
    const resolved = value === undefined ? undefined : resolveUrl(value, url);
    if (resolved !== undefined) urls.push(resolved);
  }
  return urls;
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

/** XML's five entities and characters by number; others would have to be looked up in what the server wrote. */
function decoded(text: string): string {
  return text.replace(/&(#x?[0-9a-f]+|\w+);/gi, (entity, name: string) =>
    name.startsWith('#') || /^(?:amp|lt|gt|quot|apos)$/.test(name) ? decodeXML(entity) : '',
  );
}
