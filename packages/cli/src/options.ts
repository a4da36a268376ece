import type { Argv } from 'yargs';

/** A command line that cannot be followed. Its message is all that the user sees. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}

/** Options of every command. */
export interface GlobalOptions {
  readonly set?: readonly string[];
  readonly loglevel?: string;
  readonly logfile?: string;
  readonly nolog?: boolean;
  readonly pidfile?: string;
}

/** Options of the commands that crawl. */
export interface CrawlOptions extends GlobalOptions {
  readonly arg?: readonly string[];
  readonly output?: readonly string[];
  readonly 'overwrite-output'?: readonly string[];
}

const group = 'Options of every command:';

export function addGlobalOptions(parser: Argv): Argv {
  return parser
    .option('set', {
      alias: 's',
      type: 'string',
      array: true,
      requiresArg: true,
      group,
      describe: 'Set a setting, as in -s NAME=VALUE; may be given many times',
    })
    .option('loglevel', {
      alias: 'L',
      type: 'string',
      requiresArg: true,
      group,
      describe: 'Lowest level that is logged: DEBUG, INFO, WARNING, ERROR, CRITICAL',
    })
    .option('logfile', { type: 'string', requiresArg: true, group, describe: 'Log to this file' })
    .option('nolog', { type: 'boolean', group, describe: 'Log nothing' })
    .option('pidfile', {
      type: 'string',
      requiresArg: true,
      group,
      describe: 'Write the process id to this file',
    });
}

export function addCrawlOptions(parser: Argv): Argv {
  return parser
    .option('arg', {
      alias: 'a',
      type: 'string',
      array: true,
      requiresArg: true,
      describe: 'Give the spider an argument, as in -a NAME=VALUE; may be given many times',
    })
    .option('output', {
      alias: 'o',
      type: 'string',
      array: true,
      requiresArg: true,
      describe:
        'Add the items to a feed: a path or URI, with :FORMAT if the name does not tell; - is standard output',
    })
    .option('overwrite-output', {
      alias: 'O',
      type: 'string',
      array: true,
      requiresArg: true,
      describe: 'As -o, but replace what is there',
    });
}

/**
 * `NAME=VALUE` of `-s` and `-a`; of one name the last holds.
 *
 * @throws CommandError for a text without a name or `=`.
 */
export function parsePairs(pairs: readonly string[] = [], option: string): Record<string, string> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=');
      if (at < 1) {
        throw new CommandError(
          `${option} takes NAME=VALUE, got ${JSON.stringify(pair)}. Write ${option} ${at === 0 ? 'name' : pair}=value.`,
        );
      }
      return [pair.slice(0, at), pair.slice(at + 1)] as const;
    }),
  );
}

/** Joins `-o -` to `-o=-`, and `-o -:json`: a feed on standard output is no option. */
export function joinDashValues(args: readonly string[]): string[] {
  const joined: string[] = [];
  for (const arg of args) {
    const before = joined.at(-1);
    if (
      /^-(:|$)/.test(arg) &&
      before !== undefined &&
      /^(-o|-O|--output|--overwrite-output)$/.test(before)
    ) {
      joined[joined.length - 1] = `${before}=${arg}`;
    } else {
      joined.push(arg);
    }
  }
  return joined;
}

/** Control characters and those that turn the direction of text, written out: what strangers send cannot move the cursor. */
export function escapeControls(text: string): string {
  return text.replaceAll(
    // oxlint-disable-next-line no-control-regex -- they are what it is for
    /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
