import { expect, test } from 'vitest';

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

test('a feed is a sitemap of its entries', () => {
  const atom = readSitemap(
    '<feed><link href="http://h.test/"/><entry><link rel="edit" href="/e"/><link href="http://h.test/a"/><updated>2024</updated></entry></feed>',
  );
  expect(atom).toEqual({ type: 'feed', entries: [{ loc: 'http://h.test/a', updated: '2024' }] });
  const rss = readSitemap(
    '<rss><channel><link>http://h.test/</link><item><title>x</title><link> http://h.test/b </link></item></channel></rss>',
  );
  expect(rss.entries).toEqual([{ loc: 'http://h.test/b', title: 'x' }]);
});

test('an address without its element is one, other text is none', () => {
  const index =
    '<sitemapindex><sitemap>\nhttp://h.test/a?b&amp;c\n</sitemap><sitemap>x</sitemap></sitemapindex>';
  expect(readSitemap(index).entries).toEqual([{ loc: 'http://h.test/a?b&c' }]);
});

test('what lies deeper than an entry belongs to extensions', () => {
  const images =
    '<urlset><url><image:image><image:loc>http://h.test/i.png</image:loc></image:image><loc>http://h.test/</loc><xhtml:link rel="alternate" href="http://h.test/de"/></url></urlset>';
  expect(readSitemap(images).entries).toMatchObject([
    { loc: 'http://h.test/', alternate: ['http://h.test/de'] },
  ]);
});

test('the Sitemap lines of a robots.txt are absolute', () => {
  const robots = '\uFEFFSitemap: /s.xml\r\nsitemap:http://o.test/x # no\nSitemap:\nUser-agent: *';
  expect(sitemapUrlsFromRobots(robots, 'http://h.test/robots.txt')).toEqual([
    'http://h.test/s.xml',
    'http://o.test/x',
  ]);
});
