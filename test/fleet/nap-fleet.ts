/** A fleet whose spiders sleep, for tests. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { Fleet, FleetAgent, type FleetAgentOptions, type FleetOptions } from '@lycosa/redis';

const root = fileURLToPath(new URL('project', import.meta.url));
/** What agents leave: logs, and what Redis could not be told. */
export const stateFolder = join(tmpdir(), `lycosa-fleet-state-${process.pid}`);
const log = { info() {}, warn() {}, error() {} };

export function agentOf(
  fleet: Fleet,
  options: Partial<FleetAgentOptions> = {},
  settings: Readonly<Record<string, unknown>> = {},
): FleetAgent {
  const host = {
    root,
    config: join(root, 'lycosa.config.ts'),
    settings: { LOG_LEVEL: 'ERROR', ...settings },
  };
  return new FleetAgent(fleet, {
    host,
    log,
    lockMs: 5000,
    stalledMs: 500,
    count: 4,
    minFreeMb: 0,
    dir: stateFolder,
    ...options,
  });
}

export async function openFleet(url: string, options: Partial<FleetOptions> = {}): Promise<Fleet> {
  const sets = { leaseMs: 5000 };
  return Fleet.open({ redis: { url }, sets, attempts: 2, backoffMs: 50, ...options });
}

export interface NapLog extends AsyncDisposable {
  lines(what: string): Promise<string[]>;
  /** Lets those that wait for it end. */
  open(): Promise<void>;
}

/** Where the spiders of the project write, one line a start and an end. */
export async function napLog(): Promise<NapLog> {
  const folder = await mkdtemp(join(tmpdir(), 'lycosa-nap-'));
  const file = join(folder, 'log');
  process.env['NAP_LOG'] = file;
  return {
    async lines(what) {
      const text = await readFile(file, 'utf8').catch(() => '');
      return text.split('\n').filter((line) => line.startsWith(what));
    },
    open: () => writeFile(`${file}.go`, ''),
    async [Symbol.asyncDispose]() {
      delete process.env['NAP_LOG'];
      await rm(folder, { recursive: true });
    },
  };
}

/** Orders of spiders that sleep so long; 0 is until the log is opened. */
export const naps = (
  count: number,
  ms: number,
): { spider: string; args: Record<string, string> }[] =>
  Array.from({ length: count }, (_, n) => ({
    spider: 'nap',
    args: { n: String(n), ms: String(ms), ...(ms === 0 && { gate: '1' }) },
  }));
