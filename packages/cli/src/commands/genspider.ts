import { existsSync, statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';

import { createSpider, spiderTemplate, spiderTemplates } from 'create-lycosa';

import type { Command } from '../cli.ts';
import { CommandError, type GlobalOptions } from '../options.ts';
import { findProject, loadSettings, loadSpiders, type Project } from '../project.ts';

interface Options extends GlobalOptions {
  readonly name?: string;
  readonly url?: string;
  readonly template: string;
  readonly list?: boolean;
  readonly dump?: string;
  readonly force?: boolean;
}

export const genspider: Command<Options> = {
  builder: (parser) =>
    parser
      .positional('name', { type: 'string', describe: 'Name of the spider' })
      .positional('url', { type: 'string', describe: 'Domain or URL that it starts at' })
      .option('template', {
        alias: 't',
        type: 'string',
        requiresArg: true,
        default: 'basic',
        describe: 'Template to make it from',
      })
      .option('list', { alias: 'l', type: 'boolean', describe: 'List the templates' })
      .option('dump', {
        alias: 'd',
        type: 'string',
        requiresArg: true,
        describe: 'Print a template',
      })
      .option('force', { type: 'boolean', describe: 'Replace a file that exists' })
      .example('$0 genspider quotes quotes.toscrape.com', 'Make spiders/quotes.ts'),

  async run(options) {
    if (options.list) {
      console.log(spiderTemplates().join('\n'));
    } else if (options.dump !== undefined) {
      process.stdout.write(spiderTemplate(await templateName(options.dump)));
    } else {
      await generate(options);
    }
    return 0;
  },
};

async function generate({ name, url, template, force, ...options }: Options): Promise<void> {
  if (name === undefined || url === undefined) {
    throw new CommandError('Something is missing. Write lycosa genspider <name> <domain or URL>.');
  }
  const project = await findProject();
  const folder = project ? spidersFolder(project) : process.cwd();
  if (project && !force) await checkName(name, project, options);
  const file = createSpider({
    name,
    url,
    folder,
    template: await templateName(template),
    replace: force === true,
  });
  const run = project ? `lycosa crawl ${name}` : `lycosa runspider ${relative('', file)}`;
  console.log(`Spider ${name} is in ${relative('', file)}. Run it with: ${run}`);
}

/** @throws CommandError if another spider of the project has the name. */
async function checkName(name: string, project: Project, options: GlobalOptions): Promise<void> {
  const names = await loadSettings(project, options)
    .then((settings) => loadSpiders(project, settings))
    .then((spiders) => spiders.list())
    // A project that cannot be loaded at present may get a new spider all the same.
    .catch((): string[] => []);
  if (names.includes(name)) {
    throw new CommandError(
      `The project has a spider ${JSON.stringify(name)} already. Choose another name, or use --force.`,
    );
  }
}

function spidersFolder({ root, config }: Project): string {
  const { spiders = './spiders' } = config;
  const folders = (typeof spiders === 'string' ? [spiders] : spiders).map((path) =>
    resolve(root, path),
  );
  return (
    folders.find((path) => !existsSync(path) || statSync(path).isDirectory()) ??
    join(root, 'spiders')
  );
}

async function templateName(name: string): Promise<string> {
  const templates = spiderTemplates();
  if (templates.includes(name)) return name;
  const { nearest } = await import('lycosa');
  const near = nearest(name, templates);
  throw new CommandError(
    `There is no template ${JSON.stringify(name)}. ${near ? `Did you mean ${near}?` : `Templates are ${templates.join(', ')}.`}`,
  );
}
