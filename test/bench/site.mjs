// A website of any size for measurements: node test/bench/site.mjs --kind small|catalog|article [--pages 2000]
// [--hosts 1] [--latency MS]. It prints {"port":N} when it listens, and {"cpu":S,"requests":N,…} at SIGTERM.
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const words =
  'amber basin cedar delta ember fjord grove harbor inlet juniper kelp lagoon meadow nectar orchard prairie quarry river saddle timber upland valley willow yarrow zephyr canyon dune estuary glacier heath'.split(
    ' ',
  );
const ratings = ['One', 'Two', 'Three', 'Four', 'Five'];
const productsAPage = 20;

/** Numbers below `n`, the same for the same page. */
function numbers(seed) {
  let state = (seed * 2_654_435_761 + 12_345) % 2_147_483_647 || 1;
  return (n) => (state = (state * 48_271) % 2_147_483_647) % n;
}

/** The pages of a site, and the item that a crawler has to make of each. All are reached from page 0. */
export function createSite({ kind = 'small', pages = 1000, hosts = 1 }) {
  const listings = kind === 'catalog' ? Math.ceil(pages / (productsAPage + 1)) : 0;
  const text = (next, count) =>
    Array.from({ length: count }, () => words[next(words.length)]).join(' ');
  const titleOf = (i) => {
    const title = text(numbers(i + 1), 4 + (i % 4));
    return title[0].toUpperCase() + title.slice(1);
  };
  const pathOf = (i) => {
    if (i === 0) return '/';
    if (kind !== 'catalog') return `/p/${i}.html`;
    if (i < listings) return `/catalogue/page-${i + 1}.html`;
    return `/catalogue/${titleOf(i).toLowerCase().replaceAll(' ', '-')}_${i}/index.html`;
  };
  const urlOf = (i, port) => `http://127.0.0.${1 + (i % hosts)}:${port}${pathOf(i)}`;
  const hrefOf = (i, port) => (hosts > 1 ? urlOf(i, port) : pathOf(i));

  /** Children in a tree of all pages, then pages by chance. */
  function linksOf(i, count) {
    const next = numbers(i + 7);
    const branch = Math.floor(count / 3);
    return Array.from({ length: count }, (_, k) => {
      const child = i * branch + k + 1;
      return k < branch && child < pages ? child : next(pages);
    });
  }

  const head = (title, more = '') =>
    `<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>${title}</title>${more}</head>\n`;

  function small(i, port) {
    const title = titleOf(i);
    const links = linksOf(i, 12);
    const list = links.map((to) => `<li><a href="${hrefOf(to, port)}">${titleOf(to)}</a></li>`);
    const html = `${head(title)}<body><h1>${title}</h1>\n<ul>\n${list.join('\n')}\n</ul><p><a href="/#top">Home</a></p></body></html>`;
    return { html, fields: { title, h1: title, links: links.length + 1 } };
  }

  function article(i, port) {
    const next = numbers(i + 3);
    const title = titleOf(i);
    const links = linksOf(i, 40);
    const author = text(next, 2);
    const date = `20${10 + next(15)}-0${1 + next(9)}-1${next(10)}`;
    const description = text(next, 20);
    const tags = Array.from({ length: 5 }, () => text(next, 2));
    const link = (k, label) => `<a href="${hrefOf(links[k], port)}">${label}</a>`;
    const paragraphs = [];
    let body = '';
    for (let p = 0; p < 18; p++) {
      const parts = [text(next, 55), text(next, 3), text(next, 2), text(next, 55)];
      paragraphs.push(`${parts[0]} ${parts[1]} ${parts[2]} “${parts[3]}”.`);
      body += `<div class="block block--text c-${p}"><div class="inner"><p>${parts[0]} ${link(p, parts[1])} <em>${parts[2]}</em> “${parts[3]}”.</p></div></div>\n`;
      if (p % 6 === 5)
        body += `<figure class="block"><img src="/img/${i}-${p}.jpg" alt="${text(next, 5)}" width="800" height="450" loading="lazy"><figcaption>${text(next, 8)}</figcaption></figure>\n`;
    }
    const style = `<style>${Array.from({ length: 30 }, (_, k) => `.c-${k} > .inner { margin: ${k}px auto; padding: 0 ${k}px }`).join('\n')}</style>`;
    const script = `<script>${Array.from({ length: 30 }, (_, k) => `if (${k} < window.innerWidth) track({ event: "e${k}", html: "<b class='x'>${k}</b>" });`).join('\n')}</script>`;
    const more = links
      .slice(18)
      .map((to) => `<li><a href="${hrefOf(to, port)}">${titleOf(to)}</a></li>`);
    const html = `${head(title, `<meta name="description" content="${description}">${style}`)}<body class="page">${script}<header><nav><ul>${more.slice(0, 8).join('')}</ul></nav></header>
<main><article><h1 class="headline">${title}</h1><p class="byline">By <span class="author">${author}</span>, <time datetime="${date}">${date}</time></p>
<div class="body">${body}</div><ul class="tags">${tags.map((tag) => `<li><a href="/">${tag}</a></li>`).join('')}</ul></article>
<aside><ul>${more.slice(8).join('\n')}</ul></aside></main>${script}</body></html>`;
    return {
      html,
      fields: { title, h1: title, author, date, description, tags, text: paragraphs.join('\n') },
    };
  }

  function product(i) {
    const next = numbers(i + 5);
    return { title: titleOf(i), price: `£${next(60)}.${10 + next(90)}`, rating: ratings[next(5)] };
  }

  function pod(i, port) {
    const { title, price, rating } = product(i);
    const href = hrefOf(i, port);
    return `<li class="col"><article class="product_pod"><div class="image_container"><a href="${href}"><img src="/media/${i}.jpg" alt="${title}" class="thumbnail"></a></div>
<p class="star-rating ${rating}"><i class="icon-star"></i><i class="icon-star"></i><i class="icon-star"></i><i class="icon-star"></i><i class="icon-star"></i></p>
<h3><a href="${href}" title="${title}">${title.slice(0, 20)}</a></h3>
<div class="product_price"><p class="price_color">${price}</p><p class="instock availability"><i class="icon-ok"></i> In stock</p><form><button type="submit" class="btn">Add to basket</button></form></div></article></li>`;
  }

  function frame(title, body) {
    const shelves = Array.from({ length: 12 }, (_, k) => `<li><a href="/">${words[k]}</a></li>`);
    return `${head(title)}<body><header class="header"><div class="row"><a href="/">Shop</a></div></header><div class="page"><ul class="nav">${shelves.join('')}</ul>\n${body}</div><footer></footer></body></html>`;
  }

  function listing(i, port) {
    const title = `Page ${i + 1}`;
    const first = listings + i * productsAPage;
    const shown = Array.from({ length: productsAPage }, (_, k) => first + k).filter(
      (k) => k < pages,
    );
    const nearby = [i * 2 + 1, i * 2 + 2].filter((k) => k < listings);
    const pager = nearby.map(
      (k) => `<li class="next"><a href="${hrefOf(k, port)}">page ${k + 1}</a></li>`,
    );
    const products = shown.map((k) => ({ ...product(k), href: hrefOf(k, port) }));
    const html = frame(
      title,
      `<section><h1>${title}</h1><ol class="row">${shown.map((k) => pod(k, port)).join('\n')}</ol><ul class="pager">${pager.join('')}</ul></section>`,
    );
    return { html, fields: { title, products } };
  }

  function detail(i, port) {
    const { title, price, rating } = product(i);
    const next = numbers(i + 11);
    const description = text(next, 150);
    const upc = `upc${i}`;
    const stock = `In stock (${1 + next(20)} available)`;
    const others = Array.from({ length: 6 }, () => listings + next(pages - listings));
    const row = (name, value) => `<tr><th>${name}</th><td>${value}</td></tr>`;
    const html = frame(
      title,
      `<article class="product_page"><div class="row"><div class="product_main"><h1>${title}</h1><p class="price_color">${price}</p><p class="instock availability"><i class="icon-ok"></i> ${stock}</p><p class="star-rating ${rating}"><i></i><i></i><i></i></p></div></div>
<div id="product_description"><h2>Description</h2></div><p>${description}</p><table class="table">${row('UPC', upc)}${row('Price', price)}${row('Tax', '£0.00')}${row('Reviews', next(9))}</table></article>
<ul class="row">${others.map((k) => pod(k, port)).join('\n')}</ul>`,
    );
    return { html, fields: { title, name: title, price, rating, stock, upc, description } };
  }

  const make = { small, article, catalog: (i, port) => (i < listings ? listing : detail)(i, port) }[
    kind
  ];
  if (!make) throw new Error(`There is no kind ${kind}: small, catalog, article.`);
  return {
    pages,
    urlOf,
    pathOf,
    html: (i, port) => make(i, port).html,
    item: (i, port) => ({ url: urlOf(i, port), ...make(i, port).fields }),
  };
}

