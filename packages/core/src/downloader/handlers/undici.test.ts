import { createRequire } from 'node:module';

import type * as whole from 'undici';
import { expect, test } from 'vitest';

import { buildConnector, Client } from './undici.ts';

test('the parts of undici are found by their files, and are those of the whole package', () => {
  const require = createRequire(import.meta.url);
  for (const file of ['dispatcher/client', 'core/connect'])
    expect(() => require.resolve(`undici/lib/${file}.js`)).not.toThrow();
  const nodes = require('undici') as typeof whole;
  expect([Client, buildConnector]).toEqual([nodes.Client, nodes.buildConnector]);
});
