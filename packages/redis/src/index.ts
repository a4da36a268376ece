export {
  connectRedis,
  type RedisConnectOptions,
  RedisConnection,
  RedisConnectionError,
  redisOptions,
} from './connection.ts';
