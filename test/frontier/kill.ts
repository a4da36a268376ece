import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { connectRedis } from '@lycosa/redis';

import { startRedis } from '../redis-server.ts';
import { shortestGap, startRecorder } from './recorder.ts';

/** Milliseconds between two words of progress. */
const tellEveryMs = 20_000;

const script = fileURLToPath(new URL('./worker.ts', import.meta.url));

export interface FrontierKillOptions {
  readonly workers: number;
  readonly kills: number;
  readonly pages: number;
  readonly hosts: number;
  readonly concurrency: number;
  /** Seconds between two requests to a host. */
  readonly delay: number;
  /** Seconds. */
  readonly lease: number;
  readonly seed: number;
  /** Milliseconds after which it is given up. */
  readonly timeoutMs: number;
  /** Told now and then how far it is. */
  readonly onProgress?: (text: string) => void;
  /** How often Redis is killed and comes back with the file that it has written. */
  readonly redisKills?: number;
}

/** What the site, the feeds and Redis say of it; never what the workers count. */
export interface FrontierKillReport {
  readonly seconds: number;
  readonly kills: number;
  /** Pages that no worker has asked the site for. */
  readonly lost: number;
  /** Pages whose item is in no feed. */
  readonly lostItems: number;
  /** Items beyond one for each page. */
  readonly doubledItems: number;
  /** Requests beyond one for each page. */
  readonly refetched: number;
  /** Milliseconds. */
  readonly shortestGap: number;
  /** Gaps at a host that are below the delay. */
  readonly shortGaps: number;
  /** Exits of workers that were not killed, and not zero. */
  readonly failures: number;
  /** True if all workers came to an end by themselves. */
  readonly isFinished: boolean;
  /** Requests that are left in Redis, waiting or leased. */
  readonly left: number;
}

/** Crawls a tree with many workers, killing one of them again and again; each comes back as another process. */
export async function frontierKillTest(options: FrontierKillOptions): Promise<FrontierKillReport> {
  const { workers, pages, delay } = options;
  let state = options.seed;
  const random = (): number => (state = (state * 48271) % 2147483647) / 2147483647;
  const folder = await mkdtemp(join(tmpdir(), 'lycosa-frontier-'));
  await using site = await startRecorder({ pages, hosts: options.hosts, answerMs: 20, random });
  const { redisKills = 0 } = options;
  await using server = await startRedis(...(redisKills > 0 ? ['--appendonly', 'yes'] : []));
  const living = new Map<string, ChildProcess>();
  let started = 0;
  let failures = 0;
  const start = (): void => {
    const name = `w${started++}`;
    const settings = {
      CONCURRENT_REQUESTS: options.concurrency,
      DOWNLOAD_DELAY: delay,
      FRONTIER_LEASE: options.lease,
      USER_AGENT: name,
      // The silence of a Redis that is stopped is part of the test.
      LOG_LEVEL: 'CRITICAL',
      ADDRESS_POLICY: 'any',
      // One that comes back after the end finds nothing to do.
      SCHEDULER_PERSIST: true,
    };
    const args = Object.entries(settings).map(([key, value]) => `${key}=${value}`);
    const child = spawn(
      process.execPath,
      ['--conditions=lycosa-source', script, server.url, site.start, join(folder, name), ...args],
      { stdio: ['ignore', 'ignore', 'inherit'] },
    );
    living.set(name, child);
    child.once('exit', (code, signal) => {
      living.delete(name);
      if (signal === 'SIGKILL') start();
      else if (code !== 0) failures++;
    });
  };
  const begin = performance.now();
  const isOver = (): boolean => performance.now() - begin > options.timeoutMs;
  // Nothing is left behind where this process is stopped itself.
  const reap = (): void => {
    for (const child of living.values()) child.removeAllListeners('exit').kill('SIGKILL');
    server.process.kill();
  };
  process.once('exit', reap);
  for (let i = 0; i < workers; i++) start();
  let kills = 0;
  let redisKilled = 0;
  let nextKill = random();
  let nextWord = begin + tellEveryMs;
  while (living.size > 0 && !isOver()) {
    await sleep(10);
    if (performance.now() > nextWord) {
      nextWord += tellEveryMs;
      options.onProgress?.(`${site.hits.length} requests, ${kills} kills`);
    }
    const share = site.hits.length / pages;
    if (redisKilled < redisKills && share > (redisKilled + 1) / (redisKills + 1)) {
      redisKilled++;
      await server.restart(true);
    }
    // Spread over the crawl: each at a random place of its share of the first four fifths.
    if (kills >= options.kills || share * options.kills < 0.8 * nextKill) continue;
    // One that has begun: kills shall fall into the crawl, not into the start of Node.
    const lately = [...new Set(site.hits.slice(-10 * workers).map(({ worker }) => worker))];
    const candidates = lately.filter((name) => living.has(name));
    const name = candidates[Math.floor(random() * candidates.length)];
    if (name === undefined) continue;
    living.get(name)!.kill('SIGKILL');
    kills++;
    nextKill = kills + random();
  }
  const seconds = (performance.now() - begin) / 1000;
  const isFinished = living.size === 0;
  process.off('exit', reap);
  for (const child of living.values()) child.removeAllListeners('exit').kill('SIGKILL');
  await using redis = await connectRedis({ url: server.url });
  const lengths = [
    'ZCARD {tree}:ready',
    'ZCARD {tree}:wait',
    'ZCARD {tree}:lease',
    'HLEN {tree}:held',
  ];
  let left = 0;
  for (const text of lengths) {
    const [command = '', key = ''] = text.split(' ');
    left += Number(await redis.call(command, key));
  }
  const items = await itemsIn(folder);
  await rm(folder, { recursive: true });
  const asked = new Set(site.hits.map(({ page }) => page));
  const { hits } = site;
  return {
    seconds,
    kills,
    lost: pages - asked.size,
    lostItems: pages - new Set(items).size,
    doubledItems: items.length - new Set(items).size,
    refetched: hits.length - asked.size,
    shortestGap: shortestGap(hits),
    shortGaps: countShort(hits, delay * 1000),
    failures,
    isFinished,
    left,
  };
}

function countShort(hits: readonly { host: number; time: number }[], delayMs: number): number {
  const last = new Map<number, number>();
  let count = 0;
  for (const { host, time } of hits) {
    if (time - (last.get(host) ?? -Infinity) < delayMs) count++;
    last.set(host, time);
  }
  return count;
}

/** The pages whose items are in the feeds, and in the parts that killed workers have left. */
async function itemsIn(folder: string): Promise<string[]> {
  const found: string[] = [];
  for (const name of await readdir(folder)) {
    for (const line of (await readFile(join(folder, name), 'utf8')).split('\n')) {
      const page = /^\{"url":"[^"]*\/(\d+)"\}$/.exec(line)?.[1];
      if (page !== undefined) found.push(page);
    }
  }
  return found;
}
