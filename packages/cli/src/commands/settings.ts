import type { Settings, SpiderClass } from 'lycosa';

import type { Command } from '../cli.ts';
import { CommandError, type GlobalOptions } from '../options.ts';
import { checkSettings, findProject, loadSettings, loadSpiders, needProject } from '../project.ts';

interface Options extends GlobalOptions {
  readonly get?: string;
  readonly spider?: string;
}

export const settings: Command<Options> = {
  builder: (parser) =>
    parser
      .option('get', {
        type: 'string',
        requiresArg: true,
        describe: 'Print the value of this setting alone',
      })
      .option('spider', {
        type: 'string',
        requiresArg: true,
        describe: 'As this spider sees them',
      }),

  async run(options) {
    const project =
      options.spider === undefined ? await findProject() : await needProject('settings --spider');
    const values = await loadSettings(project, options);
    let spider: SpiderClass | undefined;
    if (project && options.spider !== undefined) {
      spider = (await loadSpiders(project, values)).load(options.spider);
      spider.updateSettings?.(values);
    }
    await checkSettings(options, project, spider);
    if (options.get === undefined) {
      const { redactText } = await import('lycosa');
      for (const name of values.names().toSorted()) {
        const value = isSecret(name, values) ? '***' : redactText(shown(values.get(name)));
        console.log(`${name} = ${value}`);
      }
    } else {
      console.log(await one(values, options.get));
    }
    return 0;
  },
};

async function one(values: Settings, name: string): Promise<string> {
  if (!values.has(name)) {
    const { nearest } = await import('lycosa');
    const near = nearest(name, values.names());
    throw new CommandError(
      `There is no setting ${JSON.stringify(name)}. ${near ? `Did you mean ${near}?` : 'lycosa settings shows all.'}`,
    );
  }
  return shown(values.get(name));
}

/** What all settings are printed for, others may read: a report, a terminal that is shared. `--get` prints it. */
function isSecret(name: string, values: Settings): boolean {
  return /PASS|SECRET|TOKEN/.test(name) && Boolean(values.get(name));
}

/** Text as it is, the rest as JSON, a class or function by its name. */
function shown(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'function') return value.name;
  return (
    JSON.stringify(value, (_, inner: unknown) =>
      typeof inner === 'function' ? inner.name : inner,
    ) ?? 'undefined'
  );
}
