import { categories, makeBooks, slugify, type ShopBook } from './books.ts';
import { startSite, type Answer, type Handler, type Site } from './site.ts';

export interface BookshopOptions {
  /** Any free one by default. */
  readonly port?: number;
  /** 1,000 by default. */
  readonly products?: number;
  /** Books on one catalogue page; 20 by default. */
  readonly perPage?: number;
  /** What every page takes, as a site on another machine would; 0 by default. */
  readonly latencyMs?: number;
}

/**
 * Starts a bookshop: a home page, the catalogue, a page per book and per category, robots.txt and a
 * sitemap; with a slow page (`/our-story.html`), a broken link (`/catalogue/out-of-print_0/index.html`),
 * a redirect (`/book-of-the-day`) and a part that robots.txt keeps to itself (`/private/`).
 */
export async function startBookshop(options: BookshopOptions = {}): Promise<Site> {
  const { port = 0, products = 1000, perPage = 20, latencyMs = 0 } = options;
  const books = makeBooks(products);
  const pages = Math.max(1, Math.ceil(products / perPage));
  const routes: Record<string, Handler | Answer> = {
    '/': homePage(books),
    '/our-story.html': { body: storyPage(), delayMs: 1500 },
    '/private/ledger.html': page('Ledger', '<h1>Ledger</h1><p>For the owner only.</p>'),
    '/sitemap.xml': ({ headers }) => xml(sitemap(`http://${headers.host}`, books, pages)),
    '/robots.txt': ({ headers }) => ({
      headers: { 'content-type': 'text/plain; charset=utf-8' },
      body: `User-agent: *\nDisallow: /private/\n\nSitemap: http://${headers.host}/sitemap.xml\n`,
    }),
    '*': { status: 404, body: page('Not found', '<h1>Not found</h1><p>No such shelf.</p>') },
  };
  const daily = books[Math.floor(books.length / 2)];
  if (daily) {
    routes['/book-of-the-day'] = { status: 301, headers: { location: bookPath(daily) }, body: '' };
  }
  for (const book of books) routes[bookPath(book)] = bookPage(book);
  for (let number = 1; number <= pages; number++) {
    const shown = books.slice((number - 1) * perPage, number * perPage);
    routes[`/catalogue/page-${number}.html`] = cataloguePage(shown, number, pages);
  }
  for (const category of categories) {
    routes[categoryPath(category)] = categoryPage(category, books);
  }
  return startSite(latencyMs ? later(routes, latencyMs) : routes, { port });
}

function later(
  routes: Record<string, Handler | Answer>,
  delayMs: number,
): Record<string, Handler | Answer> {
  return Object.fromEntries(
    Object.entries(routes).map(([path, route]) => {
      if (typeof route === 'function') return [path, route];
      return [path, { delayMs, ...(typeof route === 'string' ? { body: route } : route) }];
    }),
  );
}

function bookPath(book: ShopBook): string {
  return `/catalogue/${book.slug}_${book.id}/index.html`;
}

function categoryPath(category: string): string {
  return `/catalogue/category/${slugify(category)}/index.html`;
}

function homePage(books: readonly ShopBook[]): string {
  return page(
    'The Wolf Spider Bookshop',
    `<h1>The Wolf Spider Bookshop</h1>
<p>${books.length} books, all of them invented. <a href="/catalogue/page-1.html">See the whole catalogue</a>.</p>
<ul class="notes">
<li><a href="/book-of-the-day">Book of the day</a></li>
<li><a href="/our-story.html">Our story</a> (it takes a moment)</li>
<li><a href="/catalogue/out-of-print_0/index.html">A book that is out of print</a></li>
<li><a href="/private/ledger.html">The owner’s ledger</a></li>
</ul>
<h2>New on the shelf</h2>
${shelf(books.slice(0, 8))}`,
  );
}

function storyPage(): string {
  return page(
    'Our story',
    '<h1>Our story</h1><p>We opened at night, so that nobody would see how few books there were.</p>',
  );
}

function cataloguePage(shown: readonly ShopBook[], number: number, pages: number): string {
  const link = (to: number, rel: string, text: string): string =>
    to >= 1 && to <= pages
      ? `<li class="${rel}"><a rel="${rel}" href="page-${to}.html">${text}</a></li>`
      : '';
  return page(
    `Catalogue, page ${number}`,
    `<h1>Catalogue</h1>
${shelf(shown)}
<nav aria-label="Pages"><ul class="pager">
${link(number - 1, 'prev', 'Previous')}
<li class="current">Page ${number} of ${pages}</li>
${link(number + 1, 'next', 'Next')}
</ul></nav>`,
  );
}

