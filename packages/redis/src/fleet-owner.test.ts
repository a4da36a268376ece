import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { ownFolder } from './fleet-owner.ts';

test('the folder of a job belongs to the latest run that came', async () => {
  const root = await mkdtemp(join(tmpdir(), 'lycosa-owner-'));
  const folder = join(root, 'jobs', 'a');
  await ownFolder(folder, 1_000_001);
  await ownFolder(folder, 1_000_002);
  await ownFolder(folder, 1_000_002);
  await expect(ownFolder(folder, 1_000_001)).rejects.toThrow('belongs to a later run (1000002)');
  await rm(root, { recursive: true });
});
