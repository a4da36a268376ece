import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

import type { Command } from '../cli.ts';
import { addCrawlOptions, CommandError, type CrawlOptions } from '../options.ts';
import { checkSettings, findProject, loadSettings } from '../project.ts';
import { runSpider } from './crawl.ts';

interface Options extends CrawlOptions {
  readonly file: string;
}

export const runspider: Command<Options> = {
  builder: (parser) =>
    addCrawlOptions(parser)
      .positional('file', { type: 'string', describe: 'TypeScript or JavaScript file; its last spider is run' })
      .example('$0 runspider quotes.ts -O quotes.jsonl', 'Run one file'),

  async run(options) {
    if (!existsSync(options.file)) {
      throw new CommandError(`There is no file ${options.file}. lycosa crawl runs a spider of the project by its name.`);
    }
    const { SpiderLoader } = await import('lycosa');
    const project = await findProject(dirname(resolve(options.file)));
    const settings = await loadSettings(project, options);
    const spider = await SpiderLoader.loadFile(options.file);
    await checkSettings(options, project, spider);
    return await runSpider(spider, settings, project?.root ?? process.cwd(), options);
  },
};
