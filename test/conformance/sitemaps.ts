import { gunzipSync } from 'node:zlib';

import { readSitemap } from 'lycosa';

import { decode, detectEncoding } from '../../packages/core/src/http/encoding.ts';
import { sitemapUrlsFromRobots } from '../../packages/core/src/spider/sitemap.ts';
import { bytesOf, type Data, type Judge, same } from './vectors.ts';

export const sitemapJudges: Readonly<Record<string, Judge>> = {
  sitemaps({ fn, xml, body, expect, scrapy_says: says, url = 'http://example.com/robots.txt' }) {
    const text = textOf(xml ?? body);
    if (fn === 'sitemap_urls_from_robots')
      return same(
        sitemapUrlsFromRobots(text, url),
        (expect as string[]).map((one) => URL.parse(one)?.href),
      );
    const found = readSitemap(text);
    if (fn === 'sitemap') return same(sorted(found), sorted(expect));
    const locs = found.entries.map(({ loc }) => loc);
    // Where the peer finds nothing, or reads no such file, to find more is welcome.
    if (says.error || says.locs.length === 0)
      return says.error ? true : same(found.type, says.type);
    return same({ type: found.type, locs }, says);
  },
};

function textOf(value: Data): string {
  if (typeof value === 'string') return value;
  const bytes = bytesOf(value);
  const plain = bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes) : bytes;
  return decode(plain, detectEncoding(plain, undefined));
}

/** The order of an entry's elements says nothing. */
function sorted({ type, entries }: Data): unknown {
  const pairs = (entry: Data): unknown =>
    Object.entries<unknown>(entry).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return { type, entries: entries.map(pairs) };
}
