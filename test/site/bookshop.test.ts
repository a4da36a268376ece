import { expect, test } from 'vitest';

import { makeBooks } from './books.ts';
import { startBookshop } from './bookshop.ts';

const hrefs = (html: string): string[] =>
  [...html.matchAll(/<h3><a href="([^"]+)"/g)].map((match) => match[1]!);

async function read(url: string): Promise<string> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${response.status} ${url}`);
  return response.text();
}

test('its catalogue leads over 50 pages to 1,000 books', async () => {
  await using shop = await startBookshop();
  const books = new Set<string>();
  let next: string | undefined = 'page-1.html';
  let pages = 0;
  while (next) {
    const html = await read(`${shop.url}/catalogue/${next}`);
    for (const href of hrefs(html)) books.add(href);
    next = /rel="next" href="([^"]+)"/.exec(html)?.[1];
    pages++;
  }
  expect(pages).toBe(50);
  expect(books.size).toBe(1000);
  for (const href of books) await read(shop.url + href);
});

test('the books are the same on every run', () => {
  expect(makeBooks(1000)).toEqual(makeBooks(1000));
  expect(makeBooks(3, 1)).not.toEqual(makeBooks(3, 2));
  const upcs = new Set(makeBooks(1000).map(({ upc }) => upc));
  expect(upcs.size).toBe(1000);
});

test('a page shows the book as it is', async () => {
  await using shop = await startBookshop({ products: 5 });
  const book = makeBooks(5)[3]!;
  const html = await read(`${shop.url}/catalogue/${book.slug}_4/index.html`);
  expect(html).toContain(`<p class="price">£${(book.price / 100).toFixed(2)}</p>`);
  expect(html).toContain(`data-rating="${book.rating}"`);
  expect(html).toContain(book.upc);
});

test('the home page links to a redirect, a slow page, a broken link and a private part', async () => {
  await using shop = await startBookshop({ products: 5 });
  const home = await read(shop.url);
  const notes = [...home.matchAll(/<li><a href="(\/(?!catalogue\/category)[^"]+)">/g)];
  expect(notes.map((match) => match[1])).toEqual([
    '/book-of-the-day',
    '/our-story.html',
    '/catalogue/out-of-print_0/index.html',
    '/private/ledger.html',
  ]);

  const daily = await fetch(`${shop.url}/book-of-the-day`, { redirect: 'manual' });
  expect(daily.status).toBe(301);
  await read(shop.url + daily.headers.get('location')!);
  const broken = await fetch(`${shop.url}/catalogue/out-of-print_0/index.html`);
  expect(broken.status).toBe(404);

  const start = performance.now();
  await read(`${shop.url}/our-story.html`);
  expect(performance.now() - start).toBeGreaterThanOrEqual(1490);
});

test('robots.txt names the private part and a sitemap of every page', async () => {
  await using shop = await startBookshop({ products: 45 });
  const robots = await read(`${shop.url}/robots.txt`);
  expect(robots).toContain('Disallow: /private/');
  const sitemap = /^Sitemap: (.+)$/m.exec(robots)![1]!;
  const locations = [...(await read(sitemap)).matchAll(/<loc>([^<]+)<\/loc>/g)];
  expect(locations).toHaveLength(2 + 3 + 10 + 45);
  for (const [, location] of locations) await read(location!);
});

test('pages take the latency that is asked for', async () => {
  await using shop = await startBookshop({ products: 5, latencyMs: 40 });
  const start = performance.now();
  await read(`${shop.url}/catalogue/page-1.html`);
  expect(performance.now() - start).toBeGreaterThanOrEqual(35);
});
