import type { Fleet, FleetOrder } from '@lycosa/redis';

import { CommandError, escapeControls, parsePairs } from '../options.ts';
import { loadSpiders } from '../project.ts';
import { type FleetContext, loadRedis, wholeNumber } from './fleet-command.ts';

export async function add(fleet: Fleet, context: FleetContext): Promise<number> {
  const orders = await ordersOf(context, context.names, 'fleet add');
  for (const warning of await fleet.warnings()) console.error(`lycosa: warning: ${warning}`);
  await fleet.add(orders);
  console.log(`${orders.length} ordered, ${await fleet.sets.count('pending')} pending`);
  return 0;
}

export async function requeue(fleet: Fleet, { names }: FleetContext): Promise<number> {
  const count = await fleet.requeue(names.length > 0 ? names : undefined);
  console.log(`${count} requeued`);
  return count < names.length ? 1 : 0;
}

export async function stop(fleet: Fleet, { names, options }: FleetContext): Promise<number> {
  if (names.length === 0) throw new CommandError('fleet stop takes names of spiders.');
  let isFound = true;
  for (const name of names) {
    if (await fleet.stop(name, { fast: options.fast === true })) continue;
    console.error(`lycosa: ${escapeControls(name)} is neither pending nor running.`);
    isFound = false;
  }
  return isFound ? 0 : 1;
}

export async function drain(fleet: Fleet, { names: [machine] }: FleetContext): Promise<number> {
  await fleet.drain(machine);
  const where = machine === undefined ? '' : ` on ${machine}`;
  console.log(`No further spider is begun${where}. What runs ends in peace; fleet resume goes on.`);
  return 0;
}

export async function resume(fleet: Fleet, { names: [machine] }: FleetContext): Promise<number> {
  await fleet.resume(machine);
  return 0;
}

export async function limit(fleet: Fleet, { names, options }: FleetContext): Promise<number> {
  if (names.length !== 1) throw new CommandError('fleet limit takes a number; 0 is no limit.');
  await fleet.limit(wholeNumber('limit', names[0]!), options.group);
  return 0;
}

/** `cron`, `cron add ID SPIDER... --pattern P`, `cron remove ID`. */
export async function cron(fleet: Fleet, context: FleetContext): Promise<number> {
  const [action = 'list', id, ...names] = context.names;
  const { pattern, tz, json } = context.options;
  if (action === 'list') {
    const schedules = await fleet.schedules();
    if (json) console.log(JSON.stringify(schedules));
    else for (const one of schedules) console.log(escapeControls(scheduleLine(one)));
    return 0;
  }
  if (id === undefined) {
    throw new CommandError(
      'fleet cron takes list, add ID SPIDER… --pattern "0 3 * * *", or remove ID.',
    );
  }
  if (action === 'remove') {
    if (await fleet.unschedule(id)) return 0;
    console.error(`lycosa: There is no schedule ${escapeControls(id)}.`);
    return 1;
  }
  if (action !== 'add' || pattern === undefined) {
    throw new CommandError(
      `fleet cron add takes an id, spiders and a time: lycosa fleet cron add nightly --all --pattern "0 3 * * *"`,
    );
  }
  const orders = await ordersOf(context, names, 'fleet cron add');
  await fleet.schedule(id, { orders, pattern, ...(tz !== undefined && { tz }) });
  return 0;
}

function scheduleLine(schedule: Awaited<ReturnType<Fleet['schedules']>>[number]): string {
  const { id, pattern, tz, next, orders } = schedule;
  const names = orders.map(({ spider }) => spider);
  const what = names.length > 3 ? `${names.length} spiders` : names.join(', ');
  const when = next === undefined ? '' : `, next at ${new Date(next).toISOString()}`;
  return `${id}: ${pattern}${tz === undefined ? '' : ` (${tz})`}${when}: ${what}`;
}

/** @throws CommandError, SpiderLoadError: a name that does not exist is told here, not by ten machines. */
async function ordersOf(
  { project, settings, options }: FleetContext,
  names: readonly string[],
  command: string,
): Promise<FleetOrder[]> {
  if (names.length === 0 && !options.all) {
    throw new CommandError(`${command} takes names of spiders, or --all.`);
  }
  const { readManifest } = await loadRedis();
  const manifest = await readManifest(project.root, project.config.spiders);
  let all = [...manifest.keys()];
  // Only where a name stands in no text are files imported.
  if (options.all ? all.length === 0 : names.some((name) => !manifest.has(name))) {
    const spiders = await loadSpiders(project, settings);
    for (const name of names) spiders.load(name);
    all = spiders.list();
  }
  const { group, 'code-version': version } = options;
  const args = parsePairs(options.arg, '-a');
  const priority = wholeNumber('--priority', options.priority ?? '0', -99);
  return (options.all ? all : names).map((spider) => ({
    spider,
    args,
    priority,
    ...(group !== undefined && { group }),
    ...(version !== undefined && { version }),
  }));
}
