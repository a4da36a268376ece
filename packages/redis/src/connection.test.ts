import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';

import { Settings } from 'lycosa';
import { describe, expect, expectTypeOf, test } from 'vitest';

import { hasRedis, startRedis } from '../../../test/redis-server.ts';
import { connectRedis, RedisConnectionError, redisOptions } from './connection.ts';

async function failure(promise: Promise<unknown>): Promise<RedisConnectionError> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(RedisConnectionError);
  return error as RedisConnectionError;
}

describe.skipIf(!hasRedis)('with a redis-server', () => {
  test('a Redis that is still starting is waited for, and its connection is used and closed', async () => {
    await using server = await startRedis();
    const redis = await connectRedis({ url: server.url });
    expect(redis.url).toBe(server.url);
    expect(await redis.call('SET', 'a', 1)).toBe('OK');
    expect(await redis.call('GET', 'a')).toBe('1');
    expect(redis.isReady).toBe(true);
    await redis.close();
    await redis.close();
    expect(redis.isReady).toBe(false);
  });

  test('the database of the URL is the one used', async () => {
    await using server = await startRedis();
    await using redis = await connectRedis({ url: `${server.url}?db=3` });
    expect(redis.url).toBe(`${server.url}?db=3`);
    expect(await redis.call('CLIENT', 'INFO')).toMatch(/ db=3 /);
  });

  test('a Redis that may evict keys is refused unless that is accepted', async () => {
    await using server = await startRedis('--maxmemory-policy', 'allkeys-lru');
    const { message, code } = await failure(connectRedis({ url: server.url }));
    expect(code).toBe('ERR_REDIS_CONNECTION');
    expect(message).toContain('has maxmemory-policy allkeys-lru');
    expect(message).toContain('REDIS_REQUIRE_NOEVICTION=false');
    await using redis = await connectRedis({ url: server.url, requireNoeviction: false });
    expect(await redis.call('PING')).toBe('PONG');
  });

  test('a wrong password is told at once and shown nowhere', async () => {
    await using server = await startRedis('--requirepass', 'right');
    await using redis = await connectRedis({ url: server.url, params: { password: 'right' } });
    expect(await redis.call('PING')).toBe('PONG');
    const url = `${server.url}?password=hunter2`;
    const start = performance.now();
    const wrong = await failure(connectRedis({ url, timeoutMs: 20_000 }));
    expect(performance.now() - start).toBeLessThan(15_000);
    expect(wrong.message).toMatch(/refused us: WRONGPASS/);
    expect(JSON.stringify(wrong) + wrong.stack + String(wrong.cause)).not.toContain('hunter2');
    const none = await failure(connectRedis({ url: server.url }));
    expect(none.message).toMatch(/refused us: NOAUTH/);
  });

  test('a connection that is lost is told once, and closes though Redis is away', async () => {
    await using server = await startRedis();
    const lost: Error[] = [];
    const redis = await connectRedis({ url: server.url, onLost: (error) => lost.push(error) });
    server.process.kill('SIGKILL');
    await once(server.process, 'exit');
    await expect.poll(() => lost.length).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 400));
    expect(lost).toHaveLength(1);
    await redis.close();
    expect(redis.isReady).toBe(false);
  });
});

test('where nothing listens the message says where, how long, and what to do, without the password', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  const url = `redis://user:hunter2@127.0.0.1:${port}/4`;
  const error = await failure(connectRedis({ url, timeoutMs: 250 }));
  expect(error.message).toBe(
    `Redis at redis://127.0.0.1:${port}/4 could not be reached within 0.25 s ` +
      `(connect ECONNREFUSED 127.0.0.1:${port}). Start it, or set REDIS_URL (redis://host:6379/0).`,
  );
  expect(error.cause).toMatchObject({ code: 'ECONNREFUSED' });
});

test('a server that accepts and never answers is given up when the time is over', async () => {
  const server = createServer(() => {}).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const error = await failure(connectRedis({ host: '127.0.0.1', port, timeoutMs: 200 }));
  expect(error.message).toContain('could not be reached within 0.2 s (no answer)');
  server.close();
});

test('settings become options, text among them', () => {
  expect(redisOptions(new Settings())).toEqual({
    host: 'localhost',
    port: 6379,
    params: {},
    timeoutMs: 5000,
    requireNoeviction: true,
  });
  const settings = new Settings({ REDIS_HOST: 'redis.test' });
  settings.set('REDIS_PORT', '6380', 'cmdline');
  settings.set('REDIS_PARAMS', '{"db":2}', 'cmdline');
  settings.set('REDIS_REQUIRE_NOEVICTION', '0', 'cmdline');
  expect(redisOptions(settings)).toMatchObject({
    host: 'redis.test',
    port: 6380,
    params: { db: 2 },
    requireNoeviction: false,
  });
});

test('settings that cannot be say so before anything is connected to', () => {
  const options = (name: string, value: unknown) => () =>
    redisOptions(new Settings({ [name]: value }));
  expect(options('REDIS_PORT', 'x')).toThrow(
    'REDIS_PORT must be a number from 1 to 65535, got "x".',
  );
  expect(options('REDIS_REQUIRE_NOEVICTION', 'maybe')).toThrow('must be true or false');
  expect(options('REDIS_PARAMS', '[1]')).toThrow('REDIS_PARAMS must be an object');
  expect(options('REDIS_URL', 'http://:hunter2@host')).toThrow('REDIS_URL is no Redis URL');
  expect(options('REDIS_URL', 'http://:hunter2@host')).not.toThrow('hunter2');
  expect(options('REDIS_URL', 'redis://host/x')).toThrow('The database in REDIS_URL must be');
});

test('the settings have their types', () => {
  expectTypeOf(new Settings().get('REDIS_URL')).toEqualTypeOf<string | undefined>();
  expectTypeOf(new Settings().get('REDIS_PORT')).toEqualTypeOf<number | undefined>();
});
