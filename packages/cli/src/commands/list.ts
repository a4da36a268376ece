import type { Command } from '../cli.ts';
import type { GlobalOptions } from '../options.ts';
import { checkSettings, loadSettings, loadSpiders, needProject } from '../project.ts';

export const list: Command<GlobalOptions> = {
  builder: (parser) => parser,

  async run(options) {
    const project = await needProject('list');
    await checkSettings(options, project);
    const spiders = await loadSpiders(project, await loadSettings(project, options));
    for (const name of spiders.list()) console.log(name);
    return 0;
  },
};
