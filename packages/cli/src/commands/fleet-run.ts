import type { Fleet } from '@lycosa/redis';

import { parsePairs } from '../options.ts';
import { configFileOf } from '../project.ts';
import { type FleetContext, loadRedis, wholeNumber } from './fleet-command.ts';

/** Lets this machine run what is ordered, until it is stopped or, with `--until-empty`, until all is done. */
export async function run(fleet: Fleet, context: FleetContext): Promise<number> {
  const { project, settings, options } = context;
  const { agentOptions, FleetAgent, groupLimits } = await loadRedis();
  const { createLogger } = await import('lycosa');
  const log = createLogger({
    level: settings.get('LOG_ENABLED') ? (settings.get('LOG_LEVEL') as 'INFO') : 'OFF',
    format: settings.get('LOG_FORMAT') as 'text',
  });
  const { set, loglevel, logfile, nolog } = options;
  const config = configFileOf(project.root);
  const fromSettings = agentOptions(settings);
  for (const warning of await fleet.warnings()) log.warn(warning);
  const fleetLimit = settings.get('FLEET_SPIDER_COUNT');
  if (fleetLimit !== undefined) await fleet.limit(wholeNumber('FLEET_SPIDER_COUNT', fleetLimit));
  for (const [group, count] of groupLimits(settings)) await fleet.limit(count, group);
  const agent = new FleetAgent(fleet, {
    ...fromSettings,
    log,
    count: options.count ? wholeNumber('--count', options.count, 1) : fromSettings.count,
    hosts: wholeNumber('--hosts', options.hosts ?? '1', 1),
    ...(project.config.spiders !== undefined && { spiders: project.config.spiders }),
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
