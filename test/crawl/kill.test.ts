import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { killTest } from './kill.ts';

test(
  'a job that is killed again and again loses no page and repeats only what was under way',
  { timeout: 180_000 },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'lycosa-kill-'));
    try {
      const report = await killTest({
        folder,
        pages: 800,
        kills: 12,
        seed: 20_261_201,
        delayMs: 15,
        lifeMs: 300,
      });
      expect(report).toMatchObject({ lost: 0, badLines: 0, failedResumes: 0, leftParts: 0 });
      expect(report.largestBatch).toBe(50);
      expect(report.kills).toBeGreaterThan(3);
      // Leased at the kill, and done in the last tenth of a second before it.
      expect(report.refetched).toBeLessThan(report.kills * 80);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
