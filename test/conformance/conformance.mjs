// pnpm conformance [--vectors DIR]: our functions against the vectors of peers and standards.
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { runConformance, vectorFiles } from './run.ts';

const { values } = parseArgs({ options: { vectors: { type: 'string' } } });
const folder = resolve(
  values.vectors ?? fileURLToPath(new URL('../../../shared/reference/vectors', import.meta.url)),
);
if (vectorFiles(folder).length === 0) {
  console.error(`There are no vectors in ${folder}. Name their folder with --vectors DIR.`);
  process.exit(2);
}
const rows = await runConformance(folder);
const width = Math.max(...rows.map(({ file }) => file.length));
const line = (...cells) =>
  console.log(
    cells.map((cell, at) => (at === 0 ? cell.padEnd(width) : String(cell).padStart(9))).join(' '),
  );
line('file', 'cases', 'passed', 'excepted', 'failed', 'not built');
for (const { file, cases, passed, excepted, failed, notBuilt } of rows)
  line(file, cases, passed, excepted, failed, notBuilt || '');
const sum = (key) => rows.reduce((total, row) => total + row[key], 0);
line('all', sum('cases'), sum('passed'), sum('excepted'), sum('failed'), sum('notBuilt'));
for (const { file, reasons } of rows)
  for (const [reason, ids] of reasons) {
    const names = [...new Set(ids)];
    const who = names.length > 3 ? `${names.length} documents` : names.join(', ');
    console.log(`\n${file}: ${ids.length} excepted (${who}). ${reason}`);
  }
for (const { file, failures } of rows)
  for (const failure of failures) console.log(`\nFAILED ${file}: ${failure}`);
process.exitCode = sum('failed') + sum('notBuilt') > 0 ? 1 : 0;
