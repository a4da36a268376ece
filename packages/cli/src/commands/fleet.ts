import type { Command } from '../cli.ts';
import { checkSettings, loadSettings, needProject } from '../project.ts';
import { type FleetAction, type FleetCommandOptions, loadRedis } from './fleet-command.ts';
import { add, cron, drain, limit, requeue, resume, stop } from './fleet-orders.ts';
import { run } from './fleet-run.ts';
import { jobs, logs, show, status } from './fleet-show.ts';
import { ui } from './fleet-ui.ts';

const actions: Readonly<Record<string, FleetAction>> = {
  add,
  run,
  status,
  jobs,
  show,
  logs,
  stop,
  requeue,
  drain,
  resume,
  limit,
  cron,
  ui,
};

export const fleet: Command<FleetCommandOptions> = {
  builder: (parser) =>
    parser
      .positional('action', {
        type: 'string',
        choices: Object.keys(actions),
        describe: 'What to do',
      })
      .positional('names', { type: 'string', array: true, describe: 'Spiders, jobs, or a number' })
      .option('arg', {
        alias: 'a',
        type: 'string',
        array: true,
        requiresArg: true,
        describe: 'add, cron: give the spiders an argument, as in -a NAME=VALUE',
      })
      .option('all', { type: 'boolean', describe: 'add, cron: all spiders of the project' })
      .option('priority', {
        type: 'string',
        requiresArg: true,
        describe: 'add, cron: the higher goes first; 0 by default',
      })
      .option('group', {
        type: 'string',
        requiresArg: true,
        describe: 'add, cron, limit: spiders of one group run one at a time, or so many',
      })
      .option('code-version', {
        type: 'string',
        requiresArg: true,
        describe:
          'add, cron: only machines with this version of the project; FLEET_VERSION by default',
      })
      .option('count', {
        type: 'string',
        requiresArg: true,
        describe: 'run: spiders at once on this machine; SPIDER_COUNT by default',
      })
      .option('hosts', {
        type: 'string',
        requiresArg: true,
        describe: 'run: processes that they are spread over; 1 by default',
      })
      .option('until-empty', { type: 'boolean', describe: 'run: end when all is done' })
      .option('watch', { type: 'boolean', describe: 'run: stay for further orders; the default' })
      .option('json', { type: 'boolean', describe: 'status, jobs, show, cron: print JSON' })
      .option('state', {
        type: 'string',
        choices: ['pending', 'running', 'finished', 'failed'],
        describe: 'jobs: only these',
      })
      .option('search', { type: 'string', requiresArg: true, describe: 'jobs: part of the name' })
      .option('offset', { type: 'string', requiresArg: true, describe: 'jobs: leave out so many' })
      .option('limit', { type: 'string', requiresArg: true, describe: 'jobs: at most; 100' })
      .option('attempt', {
        type: 'string',
        requiresArg: true,
        describe: 'logs: which run; the last',
      })
      .option('tail', { type: 'string', requiresArg: true, describe: 'logs: last lines; 200' })
      .option('pattern', {
        type: 'string',
        requiresArg: true,
        describe: 'cron add: when, as in "0 3 * * *"',
      })
      .option('tz', { type: 'string', requiresArg: true, describe: 'cron add: time zone' })
      .option('fast', { type: 'boolean', describe: 'stop: break transfers off' })
      .conflicts('until-empty', 'watch')
      .example('$0 fleet add --all', 'Order a run of every spider')
      .example('$0 fleet run --count 20', 'Let this machine run them'),

  async run(options) {
    const project = await needProject('fleet');
    await checkSettings(options, project);
    const settings = await loadSettings(project, options);
    const { Fleet: FleetClass, fleetOptions } = await loadRedis();
    const open = await FleetClass.open(fleetOptions(settings));
    try {
      const names = (options.names ?? []).map(String);
      return await actions[options.action]!(open, { project, settings, options, names });
    } finally {
      await open.close();
    }
  },
};
