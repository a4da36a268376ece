/** A process that runs spiders for the agent of its machine: several in one event loop. Started by fleet-agent.ts. */
import { readdir, readFile, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

import {
  type Crawler,
  CrawlerProcess,
  type CrawlResult,
  type LycosaConfig,
  Settings,
  type SpiderClass,
  SpiderLoader,
} from 'lycosa';

import type { FromHost, HostConfig, ToHost } from './fleet-messages.ts';
import { recordOf, verdictOf } from './reasons.ts';

/** Milliseconds between two signs of life. */
const beatMs = 500;

class FleetHost {
  readonly #root: string;
  readonly #paths: readonly string[];
  readonly #crawls: CrawlerProcess;
  readonly #running = new Map<number, Run>();
  #sources: Promise<ReadonlyMap<string, string>> | undefined;
  #all: Promise<SpiderLoader> | undefined;

  constructor(root: string, config: LycosaConfig, settings: Settings) {
    this.#root = root;
    this.#paths = [config.spiders ?? './spiders'].flat();
    this.#crawls = new CrawlerProcess({ settings, root });
  }

  take(message: ToHost): void {
    if (message.type === 'run') void this.#run(message);
    else if (message.type === 'exit') void this.#exit();
    else this.#running.get(message.id)?.stop(message.mode);
  }

  async #run({ id, spider, args }: Extract<ToHost, { type: 'run' }>): Promise<void> {
    const since = performance.now();
    const run = new Run();
    this.#running.set(id, run);
    const result = await this.#load(spider)
      .then((spiderClass) => {
        const crawl = this.#crawls.crawl(spiderClass, args);
        run.began([...this.#crawls.crawlers].at(-1));
        return crawl;
      })
      .catch((error: Error): CrawlResult => ({
        spider,
        reason: 'bootstrap_failed',
        ok: false,
        stats: {},
        error,
      }));
    this.#running.delete(id);
    const reasons = this.#crawls.settings.get('FLEET_REASONS') ?? {};
    say({
      type: 'ended',
      id,
      verdict: verdictOf(result, reasons),
      record: recordOf(result, (performance.now() - since) / 1000),
    });
  }

  /** Imports the files that name the spider; all of them only where none has it. */
  async #load(name: string): Promise<SpiderClass> {
    this.#sources ??= sourcesOf(this.#root, this.#paths);
    const named = [...(await this.#sources)]
      .filter(([, text]) => text.includes(`'${name}'`) || text.includes(`"${name}"`))
      .map(([file]) => file);
    const some = await SpiderLoader.load(this.#root, named, () => {});
    if (some.list().includes(name)) return some.load(name);
    this.#all ??= SpiderLoader.load(this.#root, this.#paths, () => {});
    return (await this.#all).load(name);
  }

  async #exit(): Promise<void> {
    await this.#crawls.close();
    process.exit(0);
  }
}

/** A run that is asked to stop before its crawler is there stops when it is. */
class Run {
  #crawler: Crawler | undefined;
  #stop: 'graceful' | 'fast' | undefined;

  began(crawler: Crawler | undefined): void {
    this.#crawler = crawler;
    if (this.#stop) crawler?.stop(this.#stop);
  }

  stop(mode: 'graceful' | 'fast'): void {
    this.#stop = mode;
    this.#crawler?.stop(mode);
  }
}

/** What stands in the spider files, without running them. */
async function sourcesOf(root: string, paths: readonly string[]): Promise<Map<string, string>> {
  const sources = new Map<string, string>();
  for (const path of paths.map((one) => resolve(root, one))) {
    const info = await stat(path).catch(() => undefined);
    if (info?.isFile()) sources.set(path, await readFile(path, 'utf8'));
    if (!info?.isDirectory()) continue;
    for (const entry of await readdir(path, { recursive: true, withFileTypes: true })) {
      const file = join(entry.parentPath, entry.name);
      if (!entry.isFile() || !/(?<!\.d|\.test|\.spec)\.[cm]?[jt]s$/.test(entry.name)) continue;
      if (!file.includes('node_modules')) sources.set(file, await readFile(file, 'utf8'));
    }
  }
  return sources;
}

function say(message: FromHost): void {
  // A parent that is gone has no use for it, and we are gone in a moment.
  process.send?.(message, () => {});
}

async function start(text: string): Promise<void> {
  const { root, config, settings: own } = JSON.parse(text) as HostConfig;
  const module = config
    ? ((await import(pathToFileURL(config).href)) as { readonly default: LycosaConfig })
    : { default: {} };
  const settings = new Settings(module.default.settings ?? {}, 'project');
  settings.update(own, 'cmdline');
  const host = new FleetHost(root, module.default, settings);
  process.on('message', (message: ToHost) => host.take(message));
  setInterval(() => {
    say({ type: 'beat', rssMb: Math.round(process.memoryUsage.rss() / 2 ** 20) });
  }, beatMs);
  say({ type: 'beat', rssMb: 0 });
}

// Without its agent nobody renews the leases: whatever runs here will run elsewhere.
process.on('disconnect', () => process.exit(1));
// The agent is told to stop, and tells us.
process.on('SIGINT', () => {}).on('SIGTERM', () => {});
const config = process.env['LYCOSA_FLEET_HOST'];
if (config !== undefined) await start(config);
