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
  /** Name of the root element: `urlset` for pages, `sitemapindex` for other sitemaps; empty for what is no XML. */
  readonly type: string;
  readonly entries: readonly SitemapEntry[];
}

/** Reads a sitemap: XML, with or without prefixes, or one URL a line. Entities of its own are not resolved. */
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

/** Root, entry, element: what lies deeper belongs to extensions (`image:loc`). */
class SitemapReader {
  type = '';
  readonly entries: SitemapEntry[] = [];
  #depth = 0;
  #isCdata = false;
  #text = '';
  #entry = new Map<string, string>();
  #alternate: string[] = [];

  onopentag(name: string, attributes: Record<string, string>): void {
    this.#depth++;
    if (this.#depth === 1 && this.type === '') this.type = localName(name);
    if (this.#depth === 2) {
      this.#entry = new Map();
      this.#alternate = [];
    }
    if (this.#depth !== 3) return;
    this.#text = '';
    const { href } = attributes;
    if (localName(name) === 'link' && href !== undefined) this.#alternate.push(decoded(href));
  }

  ontext(text: string): void {
    if (this.#depth === 3) this.#text += this.#isCdata ? text : decoded(text);
  }

  oncdatastart(): void {
    this.#isCdata = true;
  }

  oncdataend(): void {
    this.#isCdata = false;
  }

  onclosetag(name: string): void {
    if (this.#depth === 3 && localName(name) !== 'link')
      this.#entry.set(localName(name), this.#text.trim());
    if (this.#depth === 2) {
      const loc = this.#entry.get('loc');
      if (loc) {
        const alternate = this.#alternate;
        this.entries.push({
          ...Object.fromEntries(this.#entry),
          loc,
          ...(alternate.length > 0 && { alternate }),
        });
      }
    }
    this.#depth--;
  }
}

/** The `Sitemap:` lines of a robots.txt, as absolute URLs. */
export function sitemapUrlsFromRobots(text: string, url: string): string[] {
  const urls: string[] = [];
  for (const line of text.split(/[\r\n]+/)) {
    const value = /^[\uFEFF\s]*sitemap\s*:\s*(\S.*)$/i.exec(line)?.[1]?.trim();
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
