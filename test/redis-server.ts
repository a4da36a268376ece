import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const hasRedis: boolean = spawnSync('redis-server', ['--version']).status === 0;

export interface RedisServer extends AsyncDisposable {
  readonly url: string;
  readonly process: ChildProcess;
  /** Kills it, as a crash would, and starts it anew: with the file that it has written, or with nothing. */
  restart(withFile: boolean): Promise<void>;
  /** Starts it anew after it was killed. */
  start(withFile: boolean): Promise<void>;
}

/** A Redis of our own on a socket in a temporary folder. */
export async function startRedis(...options: string[]): Promise<RedisServer> {
  const folder = await mkdtemp(join(tmpdir(), 'lycosa-redis-'));
  const path = join(folder, 'redis.sock');
  const args = ['--port', '0', '--unixsocket', path, '--save', '', '--dir', folder, ...options];
  let server = spawn('redis-server', args, { stdio: 'ignore' });
  await appears(path);
  async function start(withFile: boolean): Promise<void> {
    if (!withFile) await rm(join(folder, 'appendonlydir'), { recursive: true, force: true });
    server = spawn('redis-server', args, { stdio: 'ignore' });
  }
  return {
    url: `unix://${path}`,
    get process() {
      return server;
    },
    async restart(withFile) {
      const gone = once(server, 'exit');
      server.kill('SIGKILL');
      await gone;
      await start(withFile);
    },
    start,
    async [Symbol.asyncDispose]() {
      const isRunning = server.exitCode === null && server.signalCode === null;
      const gone = isRunning ? once(server, 'exit') : undefined;
      server.kill();
      await gone;
      await rm(folder, { recursive: true });
    },
  };
}

/** A busy machine takes its time to start a server, and clients have little patience. */
async function appears(path: string): Promise<void> {
  for (let left = 1000; left > 0 && !(await stat(path).catch(() => undefined)); left--)
    await new Promise((resolve) => setTimeout(resolve, 20));
}
