import type { Argv } from 'yargs';
import yargs from 'yargs';

import { version } from './commands/version.ts';
import { addGlobalOptions, escapeControls, joinDashValues } from './options.ts';

/** One command, in a file named by the word typed. */
export interface Command<Options = never> {
  builder(parser: Argv): Argv;
  /** Returns the exit code. */
  run(options: Options): Promise<number>;
}

interface CommandEntry {
  readonly usage: string;
  readonly describe: string;
  /** Imports it; only the command that is typed is. */
  readonly load: () => Promise<Command>;
}

const commands: readonly CommandEntry[] = [
  {
    usage: 'crawl <spider>',
    describe: 'Run a spider of the project',
    load: async () => (await import('./commands/crawl.ts')).crawl,
  },
  {
    usage: 'runspider <file>',
    describe: 'Run the spider of a file; needs no project',
    load: async () => (await import('./commands/runspider.ts')).runspider,
  },
  {
    usage: 'list',
    describe: 'Print the names of the spiders',
    load: async () => (await import('./commands/list.ts')).list,
  },
  {
    usage: 'settings',
    describe: 'Print the settings',
    load: async () => (await import('./commands/settings.ts')).settings,
  },
  {
    usage: 'startproject <name> [dir]',
    describe: 'Make a new project',
    load: async () => (await import('./commands/startproject.ts')).startproject,
  },
  {
    usage: 'genspider [name] [url]',
    describe: 'Make a new spider from a template, for a domain or a URL',
    load: async () => (await import('./commands/genspider.ts')).genspider,
  },
  {
    usage: 'job <action> <dir>',
    describe: 'Show or clear the job of a folder (JOBDIR)',
    load: async () => (await import('./commands/job.ts')).job,
  },
  {
    usage: 'feed <action> <part>',
    describe: 'Repair a feed that a crash has left unfinished',
    load: async () => (await import('./commands/feed.ts')).feed,
  },
  {
    usage: 'fleet <action> [names..]',
    describe: 'Run many spiders on many machines, over Redis',
    load: async () => (await import('./commands/fleet.ts')).fleet,
  },
  {
    usage: 'version',
    describe: 'Print the version',
    load: async () => (await import('./commands/version.ts')).versionCommand,
  },
];

/** What yargs refused, before it is put in our words. */
class ParseError extends Error {
  readonly options: readonly string[];

  constructor(message: string, options: readonly string[]) {
    super(message);
    this.options = options;
  }
}

/**
 * Runs a command line. What goes wrong is one line on stderr.
 *
 * @param args - What was typed after `lycosa`.
 * @returns The exit code.
 */
export async function main(args: readonly string[]): Promise<number> {
  let code = 0;
  const parser: Argv = yargs()
    .scriptName('lycosa')
    .usage('Usage: $0 <command> [options]')
    // Words are ours to say, and ours to recognise.
    .locale('en')
    .parserConfiguration({
      'boolean-negation': false,
      'camel-case-expansion': false,
      'dot-notation': false,
      'greedy-arrays': false,
      'parse-numbers': false,
      'parse-positional-numbers': false,
    })
    .strict()
    .exitProcess(false)
    .help('help')
    .alias('help', 'h')
    .version(version())
    .wrap(Math.min(process.stdout.columns ?? 100, 100))
    .fail((message, error) => {
      // Ours, from a command, come as they are.
      if (error && error.name !== 'YError') throw error;
      throw new ParseError(error?.message ?? message, optionNames(parser));
    });
  addGlobalOptions(parser);
  for (const { usage, describe, load } of commands) {
    parser.command(
      usage,
      describe,
      async (builder) => (await load()).builder(builder),
      async (options) => {
        // What yargs let through has the form that the builder of the same module asked for.
        code = await (await load()).run(lastOfRepeated(options) as never);
      },
    );
  }
  try {
    if (args.length === 0) console.log(await parser.getHelp());
    else await parser.parseAsync(joinDashValues(args));
    return code;
  } catch (thrown) {
    console.error(`lycosa: ${await explain(thrown, args)}`);
    return 1;
  }
}

