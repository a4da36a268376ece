import type * as redis from '@lycosa/redis';
import type { Fleet, FleetStatus } from '@lycosa/redis';
import type { Settings } from 'lycosa';

import type { Command } from '../cli.ts';
import { CommandError, escapeControls, type GlobalOptions, parsePairs } from '../options.ts';
import {
  checkSettings,
  configFileOf,
  loadSettings,
  loadSpiders,
  needProject,
  type Project,
} from '../project.ts';

interface Options extends GlobalOptions {
  readonly action: string;
  readonly names?: readonly string[];
  readonly arg?: readonly string[];
  readonly all?: boolean;
  readonly priority?: string;
  readonly count?: string;
  readonly hosts?: string;
  readonly 'until-empty'?: boolean;
  readonly json?: boolean;
  readonly fast?: boolean;
}

interface Context {
  readonly project: Project;
  readonly settings: Settings;
  readonly options: Options;
  readonly names: readonly string[];
}

type Action = (fleet: Fleet, context: Context) => Promise<number>;

const actions: Readonly<Record<string, Action>> = {
  add,
  run,
  status,
  requeue,
  stop,
  drain: async (fleet) => {
    await fleet.drain();
    console.log('No further spider is begun. What runs ends in peace; fleet resume goes on.');
    return 0;
  },
  resume: async (fleet) => {
    await fleet.resume();
    return 0;
  },
  limit,
};

export const fleet: Command<Options> = {
  builder: (parser) =>
    parser
      .positional('action', {
        type: 'string',
        choices: Object.keys(actions),
        describe: 'What to do',
      })
      .positional('names', { type: 'string', array: true, describe: 'Spiders, or a number' })
      .option('arg', {
        alias: 'a',
        type: 'string',
        array: true,
        requiresArg: true,
        describe: 'add: give the spiders an argument, as in -a NAME=VALUE',
      })
      .option('all', { type: 'boolean', describe: 'add: all spiders of the project' })
      .option('priority', {
        type: 'string',
        requiresArg: true,
        describe: 'add: the higher goes first; 0 by default',
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
      .option('json', { type: 'boolean', describe: 'status: print JSON' })
      .option('fast', { type: 'boolean', describe: 'stop: break transfers off' })
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

async function loadRedis(): Promise<typeof redis> {
  try {
    return await import('@lycosa/redis');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw cause;
    throw new CommandError('fleet needs a package: npm install @lycosa/redis', { cause });
  }
}

async function add(open: Fleet, { project, settings, options, names }: Context): Promise<number> {
  const spiders = await loadSpiders(project, settings);
  if (names.length === 0 && !options.all) {
    throw new CommandError('fleet add takes names of spiders, or --all.');
  }
  // A name that does not exist is told here, not by ten machines.
  for (const name of names) spiders.load(name);
  const args = parsePairs(options.arg, '-a');
  const priority = numberOf('--priority', options.priority ?? '0');
  const orders = (options.all ? spiders.list() : names).map((spider) => ({
    spider,
    args,
    priority,
  }));
  await open.add(orders);
  console.log(`${orders.length} ordered, ${await open.sets.count('pending')} pending`);
  return 0;
}

async function run(open: Fleet, { project, settings, options }: Context): Promise<number> {
  const { agentOptions, FleetAgent } = await loadRedis();
  const { createLogger } = await import('lycosa');
  const isLogged = settings.get('LOG_ENABLED');
  const log = createLogger({
    level: isLogged ? (settings.get('LOG_LEVEL') as 'INFO') : 'OFF',
    format: settings.get('LOG_FORMAT') as 'text',
  });
  const { set, loglevel, logfile, nolog } = options;
  const config = configFileOf(project.root);
  const fromSettings = agentOptions(settings);
  const fleetLimit = settings.get('FLEET_SPIDER_COUNT');
  if (fleetLimit !== undefined) await open.limit(numberOf('FLEET_SPIDER_COUNT', fleetLimit));
  const agent = new FleetAgent(open, {
    ...fromSettings,
    log,
    count: options.count ? numberOf('--count', options.count, 1) : fromSettings.count,
    hosts: numberOf('--hosts', options.hosts ?? '1', 1),
    host: {
      root: project.root,
      ...(config !== undefined && { config }),
      settings: {
        ...parsePairs(set, '-s'),
        ...(loglevel !== undefined && { LOG_LEVEL: loglevel }),
        ...(logfile !== undefined && { LOG_FILE: logfile }),
        ...(nolog && { LOG_ENABLED: false }),
      },
    },
  });
  const { promise: stopped, resolve } = Promise.withResolvers<void>();
  const onSignal = (): void => {
    log.info('Handing back what runs');
    resolve(agent.stop());
  };
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  await (options['until-empty'] ? Promise.race([agent.untilEmpty(), stopped]) : stopped);
  await agent.stop();
  process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
  await log.close();
  return 0;
}

async function status(open: Fleet, { options }: Context): Promise<number> {
  const state = await open.status();
  if (options.json) console.log(JSON.stringify(state));
  else for (const line of statusLines(state)) console.log(escapeControls(line));
  return 0;
}

function* statusLines(state: FleetStatus): Iterable<string> {
  const { pending, running, finished, failed } = state;
  yield `pending ${pending}  running ${running}  finished ${finished}  failed ${failed}`;
  if (state.isDraining) yield 'draining: no further spider is begun';
  for (const machine of state.machines) {
    yield `${machine.id}: ${machine.running} of ${machine.count} in ${machine.hosts} processes, ${machine.rssMb} MB`;
  }
  for (const [name, owner] of Object.entries(state.spiders)) yield `running ${name} on ${owner}`;
  for (const [name, { reason, error }] of Object.entries(state.failures)) {
    yield `failed ${name}: ${String(error ?? reason)}`;
  }
}

async function requeue(open: Fleet, { names }: Context): Promise<number> {
  console.log(`${await open.requeue(names.length > 0 ? names : undefined)} requeued`);
  return 0;
}

async function stop(open: Fleet, { names, options }: Context): Promise<number> {
  if (names.length === 0) throw new CommandError('fleet stop takes names of spiders.');
  let isFound = true;
  for (const name of names) {
    if (await open.stop(name, options.fast ? 'fast' : 'graceful')) continue;
    console.error(`lycosa: ${escapeControls(name)} is neither pending nor running.`);
    isFound = false;
  }
  return isFound ? 0 : 1;
}

async function limit(open: Fleet, { names }: Context): Promise<number> {
  if (names.length !== 1) throw new CommandError('fleet limit takes a number; 0 is no limit.');
  await open.limit(numberOf('limit', names[0]!));
  return 0;
}

function numberOf(name: string, value: unknown, least = name === '--priority' ? -99 : 0): number {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof number === 'number' && Number.isInteger(number) && number >= least) return number;
  throw new CommandError(`${name} takes a whole number ≥ ${least}, got ${JSON.stringify(value)}.`);
}