/** Serves a site; pages are made beforehand, so that serving one costs little. */
export async function serve({ latency = 0, hosts = 1, ...rest }) {
  const site = createSite({ ...rest, hosts });
  const stats = { requests: 0, distinct: 0, inFlight: 0, maxInFlight: 0, first: 0, last: 0 };
  const pages = new Map();
  const seen = new Set();
  const servers = [];
  let port = 0;
  function answer(request, response) {
    const body = pages.get(request.url);
    if (request.url === '/__stats') return void response.end(JSON.stringify(snapshot()));
    if (request.url === '/robots.txt') return void response.writeHead(404).end();
    if (stats.requests++ === 0) stats.first = performance.now();
    seen.add(`${request.socket.localAddress}${request.url}`);
    stats.maxInFlight = Math.max(stats.maxInFlight, ++stats.inFlight);
    response.on('close', () => {
      stats.inFlight--;
      stats.last = performance.now();
    });
    const send = () => {
      if (!body) response.statusCode = 404;
      response.setHeader('content-type', 'text/html; charset=utf-8');
      response.end(body ?? '');
    };
    if (latency > 0) setTimeout(send, latency);
    else send();
  }
  const snapshot = () => ({
    requests: stats.requests,
    distinct: seen.size,
    maxInFlight: stats.maxInFlight,
    firstRequestAt: stats.first,
    lastResponseAt: stats.last,
  });
  for (let host = 1; host <= hosts; host++) {
    const server = createServer({ keepAliveTimeout: 60_000 }, answer);
    servers.push(server);
    await new Promise((resolve, reject) => {
      server.once('error', reject).listen(port, `127.0.0.${host}`, 1024, resolve);
    });
    port = server.address().port;
  }
  for (let i = 0; i < site.pages; i++) pages.set(site.pathOf(i), Buffer.from(site.html(i, port)));
  return {
    port,
    close: () => {
      for (const server of servers) {
        server.close();
        server.closeAllConnections();
      }
    },
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const text = { type: 'string' };
  const { values } = parseArgs({
    options: { kind: text, pages: text, hosts: text, latency: text },
  });
  const { kind = 'small', pages = 1000, hosts = 1, latency = 0 } = values;
  const site = await serve({
    kind,
    pages: Number(pages),
    hosts: Number(hosts),
    latency: Number(latency),
  });
  console.log(JSON.stringify({ port: site.port }));
  process.on('SIGTERM', () => {
    site.close();
    process.exit(0);
  });
}
