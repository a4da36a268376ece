import { dirname, resolve } from 'node:path';

import type { Command } from '../cli.ts';
import { addCrawlOptions, type CrawlOptions } from '../options.ts';
import { checkSettings, findProject, loadSettings, loadSpiderFile } from '../project.ts';
import { runSpider } from './crawl.ts';

interface Options extends CrawlOptions {
  readonly file: string;
}

export const runspider: Command<Options> = {
  builder: (parser) =>
    addCrawlOptions(parser)
      .positional('file', {
        type: 'string',
        describe: 'TypeScript or JavaScript file; its last spider is run',
      })
      .example('$0 runspider quotes.ts -O quotes.jsonl', 'Run one file'),

  async run(options) {
    const spider = await loadSpiderFile(options.file);
    const project = await findProject(dirname(resolve(options.file)));
    const settings = await loadSettings(project, options);
    await checkSettings(options, project, spider);
    return runSpider(spider, settings, project?.root ?? process.cwd(), options);
  },
};
