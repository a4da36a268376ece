// How little a crawl can cost: bare undici, htmlparser2's tree, compiled css-select queries, a Set and an array. No
// retries, robots.txt, limits or middlewares. Arguments as lycosa.ts.
import { closeSync, openSync, writeSync } from 'node:fs';
import { parseArgs } from 'node:util';

import { compile, selectAll } from 'css-select';
import { textContent } from 'domutils';
import { parseDocument } from 'htmlparser2';
import { Pool } from 'undici';

const text = { type: 'string' };
const { values } = parseArgs({
  options: { url: text, out: text, concurrency: text, kind: text, hosts: text, pages: text },
});
const { url: start, out, kind, concurrency = '16', hosts = '1' } = values;
const { port } = new URL(start);

const compiled = new Map();
function all(query, root) {
  if (!compiled.has(query)) compiled.set(query, compile(query));
  return selectAll(compiled.get(query), root);
}
const first = (query, root) => all(query, root)[0];
const textOf = (query, root) => textContent(first(query, root) ?? []);
const lastClass = (root) => first('p.star-rating', root).attribs.class.split(' ').pop();

function fields(root, url) {
  if (kind === 'small') return { h1: textOf('h1', root), links: all('a[href]', root).length };
  if (kind === 'article') {
    return {
      h1: textOf('h1.headline', root),
      author: textOf('.byline .author', root),
      date: first('time', root).attribs.datetime,
      description: first('meta[name=description]', root).attribs.content,
      tags: all('ul.tags a', root).map((tag) => textContent(tag)),
      text: all('.body p', root)
        .map((paragraph) => textContent(paragraph))
        .join('\n'),
    };
  }
  if (!url.endsWith('/index.html')) {
    return {
      products: all('article.product_pod', root).map(({ children }) => {
        const link = first('h3 a', children);
        return {
          title: link.attribs.title,
          price: textOf('p.price_color', children),
          rating: lastClass(children),
          href: link.attribs.href,
        };
      }),
    };
  }
  const main = first('div.product_main', root).children;
  return {
    name: textOf('h1', main),
    price: textOf('p.price_color', main),
    rating: lastClass(main),
    stock: textOf('p.availability', main).trim(),
    upc: textOf('table td', root),
    description: textOf('#product_description + p', root),
  };
}

const pools = new Map();
for (let host = 1; host <= Number(hosts); host++) {
  const origin = `http://127.0.0.${host}:${port}`;
  const connections = Math.ceil(Number(concurrency) / Number(hosts));
  pools.set(origin, new Pool(origin, { connections, pipelining: 1 }));
}
const queue = [start];
const seen = new Set(queue);
const file = openSync(out, 'w');
let lines = '';
let head = 0;
let active = 0;

function handle(url, body) {
  const root = parseDocument(body.toString());
  lines += `${JSON.stringify({ url, title: textOf('title', root), ...fields(root, url) })}\n`;
  if (lines.length > 65_536) flush();
  for (const { attribs } of all('a[href]', root)) {
    const link = new URL(attribs.href, url);
    link.hash = '';
    if (!pools.has(link.origin) || seen.has(link.href)) continue;
    seen.add(link.href);
    queue.push(link.href);
  }
}

function flush() {
  writeSync(file, lines);
  lines = '';
}

await new Promise((resolve, reject) => {
  function next() {
    while (active < Number(concurrency) && head < queue.length) fetchPage(queue[head++]);
    if (active === 0) resolve();
  }
  function fetchPage(url) {
    active++;
    const slash = url.indexOf('/', 8);
    const chunks = [];
    pools.get(url.slice(0, slash)).dispatch(
      { path: url.slice(slash), method: 'GET' },
      {
        onRequestStart() {},
        onResponseStart() {},
        onResponseData: (_, chunk) => chunks.push(chunk),
        onResponseError: (_, error) => reject(error),
        onResponseEnd() {
          handle(url, chunks.length === 1 ? chunks[0] : Buffer.concat(chunks));
          active--;
          next();
        },
      },
    );
  }
  next();
});
flush();
closeSync(file);
for (const pool of pools.values()) await pool.close();
