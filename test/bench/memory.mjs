// Memory over long crawls: node --expose-gc --conditions=lycosa-source test/bench/memory.mjs [items] [pages] [pending] [resume]
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { measureItems, measurePages, measurePending, measureResume } from '../crawl/memory.ts';

const { positionals } = parseArgs({ allowPositionals: true });
const wanted = (name) => positionals.length === 0 || positionals.includes(name);
const folder = mkdtempSync(join(tmpdir(), 'lycosa-memory-'));
const print = (name, samples) =>
  console.log(
    name,
    samples.map((sample) => ({ ...sample })),
  );

if (positionals[0] === 'resume-run') {
  console.log(JSON.stringify(await measureResume(positionals[1])));
  process.exit(0);
}
if (wanted('items')) print('200,000 items of 10 kB', await measureItems(200_000));
if (wanted('pages')) print('5,000 pages of 1 MB', await measurePages(5000));
if (wanted('pending')) {
  print('5,000,000 pending on disk', await measurePending(5_000_000, 1000, join(folder, 'job')));
}
if (wanted('resume')) {
  const job = join(folder, 'million');
  await measurePending(1_000_000, 1000, job);
  const args = [...process.execArgv, import.meta.filename, 'resume-run', job];
  console.log('resume with 1,000,000 pending', String(execFileSync(process.execPath, args)));
}
rmSync(folder, { recursive: true, force: true });
