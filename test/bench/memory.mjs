// Memory over long crawls: node --expose-gc --conditions=lycosa-source test/bench/memory.mjs [items] [pages] [pending]
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { measureItems, measurePages, measurePending } from '../crawl/memory.ts';

const { positionals } = parseArgs({ allowPositionals: true });
const wanted = (name) => positionals.length === 0 || positionals.includes(name);
const folder = mkdtempSync(join(tmpdir(), 'lycosa-memory-'));
const print = (name, samples) =>
  console.log(
    name,
    samples.map((sample) => ({ ...sample })),
  );

if (wanted('items')) print('200,000 items of 10 kB', await measureItems(200_000));
if (wanted('pages')) print('5,000 pages of 1 MB', await measurePages(5000));
if (wanted('pending')) {
  print('5,000,000 pending on disk', await measurePending(5_000_000, 1000, join(folder, 'job')));
}
rmSync(folder, { recursive: true, force: true });
