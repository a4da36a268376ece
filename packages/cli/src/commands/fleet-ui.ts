import type { Fleet } from '@lycosa/redis';

import type { FleetContext } from './fleet-command.ts';

/** Shows the fleet in a browser until it is interrupted. */
export async function ui(open: Fleet, { settings }: FleetContext): Promise<number> {
  const { Dashboard, dashboardOptions } = await import('@lycosa/redis/dashboard');
  const { createLogger } = await import('lycosa');
  const log = createLogger({
    level: settings.get('LOG_ENABLED') ? (settings.get('LOG_LEVEL') as 'INFO') : 'OFF',
    format: settings.get('LOG_FORMAT') as 'text',
  });
  const dashboard = await Dashboard.open(open, dashboardOptions(settings), log);
  console.log(`The fleet is shown at ${dashboard.url}`);
  const { promise: stopped, resolve } = Promise.withResolvers<unknown>();
  process.once('SIGINT', resolve).once('SIGTERM', resolve);
  await stopped;
  process.off('SIGINT', resolve).off('SIGTERM', resolve);
  await dashboard.close();
  await log.close();
  return 0;
}
