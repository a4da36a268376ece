import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { RunLog } from './fleet-log.ts';

test('a record of several lines is sent line by line, and what is too much is only in the file', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'lycosa-log-'));
  try {
    const log = await RunLog.open(folder, 'job', 1, 4);
    log.write('INFO: opened\n');
    log.write('INFO: Dumping stats\n  a: 1\n  b: 2\n');
    expect(log.take()).toEqual(['INFO: opened', 'INFO: Dumping stats', '  a: 1', '  b: 2']);
    for (let i = 0; i < 6; i++) log.write(`line ${i}\n`);
    expect(log.take()).toEqual([
      '(2 lines are only in the file)',
      'line 2',
      'line 3',
      'line 4',
      'line 5',
    ]);
    await log.close();
    const file = await readFile(join(folder, 'job', '1.log'), 'utf8');
    expect(file.split('\n')).toHaveLength(11);
  } finally {
    await rm(folder, { recursive: true });
  }
});
