import type { Command } from '../cli.ts';
import type { GlobalOptions } from '../options.ts';

interface Options extends GlobalOptions {
  readonly action: 'repair';
  readonly part: string;
  readonly format?: string;
  readonly overwrite?: boolean;
  readonly delimiter?: string;
  readonly encoding?: 'utf-8' | 'latin1';
}

export const feed: Command<Options> = {
  builder: (parser) =>
    parser
      .positional('action', { choices: ['repair'], describe: 'Finish what a crash has left' })
      .positional('part', { type: 'string', describe: 'A file that ends in .part' })
      .option('format', {
        type: 'string',
        requiresArg: true,
        describe: 'jsonl, csv, json, xml or parquet, where the name does not tell',
      })
      .option('overwrite', { type: 'boolean', describe: 'Replace the finished file if it exists' })
      .option('delimiter', {
        type: 'string',
        requiresArg: true,
        describe: 'What stands between the cells of a CSV feed',
      })
      .option('encoding', {
        choices: ['utf-8', 'latin1'] as const,
        requiresArg: true,
        describe: 'Encoding of the feed',
      })
      .example('$0 feed repair books.csv.part', 'Make books.csv of it'),

  async run({ part, format, overwrite, delimiter, encoding }) {
    const { repairFeed } = await import('lycosa');
    const { path, records, cutBytes } = await repairFeed(part, format, {
      ...(overwrite && { overwrite }),
      ...(delimiter !== undefined && { delimiter }),
      ...(encoding !== undefined && { encoding }),
    });
    const torn = cutBytes > 0 ? `, ${cutBytes} bytes of a torn record cut off` : '';
    console.log(`${path}: ${records} records${torn}`);
    return 0;
  },
};
