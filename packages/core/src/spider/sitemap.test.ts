/* oxlint-disable typescript/no-explicit-any -- the vectors have many shapes */
import { existsSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';

import { describe, expect, it, test } from 'vitest';

import { readSitemap, sitemapUrlsFromRobots } from './sitemap.ts';

test('prefixes, CDATA, entities and white space round an address are understood', () => {
  const { type, entries } = readSitemap(
    '\uFEFF\n<?xml version="1.0"?><sm:urlset xmlns:sm="x"><sm:url><sm:loc> http://h.test/p?a=1&amp;b=2 </sm:loc></sm:url><sm:url><sm:loc><![CDATA[http://h.test/q?a&amp;]]></sm:loc></sm:url></sm:urlset>',
  );
  expect(type).toBe('urlset');
  expect(entries.map(({ loc }) => loc)).toEqual([
    'http://h.test/p?a=1&b=2',
    'http://h.test/q?a&amp;',
  ]);
});

test('a million entities cost nothing: none is resolved', () => {
  const bomb = `<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><urlset><url><loc>http://h.test/&b;</loc></url></urlset>`;
  expect(readSitemap(bomb).entries).toEqual([{ loc: 'http://h.test/' }]);
});

const file = new URL('../../../../../shared/reference/vectors/sitemaps.json', import.meta.url);
const cases: any[] = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).cases : [];
const text = (value: any): string => {
  if (typeof value === 'string') return value;
  if ('$ascii' in value) return value.$ascii;
  const raw = Buffer.from(value.$bytes, 'base64');
  return (raw[0] === 0x1f ? gunzipSync(raw) : raw).toString();
};

/** What we find, in the form of the answer that a vector gives. */
function answer({ fn, xml, body, scrapy_says: says }: any): unknown {
  const content = text(xml ?? body);
  if (fn === 'sitemap_urls_from_robots') {
    return sitemapUrlsFromRobots(content, 'http://example.com/robots.txt');
  }
  const found = readSitemap(content);
  if (fn === 'sitemap') return found;
  // Text, which the other reader does not take.
  if (says.error) return found.entries.length > 0 ? says : found;
  return { type: found.type, locs: found.entries.map(({ loc }) => loc) };
}

describe.skipIf(cases.length === 0)('vectors of sitemaps', () => {
  it.each(cases)('$id $test', (vector) => {
    expect(answer(vector)).toEqual(vector.expect ?? vector.scrapy_says);
  });
});
