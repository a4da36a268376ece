import { writeFile } from 'node:fs/promises';
import { isAbsolute, relative, resolve } from 'node:path';

import type { Crawler, Settings, SettingsMap, SpiderArgs, SpiderClass } from 'lycosa';

import type { Command } from '../cli.ts';
import { exitCodeOf } from '../exit-code.ts';
import {
  addCrawlOptions,
  CommandError,
  type CrawlOptions,
  escapeControls,
  parsePairs,
} from '../options.ts';
import {
  checkSettings,
  loadSettings,
  loadSpiders,
  misspelledSettings,
  needProject,
} from '../project.ts';

interface Options extends CrawlOptions {
  readonly spider: string;
}

export const crawl: Command<Options> = {
  builder: (parser) =>
    addCrawlOptions(parser)
      .positional('spider', { type: 'string', describe: 'Name of the spider' })
      .example(
        '$0 crawl quotes -O quotes.jsonl',
        'Write the items of the spider quotes to a new file',
      )
      .example(
        '$0 crawl quotes -a tag=humor -s DOWNLOAD_DELAY=0.5',
        'With an argument and a setting',
      ),

  async run(options) {
    const project = await needProject('crawl');
    const settings = await loadSettings(project, options);
    const spiders = await loadSpiders(project, settings);
    const spider = spiders.load(options.spider);
    await checkSettings(options, project, spider);
    return runSpider(spider, settings, project.root, options);
  },
};

/**
 * Runs a spider to its end.
 *
 * @returns The exit code.
 */
export async function runSpider(
  spider: SpiderClass,
  settings: Settings,
  root: string,
  options: CrawlOptions,
): Promise<number> {
  const { CrawlerProcess } = await import('lycosa');
  const args = await spiderArgs(spider, options);
  settings.set('FEEDS_ADDED', await addedFeeds(settings, root, options), 'cmdline');
  if (options.pidfile !== undefined) await writeFile(options.pidfile, `${process.pid}\n`);
  const { Terminal } = await import('../live.ts');
  const terminal = Terminal.open(settings);
  const crawls = new CrawlerProcess({
    settings,
    root,
    ...(terminal && { logger: terminal.logger }),
  });
  for (const warning of await misspelledSettings(settings)) crawls.log.warn(warning);
  const running = crawls.crawl(spider, args);
  // It is there at once, unless it cannot be built: then the result says why.
  const [crawler] = crawls.crawlers;
  if (crawler) terminal?.watch(crawler);
  using _ = reportUnhandled(crawler);
  await crawls.start();
  const result = await running;
  await crawls.close();
  await terminal?.close(result);
  if (result.error && !isLogShown(settings)) {
    console.error(`lycosa: ${escapeControls(result.error.message)}`);
  }
  return exitCodeOf(result);
}

/** Text arguments of the spider. Where it says which it takes (`static args`), no other is accepted. */
async function spiderArgs(spider: SpiderClass, options: CrawlOptions): Promise<SpiderArgs> {
  const args = parsePairs(options.arg, '-a');
  if (spider.args === undefined) return args;
  const { nearest } = await import('lycosa');
  for (const name of Object.keys(args)) {
    if (spider.args.includes(name)) continue;
    const near = nearest(name, spider.args);
    const all = spider.args.length > 0 ? `It takes ${spider.args.join(', ')}.` : 'It takes none.';
    throw new CommandError(
      `Spider ${spider.name} has no argument ${JSON.stringify(name)}. ${near ? `Did you mean ${near}?` : all}`,
    );
  }
  return args;
}

/** Feeds of `-o` and `-O`. A path is typed as seen from the working folder, and kept as seen from the project. */
async function addedFeeds(
  settings: Settings,
  root: string,
  options: CrawlOptions,
): Promise<SettingsMap['FEEDS_ADDED']> {
  const { parseFeedOutputs } = await import('lycosa');
  const feeds = parseFeedOutputs(options.output ?? [], options['overwrite-output'] ?? [], settings);
  return fromRoot(feeds, root);
}

function fromRoot<T>(feeds: Readonly<Record<string, T>>, root: string): Record<string, T> {
  return Object.fromEntries(
    Object.entries(feeds).map(([uri, feed]) => [
      isPath(uri) ? relative(root, resolve(uri)) : uri,
      feed,
    ]),
  );
}

function isPath(uri: string): boolean {
  return uri !== '-' && !isAbsolute(uri) && !/^[a-z][a-z0-9+.-]+:/i.test(uri);
}

/** True if what the crawl logs at level ERROR is seen on this terminal. */
function isLogShown(settings: Settings): boolean {
  return (
    settings.get('LOG_ENABLED') &&
    !settings.get('LOG_FILE') &&
    settings.get('LOG_LEVEL') !== 'CRITICAL'
  );
}

/** A promise of the user's code that fails with nobody waiting for it is an error of the crawl, not its end. */
function reportUnhandled(crawler: Crawler | undefined): Disposable {
  const onRejection = (reason: unknown): void => {
    const error = reason instanceof Error ? reason : new Error(String(reason));
    if (!crawler) throw error;
    crawler.log.error(`A promise failed and nobody waited for it: ${error.message}`, { error });
    crawler.fail(error);
  };
  process.on('unhandledRejection', onRejection);
  return { [Symbol.dispose]: () => void process.off('unhandledRejection', onRejection) };
}
