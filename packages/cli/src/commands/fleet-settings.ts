/** Settings of @lycosa/redis, for `-s`: that package is imported only where it is used. */
export const redisSettings: readonly string[] = [
  'REDIS_URL',
  'REDIS_HOST',
  'REDIS_PORT',
  'REDIS_PARAMS',
  'REDIS_CONNECT_TIMEOUT',
  'REDIS_REQUIRE_NOEVICTION',
  'SPIDER_COUNT',
  'FLEET_SPIDER_COUNT',
  'FLEET_PREFIX',
  'FLEET_MACHINE',
  'FLEET_LEASE',
  'FLEET_STALLED_INTERVAL',
  'FLEET_REASONS',
  'FLEET_ATTEMPTS',
  'FLEET_BACKOFF',
  'FLEET_BLOCK_LIMIT',
];
