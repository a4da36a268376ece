import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
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
    expect(await fleet('add', 'nap', '-a', 'mode=broken', ...once)).toBe('1 ordered, 2 pending\n');
    await expect(fleet('add', 'npa')).rejects.toThrow('Did you mean nap?');
    await fleet('run', '--until-empty', '--count', '2', '--hosts', '2', '--nolog');
    const status = JSON.parse(await fleet('status', '--json')) as Record<string, unknown>;
    expect(status).toMatchObject({ pending: 0, running: 0, finished: 1, failed: 1 });
    expect(await fleet('status')).toContain(': cannot be built\n');
    expect(await fleet('jobs', '--state', 'failed')).toMatch(/^failed nap#\w+, cannot be built\n$/);
    expect(await fleet('show', 'nap')).toMatch(
      /^finished nap, .*\n {2}run 1 on .*: finished after/,
    );
    const logs = await fleet('logs', 'nap');
    expect(logs).toBe('');
    await expect(fleet('show', 'npa')).rejects.toThrow('There is no job npa');
    await fleet('cron', 'add', 'nightly', 'nap', '--pattern', '0 3 * * *', '--tz', 'Europe/Paris');
    expect(await fleet('cron')).toMatch(
      /^nightly: 0 3 \* \* \* \(Europe\/Paris\), next at .*: nap\n$/,
    );
    await fleet('cron', 'remove', 'nightly');
    await fleet('drain');
    expect(await fleet('add', '--all')).toMatch(/^2 ordered, 2 pending\n$/);
    expect(await fleet('requeue')).toBe('1 requeued\n');
    expect(await fleet('status')).toMatch(/^pending 3 .*\ndraining: /);
  });

  test('SIGTERM hands back what runs, charges no attempt, and ends with 0', async () => {
    await using server = await startRedis();
    await using redis = await connectRedis({ url: server.url });
    const url = `REDIS_URL=${server.url}`;
    await node(bin, 'fleet', 'add', 'nap', '-a', 'ms=60000', '-s', url);
    const agent = spawn(
      process.execPath,
      ['--conditions=lycosa-source', bin, 'fleet', 'run', '--nolog', '-s', url],
      { cwd: project, stdio: 'ignore' },
    );
    const ended = once(agent, 'exit');
    const running = () => redis.call('SCARD', 'running');
    await expect.poll(running, { timeout: 20_000 }).toBe(1);
    agent.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
    expect(await running()).toBe(0);
    const [name] = (await redis.call('SMEMBERS', 'pending')) as string[];
    const job = await redis.call(
      'HMGET',
      `fleet:queue:spiders:s.${encodeURIComponent(name!)}`,
      'atm',
      'name',
    );
    expect(job).toEqual([null, 'nap']);
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
      const sizes = ['--spiders', '200', '--agents', '4', '--limit', '12', '--lease', '4'];
      const kills = ['--kill-every', '3', '--kills', '3', '--seed', '5'];
      const report = await node(script, ...sizes, ...kills);
      expect(report).toContain('holds: each good spider committed exactly once');
      expect(report).not.toContain('BROKEN');
    },
  );
});
