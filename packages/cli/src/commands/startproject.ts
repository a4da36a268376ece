import { relative, resolve } from 'node:path';

import { createProject } from 'create-lycosa';

import type { Command } from '../cli.ts';
import type { GlobalOptions } from '../options.ts';

interface Options extends GlobalOptions {
  readonly name: string;
  readonly dir?: string;
}

export const startproject: Command<Options> = {
  builder: (parser) =>
    parser
      .positional('name', { type: 'string', describe: 'Name of the project' })
      .positional('dir', { type: 'string', describe: 'Folder to make it in; its name by default' }),

  async run({ name, dir = name }) {
    const { nextSteps } = createProject(name, dir);
    console.log(
      `Project ${name} is in ${relative('', resolve(dir)) || 'this folder'}. Go on with:\n`,
    );
    for (const step of nextSteps) console.log(`  ${step}`);
    return 0;
  },
};
