import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { connectRedis } from '@lycosa/redis';
import { describe, expect, test } from 'vitest';

import { hasRedis, startRedis } from '../redis-server.ts';

const bin = fileURLToPath(new URL('../../packages/cli/src/bin.ts', import.meta.url));
const project = fileURLToPath(new URL('project', import.meta.url));
const run = promisify(execFile);

async function node(...args: string[]): Promise<string> {
  const { stdout } = await run(process.execPath, ['--conditions=lycosa-source', ...args], {
    cwd: project,
  });
  return stdout;
}

describe.skipIf(!hasRedis)('with a redis-server', () => {
  test('the commands order, run, show and requeue', async () => {
    await using server = await startRedis();
    const url = `REDIS_URL=${server.url}`;
    const fleet = (...args: string[]): Promise<string> => node(bin, 'fleet', ...args, '-s', url);
    const once = ['-s', 'FLEET_ATTEMPTS=1'];
    expect(await fleet('add', 'nap')).toBe('1 ordered, 1 pending\n');
    expect(await fleet('add', '--all', '-a', 'mode=broken', ...once)).toBe(
      '1 ordered, 2 pending\n',
    );
    await expect(fleet('add', 'npa')).rejects.toThrow('Did you mean nap?');
    await fleet('run', '--until-empty', '--count', '2', '--hosts', '2', '--nolog');
    const status = JSON.parse(await fleet('status', '--json')) as Record<string, unknown>;
    expect(status).toMatchObject({ pending: 0, running: 0, finished: 1, failed: 1 });
    expect(await fleet('status')).toContain(': cannot be built\n');
    await fleet('drain');
    expect(await fleet('requeue')).toBe('1 requeued\n');
    expect(await fleet('status')).toMatch(/^pending 1 .*\ndraining: /);
  });

  test('crawl keeps the sets with SpiderCountLimit in the settings', async () => {
    await using server = await startRedis();
    await using redis = await connectRedis({ url: server.url });
    await redis.call('SADD', 'pending', 'nap');
    await node(bin, 'crawl', 'nap', '--nolog', '-s', `REDIS_URL=${server.url}`);
    expect(await redis.call('SMEMBERS', 'finished')).toEqual(['nap']);
    expect(await redis.call('SCARD', 'pending')).toBe(0);
  });

  test(
    'under kills each spider is committed once, none is lost, and no limit is passed',
    { timeout: 90_000 },
    async () => {
      const script = fileURLToPath(new URL('fleet-test.mjs', import.meta.url));
      const sizes = ['--spiders', '60', '--agents', '3', '--limit', '12', '--lease', '2'];
      const report = await node(
        script,
        ...sizes,
        '--kill-every',
        '2',
        '--kills',
        '3',
        '--seed',
        '5',
      );
      expect(report).toContain('holds: each good spider committed exactly once');
      expect(report).not.toContain('BROKEN');
    },
  );
});
