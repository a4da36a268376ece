import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { describe, expect, test } from 'vitest';

import { hasRedis, startRedis } from '../redis-server.ts';

const bin = fileURLToPath(new URL('../../packages/cli/src/bin.ts', import.meta.url));
const project = fileURLToPath(new URL('project', import.meta.url));

describe.skipIf(!hasRedis)('lycosa fleet ui', () => {
  test('shows the fleet at the address that it prints, until it is interrupted', async () => {
    await using server = await startRedis();
    const args = ['fleet', 'ui', '-s', `REDIS_URL=${server.url}`, '-s', 'DASHBOARD_PORT=0'];
    const child = spawn(process.execPath, ['--conditions=lycosa-source', bin, ...args], {
      cwd: project,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      const [said] = (await once(createInterface(child.stdout), 'line')) as [string];
      expect(said).toMatch(/^The fleet is shown at http:\/\/127\.0\.0\.1:\d+\/$/);
      const answer = await fetch(`${said.split(' ').at(-1)}api/overview`);
      expect(await answer.json()).toMatchObject({ counts: { pending: 0 }, machines: [] });
    } finally {
      child.kill('SIGINT');
    }
    expect(await once(child, 'exit')).toEqual([0, null]);
  });

  test('refuses an address that others reach, without a token', async () => {
    await using server = await startRedis();
    const args = ['fleet', 'ui', '-s', `REDIS_URL=${server.url}`, '-s', 'DASHBOARD_HOST=0.0.0.0'];
    const child = spawn(process.execPath, ['--conditions=lycosa-source', bin, ...args], {
      cwd: project,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
    const [code] = (await once(child, 'close')) as [number];
    expect(code).not.toBe(0);
    expect(said).toContain('DASHBOARD_HOST "0.0.0.0" can be reached from other machines');
    expect(said).toContain('Set DASHBOARD_TOKEN as well');
  });
});
