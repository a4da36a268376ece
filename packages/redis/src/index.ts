export {
  connectRedis,
  type RedisConnectOptions,
  RedisConnection,
  RedisConnectionError,
  redisOptions,
} from './connection.ts';
export { crawlPending, type CrawlPendingOptions } from './crawl-pending.ts';
export {
  agentOptions,
  Fleet,
  type FleetMachine,
  type FleetOptions,
  fleetOptions,
  type FleetOrder,
  type FleetStatus,
} from './fleet.ts';
export { FleetAgent, type FleetAgentOptions, FleetHostError } from './fleet-agent.ts';
export type { HostConfig } from './fleet-messages.ts';
export { type ReasonVerdict, recordOf, type RunRecord, verdictOf } from './reasons.ts';
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
