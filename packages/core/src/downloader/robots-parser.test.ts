import { expect, test } from 'vitest';

import { RobotsTxt } from './robots-parser.ts';

test('groups are joined over empty lines, and the longest rule wins', () => {
  const robots = new RobotsTxt(
    Buffer.from(
      '\uFEFFUser-agent: *\r\nUser-agent: OtherBot\r\n\r\nDisallow: /private\r\nAllow: /private/ok\r\nDisallow: /*.pdf$\r\nDisallow: /search?\r\nDisallow:\r\n',
    ),
  );
  const verdicts = {
    '/': true,
    '/private': false,
    '/privateer': false,
    '/private/ok/1': true,
    '/a.pdf': false,
    '/a.pdf?x=1': true,
    '/search': true,
    '/search?q=1': false,
  };
  for (const [path, allowed] of Object.entries(verdicts)) {
    expect([path, robots.isAllowed(`http://h.test${path}`, 'MyCrawler/1.0')]).toEqual([
      path,
      allowed,
    ]);
  }
});

test.each([
  ['1/5', 5],
  ['1/5s', 5],
  ['30/1m', 2],
  ['1/1h 0900-1730', 3600],
  ['0/5', undefined],
  ['often', undefined],
])('Request-rate %s is a gap of %s s', (rate, gap) => {
  expect(new RobotsTxt(`User-agent: *\nRequest-rate: ${rate}`).requestGap('MyBot')).toBe(gap);
});

test('the group that names the agent stands instead of the one for all', () => {
  const robots = new RobotsTxt(
    'User-agent: *\nDisallow: /\n\nUser-agent: MyBot\nCrawl-delay: 2.5\nDisallow: /x\n\nSitemap: http://h.test/map.xml',
  );
  expect(robots.isAllowed('http://h.test/a', 'Mozilla/5.0 (compatible; MyBot/2.0)')).toBe(true);
  expect(robots.isAllowed('http://h.test/x', 'mybot')).toBe(false);
  expect(robots.isAllowed('http://h.test/a', 'Other')).toBe(false);
  expect(robots.crawlDelay('MyBot')).toBe(2.5);
  expect(robots.crawlDelay('Other')).toBeUndefined();
  expect(robots.sitemaps).toEqual(['http://h.test/map.xml']);
});

test('escapes and raw characters of a path are the same', () => {
  const robots = new RobotsTxt('User-agent: *\nDisallow: /ü\nDisallow: /%7Euser\nDisallow: /a%2a');
  expect(robots.isAllowed('http://h.test/%C3%BC', 'a')).toBe(false);
  expect(robots.isAllowed('http://h.test/~user', 'a')).toBe(false);
  expect(robots.isAllowed('http://h.test/a*', 'a')).toBe(false);
  expect(robots.isAllowed('http://h.test/ab', 'a')).toBe(true);
});

test('what is no robots.txt allows everything', () => {
  for (const text of ['', '<html><body>Disallow: /</body></html>', '\0\0\0', 'Disallow: /']) {
    expect(new RobotsTxt(text).isAllowed('http://h.test/a', 'a')).toBe(true);
  }
});

test('a row of wildcards takes no time to speak of', () => {
  const robots = new RobotsTxt(`User-agent: *\nDisallow: /${'*a'.repeat(5000)}b$`);
  const start = performance.now();
  expect(robots.isAllowed(`http://h.test/${'a'.repeat(50_000)}`, 'x')).toBe(true);
  expect(performance.now() - start).toBeLessThan(500);
});
