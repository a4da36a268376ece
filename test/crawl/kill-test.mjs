// The long version of kill.test.ts: node --conditions=lycosa-source test/crawl/kill-test.mjs [--kills 200] [--pages 20000]
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { killTest } from './kill.ts';

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '200' },
    pages: { type: 'string', default: '20000' },
    seed: { type: 'string', default: '1' },
  },
});
const folder = mkdtempSync(join(tmpdir(), 'lycosa-kill-'));
const report = await killTest({
  folder,
  pages: Number(values.pages),
  kills: Number(values.kills),
  seed: Number(values.seed),
  delayMs: 20,
  lifeMs: 500,
});
console.log(report);
rmSync(folder, { recursive: true, force: true });
process.exitCode = report.lost + report.badLines + report.failedResumes > 0 ? 1 : 0;
