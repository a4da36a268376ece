export {
  connectRedis,
  type RedisConnectOptions,
  RedisConnection,
  RedisConnectionError,
  redisOptions,
} from './connection.ts';
export { crawlPending, type CrawlPendingOptions } from './crawl-pending.ts';
export { Fleet, type FleetOrder, type FleetStatus } from './fleet.ts';
export { FleetAgent, type FleetAgentOptions } from './fleet-agent.ts';
export type { FleetSchedule } from './fleet-cron.ts';
export { FleetHostError } from './fleet-host-process.ts';
export type {
  FleetJob,
  FleetJobHistory,
  FleetJobPage,
  FleetJobQuery,
  FleetLog,
  FleetProgress,
  FleetRun,
  FleetSlot,
} from './fleet-jobs.ts';
export type { FleetMachine } from './fleet-machines.ts';
export { readManifest } from './fleet-manifest.ts';
export type { HostConfig } from './fleet-messages.ts';
export {
  agentOptions,
  type FleetAgentSettings,
  type FleetOptions,
  fleetOptions,
  groupLimits,
} from './fleet-settings.ts';
export {
  type ReasonVerdict,
  type ReasonVerdicts,
  recordOf,
  type RunRecord,
  verdictOf,
} from './reasons.ts';
export { SpiderCountLimit } from './spider-count-limit.ts';
export {
  type Claim,
  type ClaimRefusal,
  type Fence,
  type SpiderEvent,
  SpiderSets,
  type SpiderSetsOptions,
  spiderSetsOptions,
  type SpiderState,
  type SpiderTarget,
} from './spider-sets.ts';
export { FrontierGoneError } from './frontier.ts';
export { RedisDupeFilter } from './dupe-filter.ts';
export { RedisPipeline } from './redis-pipeline.ts';
export { RedisScheduler } from './scheduler.ts';
export type { RedisSchedulerHost } from './frontier-worker.ts';
export { RedisSpider } from './redis-spider.ts';
export { RedisStatsCollector } from './stats.ts';
