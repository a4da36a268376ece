import { fileURLToPath } from 'node:url';

import { expect, test } from 'vitest';

import { runConformance, vectorFiles } from './run.ts';

const folder = fileURLToPath(new URL('../../../shared/reference/vectors', import.meta.url));
const isPresent = vectorFiles(folder).length > 0;

test.skipIf(!isPresent)(
  `the vectors of peers and standards hold${isPresent ? '' : ' (skipped: there are none in ../shared)'}`,
  async () => {
    const rows = await runConformance(folder);
    expect(rows.flatMap(({ file, failures }) => failures.map((one) => `${file}: ${one}`))).toEqual(
      [],
    );
    expect(rows.length).toBeGreaterThan(0);
  },
);