function categoryPage(category: string, books: readonly ShopBook[]): string {
  const shown = books.filter((book) => book.category === category);
  return page(
    category,
    `<h1>${escape(category)}</h1>\n<p>${shown.length} books.</p>\n${shelf(shown)}`,
  );
}

function bookPage(book: ShopBook): string {
  const { title, author, category, rating, stock, upc, description } = book;
  const row = (name: string, value: string): string =>
    `<tr><th scope="row">${name}</th><td>${value}</td></tr>`;
  return page(
    title,
    `<ol class="breadcrumb"><li><a href="/">Home</a></li><li><a href="${categoryPath(category)}">${escape(category)}</a></li></ol>
<article class="book" data-id="${book.id}">
<h1>${escape(title)}</h1>
<p class="author">by ${escape(author)}</p>
<p class="price">${pounds(book)}</p>
<p class="stars" data-rating="${rating}" title="${rating} of 5">${'★'.repeat(rating)}${'☆'.repeat(5 - rating)}</p>
<p class="stock">${stock ? `In stock (${stock} available)` : 'Sold out'}</p>
<h2>About this book</h2>
<p class="description">${escape(description)}</p>
<table><tbody>
${row('UPC', `<span class="upc">${upc}</span>`)}
${row('Category', escape(category))}
${row('Copies', String(stock))}
</tbody></table>
</article>`,
  );
}

function shelf(books: readonly ShopBook[]): string {
  const cards = books.map(
    (book) => `<li class="card"><h3><a href="${bookPath(book)}">${escape(book.title)}</a></h3>
<p class="author">${escape(book.author)}</p><p class="price">${pounds(book)}</p></li>`,
  );
  return `<ol class="books">\n${cards.join('\n')}\n</ol>`;
}

function pounds(book: ShopBook): string {
  return `£${(book.price / 100).toFixed(2)}`;
}

const style = `body{font:16px/1.5 Georgia,serif;margin:0 auto;max-width:60rem;padding:1rem 1.5rem;color:#2b2622;background:#fbf8f3}
a{color:#8a3b12}header,footer{font-size:.9rem;border-bottom:1px solid #dcd3c5;padding:.5rem 0}footer{border:0;border-top:1px solid #dcd3c5;margin-top:2rem}
header ul,.pager,.breadcrumb{display:flex;flex-wrap:wrap;gap:.4rem 1rem;list-style:none;padding:0;margin:.25rem 0}
.books{display:grid;grid-template-columns:repeat(auto-fill,minmax(12rem,1fr));gap:1rem;list-style:none;padding:0}
.card{background:#fff;border:1px solid #e6dfd3;border-radius:6px;padding:.75rem 1rem}.card h3{font-size:1rem;margin:0 0 .25rem}
.author{color:#6d6257;margin:0;font-style:italic}.price{font-weight:bold;margin:.25rem 0}.stars{color:#c8871a;margin:.25rem 0}
table{border-collapse:collapse}th,td{border:1px solid #e6dfd3;padding:.3rem .7rem;text-align:left}`;

function page(title: string, content: string): string {
  const links = categories.map(
    (category) => `<li><a href="${categoryPath(category)}">${escape(category)}</a></li>`,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(title)}</title>
<link rel="icon" href="data:,">
<style>${style}</style>
</head>
<body>
<header><a href="/">The Wolf Spider Bookshop</a>
<nav aria-label="Categories"><ul class="categories">${links.join('')}</ul></nav></header>
<main>
${content}
</main>
<footer>Every book here is made up, and so are its readers.</footer>
</body>
</html>
`;
}

function xml(body: string): Answer {
  return { headers: { 'content-type': 'application/xml; charset=utf-8' }, body };
}

function sitemap(origin: string, books: readonly ShopBook[], pages: number): string {
  const paths = [
    '/',
    '/our-story.html',
    ...Array.from({ length: pages }, (_, index) => `/catalogue/page-${index + 1}.html`),
    ...categories.map(categoryPath),
    ...books.map(bookPath),
  ];
  const urls = paths.map((path) => `<url><loc>${origin}${path}</loc></url>`);
  return `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
${urls.join('\n')}
</urlset>
`;
}

function escape(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