/** Of an option that takes one value the last holds, as elsewhere on command lines. */
function lastOfRepeated(options: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const lists = new Set([
    'names',
    'set',
    's',
    'arg',
    'a',
    'output',
    'o',
    'overwrite-output',
    'O',
    '_',
  ]);
  return Object.fromEntries(
    Object.entries(options).map(([name, value]) => [
      name,
      Array.isArray(value) && !lists.has(name) ? (value as unknown[]).at(-1) : value,
    ]),
  );
}

/** Names and aliases of all options that `parser` knows at this point. */
function optionNames(parser: Argv): string[] {
  // Public, but not in its types.
  const { getOptions } = parser as unknown as {
    getOptions(): { key: Record<string, unknown>; alias: Record<string, readonly string[]> };
  };
  const { key, alias } = getOptions.call(parser);
  return [...new Set([...Object.keys(key), ...Object.values(alias).flat()])];
}

async function explain(thrown: unknown, args: readonly string[]): Promise<string> {
  if (!(thrown instanceof Error)) return escapeControls(String(thrown));
  // Not all that yargs refuses passes through `fail`.
  if (thrown.name === 'YError') return explainParseError(new ParseError(thrown.message, []), args);
  if (thrown instanceof ParseError) return explainParseError(thrown, args);
  if (wantsStack(args)) return thrown.stack ?? thrown.message;
  return thrown.message.split('\n').map(escapeControls).join('\n');
}

async function explainParseError(error: ParseError, args: readonly string[]): Promise<string> {
  const { message } = error;
  const command = commands.find(
    ({ usage }) => firstWord(usage) === args.find((arg) => !arg.startsWith('-')),
  );
  const help = command ? `lycosa ${firstWord(command.usage)} -h` : 'lycosa -h';
  const unknown = /^Unknown (?:argument|command)s?: ([^,]+)/.exec(message)?.[1];
  if (unknown !== undefined) return explainUnknown(unknown, error.options, args, command, help);
  const lacking = /^Not enough arguments following: (.+)$/.exec(message)?.[1];
  if (lacking !== undefined) return `${dashed(lacking)} needs a value. See ${help}.`;
  if (message.startsWith('Not enough non-option arguments') && command) {
    return `Something is missing. Write lycosa ${command.usage}, or see ${help}.`;
  }
  return `${message} See ${help}.`;
}

async function explainUnknown(
  word: string,
  options: readonly string[],
  args: readonly string[],
  command: CommandEntry | undefined,
  help: string,
): Promise<string> {
  const { nearest } = await import('lycosa');
  const typed = args.find(
    (arg) =>
      arg === `--${word}` ||
      arg.startsWith(`--${word}=`) ||
      (word.length === 1 && /^-[^-]/.test(arg) && arg.includes(word)),
  );
  if (typed !== undefined) {
    const near = nearest(
      word,
      options.filter((name) => name.length > 1),
    );
    const what = command
      ? `${firstWord(command.usage)} has no option ${dashed(word)}`
      : `There is no option ${dashed(word)}`;
    return `${what}.${near ? ` Did you mean --${near}?` : ''} See ${help}.`;
  }
  if (command)
    return `${JSON.stringify(word)} is one word too many: lycosa ${command.usage}. See ${help}.`;
  const near = nearest(
    word,
    commands.map(({ usage }) => firstWord(usage)),
  );
  return `There is no command ${JSON.stringify(word)}.${near ? ` Did you mean ${near}?` : ''} See ${help}.`;
}

function dashed(name: string): string {
  return `${name.length === 1 ? '-' : '--'}${name}`;
}

function firstWord(usage: string): string {
  return usage.split(' ', 1)[0]!;
}

function wantsStack(args: readonly string[]): boolean {
  return args.some(
    (arg, at) =>
      /^(?:-L|--loglevel)=?DEBUG$/i.test(arg) ||
      (/^(?:-L|--loglevel)$/.test(arg) && /^DEBUG$/i.test(args[at + 1] ?? '')),
  );
}
