import { createRequire } from 'node:module';

import type * as Undici from 'undici';

const require = createRequire(import.meta.url);

/**
 * A part of undici by its file. The whole package, with fetch, caches and web sockets, takes as long to load as all
 * the rest of a crawler; where the file is not there, it is loaded after all.
 */
function part<Name extends keyof typeof Undici>(name: Name, file: string): (typeof Undici)[Name] {
  try {
    return require(`undici/lib/${file}`) as (typeof Undici)[Name];
  } catch {
    return (require('undici') as typeof Undici)[name];
  }
}

export const Client: typeof Undici.Client = part('Client', 'dispatcher/client.js');
export const buildConnector: typeof Undici.buildConnector = part(
  'buildConnector',
  'core/connect.js',
);
