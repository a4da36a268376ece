/**
 * Crawls the bundled bookshop with the example project in `books/`, by the command a user would type.
 * `pnpm build` comes before; `npm run demo` does both.
 */
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

import { startBookshop } from '../site/bookshop.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const project = join(root, 'test', 'demo', 'books');
const command = join(root, 'packages', 'cli', 'dist', 'bin.js');
const files = { jsonl: join(root, 'books.jsonl'), csv: join(root, 'books.csv') };
const expected = 1000;

async function crawl(url) {
  const outputs = Object.values(files).flatMap((file) => ['-O', relative(project, file)]);
  const args = ['crawl', 'books', '-a', `url=${url}`, ...outputs];
  console.log(`\nThe bookshop is open at ${url}`);
  console.log(`$ cd ${relative(root, project)} && lycosa ${args.join(' ')}\n`);
  const child = spawn(process.execPath, [command, ...args], { cwd: project, stdio: 'inherit' });
  // The command gets Ctrl+C from the terminal too, and ends its crawl in good order.
  const onSigint = () => {};
  process.on('SIGINT', onSigint);
  const onSigterm = () => child.kill('SIGTERM');
  process.on('SIGTERM', onSigterm);
  try {
    return await new Promise((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (code, signal) => resolve(code ?? signal));
    });
  } finally {
    process.off('SIGINT', onSigint);
    process.off('SIGTERM', onSigterm);
  }
}

async function readJsonl(file) {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text.split('\n').flatMap((line) => (line ? [JSON.parse(line)] : []));
}

/** Records of a CSV without its head; quoted fields may hold line breaks and doubled quotes. */
async function countCsv(file) {
  const text = await readFile(file, 'utf8').catch(() => '');
  let rows = 0;
  let quoted = false;
  for (const char of text) {
    if (char === '"') quoted = !quoted;
    else if (char === '\n' && !quoted) rows++;
  }
  return Math.max(0, rows - 1);
}

function table(books) {
  const cells = books.map(({ title, author, price, rating, stock }) => [
    title,
    author,
    `£${price.toFixed(2)}`,
    '★'.repeat(rating),
    stock ? `${stock} in stock` : 'sold out',
  ]);
  const widths = cells[0]?.map((_, at) => Math.max(...cells.map((row) => row[at].length))) ?? [];
  return cells.map((row) => `  ${row.map((cell, at) => cell.padEnd(widths[at])).join('  ')}`);
}

await using shop = await startBookshop({ latencyMs: 25 });
const start = performance.now();
const code = await crawl(shop.url);
const seconds = (performance.now() - start) / 1000;

const books = await readJsonl(files.jsonl);
const rows = await countCsv(files.csv);
const distinct = new Set(books.map(({ upc }) => upc)).size;
console.log(`
${distinct} books from ${shop.requests.length} requests in ${seconds.toFixed(1)} seconds:
  ${relative(process.cwd(), files.jsonl)} (${books.length} lines)
  ${relative(process.cwd(), files.csv)} (${rows} rows)

Three of them:
${table([books[0], books[books.length >> 1], books.at(-1)].filter(Boolean)).join('\n')}
`);

const complete = [books.length, distinct, rows].every((count) => count === expected);
if (code !== 0) console.error(`The crawl ended with exit code ${code}.`);
else if (!complete) console.error(`Expected ${expected} books in each file.`);
else console.log('All of the shop. Its spider is test/demo/books/spiders/books.ts');
process.exitCode = code === 0 && complete ? 0 : 1;
