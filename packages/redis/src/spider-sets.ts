import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';

import { type Settings, SettingsError } from 'lycosa';

import type { RedisConnection } from './connection.ts';

/** Where a spider's name may stand. It stands in one of them at a time. */
export type SpiderState = 'pending' | 'running' | 'finished' | 'failed';

export interface SpiderSetsOptions {
  /** Before the name of every key; nothing by default, so that `SMEMBERS pending` works in redis-cli. */
  readonly prefix?: string;
  /** The machine that the limit per machine counts for; the host name by default. */
  readonly machine?: string;
  /** Spiders that may run on this machine at once; 0 is no limit. */
  readonly limit?: number;
  /** Spiders that may run at once anywhere; 0 is no limit. */
  readonly fleetLimit?: number;
  /** Milliseconds after which a running spider that nobody renews is pending again. */
  readonly leaseMs?: number;
  /** Whoever claims; made up by default. A parent hands it to its child in `LYCOSA_FLEET_OWNER`. */
  readonly owner?: string;
}

/** A number that says which run of a fleet job this is: what an older run does is refused. */
export interface Fence {
  /** Counts the times that the spider was ordered. */
  readonly generation: number;
  /** Counts the starts since then. */
  readonly start: number;
}

/** A running spider of ours. `token` grows with each run of the spider. */
export interface Claim {
  readonly name: string;
  readonly token: number;
  readonly generation: number;
}

/**
 * What became of a claim: `limit`: the machine or the fleet is full, and the name is pending again; `busy`: it runs
 * elsewhere; `old`: a later run has begun; `done`: this order was carried out already.
 */
export type ClaimRefusal = 'limit' | 'busy' | 'old' | 'done';

/** What becomes of a running spider when its run has ended. */
export type SpiderTarget = Exclude<SpiderState, 'running'>;

/** One change of state, as `events()` tells it. */
export interface SpiderEvent {
  readonly id: string;
  readonly name: string;
  readonly to: SpiderState;
  readonly token: number;
  readonly owner: string;
}

const keyNames = [
  'pending',
  'running',
  'finished',
  'failed',
  'fleet:owner',
  'fleet:lease',
  'fleet:token',
  'fleet:done',
  'fleet:result',
  'fleet:stop',
  'fleet:events',
  'fleet:generation',
] as const;

/** Tokens of one order: more starts than that do not happen. */
const startsPerGeneration = 1_000_000;

const prelude = `
local pending, running, finished, failed, owner, lease, token, done, result, stop, events, generation = unpack(KEYS)
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function move(name, to, by)
  for i = 1, 4 do
    if KEYS[i] ~= to then redis.call('SREM', KEYS[i], name) end
  end
  redis.call('SADD', to, name)
  local state = to == pending and 'pending' or to == running and 'running' or to == finished and 'finished' or 'failed'
  redis.call('XADD', events, 'MAXLEN', '~', 20000, '*', 'name', name, 'to', state,
    'token', redis.call('HGET', token, name) or '0', 'owner', by)
end
local function free(name)
  redis.call('HDEL', owner, name)
  redis.call('ZREM', lease, name)
end
local function hold(name, by, mode, ms)
  redis.call('HSET', owner, name, by .. '|' .. mode)
  redis.call('ZADD', lease, now + ms, name)
  if redis.call('SISMEMBER', running, name) == 0 then move(name, running, by) end
end
local function reap()
  local late = redis.call('ZRANGEBYSCORE', lease, '-inf', now, 'LIMIT', 0, 100)
  for _, name in ipairs(late) do
    free(name)
    if redis.call('SISMEMBER', running, name) == 1 then move(name, pending, 'lease') end
  end
  return #late
end
local function full(machine, limit, fleetLimit)
  if fleetLimit > 0 and redis.call('SCARD', running) >= fleetLimit then return true end
  if limit == 0 then return false end
  local count = 0
  for _, value in ipairs(redis.call('HVALS', owner)) do
    if string.sub(value, 1, #machine + 1) == machine .. '/' then count = count + 1 end
  end
  return count >= limit
end
`;

const scripts = {
  take: `
local by, machine, limit, fleetLimit, ms = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
reap()
if full(machine, limit, fleetLimit) then return {'limit'} end
local name = redis.call('SRANDMEMBER', pending)
if not name then return {'empty'} end
local mine = redis.call('HINCRBY', token, name, 1)
hold(name, by, 't', ms)
return {'ok', mine, name}`,
  claim: `
local name, by, machine = ARGV[1], ARGV[2], ARGV[3]
local limit, fleetLimit, ms = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local given, order = tonumber(ARGV[7]), ARGV[8]
reap()
if order ~= '0' and redis.call('HGET', done, name) == order then return {'done'} end
local held = redis.call('HGET', owner, name)
local stored = tonumber(redis.call('HGET', token, name) or '0')
if given > 0 then
  if given < stored or (given == stored and held and held ~= by .. '|o') then return {'old'} end
elseif held then
  if held ~= by .. '|t' then return {'busy'} end
  hold(name, by, 'o', ms)
  return {'ok', stored}
end
if not held and full(machine, limit, fleetLimit) then
  if redis.call('SISMEMBER', running, name) == 0 then move(name, pending, by) end
  return {'limit'}
end
local mine = given > 0 and given or stored + 1
redis.call('HSET', token, name, mine)
hold(name, by, 'o', ms)
return {'ok', mine}`,
  renew: `
local name, by, mine, ms = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local held = redis.call('HGET', owner, name)
local answer = {'lost'}
if redis.call('HGET', token, name) == mine then
  if held == by .. '|o' or held == by .. '|t' then
    redis.call('ZADD', lease, now + ms, name)
    answer = {'ok', redis.call('HGET', stop, name) or ''}
  elseif not held and redis.call('SISMEMBER', pending, name) == 1 then
    hold(name, by, 'o', ms)
    answer = {'ok', redis.call('HGET', stop, name) or ''}
  end
end
reap()
return answer`,
  release: `
local name, by, mine, to, order, record = ARGV[1], ARGV[2], ARGV[3], KEYS[tonumber(ARGV[4])], ARGV[5], ARGV[6]
if redis.call('HGET', token, name) ~= mine then return {'lost'} end
local held = redis.call('HGET', owner, name)
if held then
  if held ~= by .. '|o' and held ~= by .. '|t' then return {'lost'} end
elseif redis.call('SISMEMBER', pending, name) == 0 then return {'lost'} end
free(name)
move(name, to, by)
if record ~= '' then redis.call('HSET', result, name, record) end
if to ~= pending then
  redis.call('HDEL', stop, name)
  if order ~= '0' then redis.call('HSET', done, name, order) end
end
return {'ok'}`,
  order: `
local only = ARGV[1] == 'pending'
local answer = {}
for i = 2, #ARGV do
  local name = ARGV[i]
  local waits = redis.call('SISMEMBER', pending, name) == 1
  if only and not waits then answer[i - 1] = 0
  else
    answer[i - 1] = redis.call('HINCRBY', generation, name, 1)
    if not waits and redis.call('SISMEMBER', running, name) == 0 then move(name, pending, 'order') end
    redis.call('HDEL', stop, name)
  end
end
return answer`,
  cancel: `
local name, mode, record = ARGV[1], ARGV[2], ARGV[3]
if redis.call('HGET', owner, name) then
  redis.call('HSET', stop, name, mode)
  return {'running'}
end
if redis.call('SISMEMBER', pending, name) == 0 then return {'none'} end
move(name, failed, 'stop')
redis.call('HSET', result, name, record)
redis.call('HSET', done, name, redis.call('HGET', generation, name) or '0')
return {'pending'}`,
  reap: 'return reap()',
} as const;

/**
 * The sets `pending`, `running`, `finished` and `failed` in Redis, plain sets of names. Every change is one script on the
 * server, by the server's clock: a name is never in two of them, and a limit is never passed. A running name has an owner
 * and a lease; an owner that is killed renews no more, and the name is pending again.
 */
export class SpiderSets {
  readonly owner: string;
  readonly leaseMs: number;
  readonly #redis: RedisConnection;
  readonly #keys: readonly string[];
  readonly #machine: string;
  readonly #limit: number;
  readonly #fleetLimit: number;

  constructor(redis: RedisConnection, options: SpiderSetsOptions = {}) {
    this.#redis = redis;
    this.#keys = keyNames.map((name) => (options.prefix ?? '') + name);
    // The machine is what stands before the first slash of an owner.
    this.#machine = (options.machine ?? hostname()).replaceAll(/[/|]/g, '_');
    this.owner = options.owner ?? `${this.#machine}/${process.pid}/${randomUUID().slice(0, 8)}`;
    this.#limit = options.limit ?? 0;
    this.#fleetLimit = options.fleetLimit ?? 0;
    this.leaseMs = options.leaseMs ?? 120_000;
  }

  /** Takes any pending spider, which then runs; `undefined` where none is pending, `limit` where no more may run. */
  async take(): Promise<Claim | 'limit' | undefined> {
    const [answer, token, name] = await this.#run('take', [
      this.owner,
      this.#machine,
      this.#limit,
      this.#fleetLimit,
      this.leaseMs,
    ]);
    if (answer === 'limit') return answer;
    return answer === 'ok'
      ? { name: String(name), token: Number(token), generation: 0 }
      : undefined;
  }

  /**
   * Makes a spider one that runs here. One that was taken by this owner stays the same run.
   *
   * @param fence - Which run it is, where somebody else counts them.
   */
  async claim(name: string, fence?: Fence): Promise<Claim | ClaimRefusal> {
    const given = fence ? fence.generation * startsPerGeneration + fence.start : 0;
    const generation = fence?.generation ?? 0;
    const [answer, token] = await this.#run('claim', [
      name,
      this.owner,
      this.#machine,
      this.#limit,
      this.#fleetLimit,
      this.leaseMs,
      given,
      generation,
    ]);
    if (answer !== 'ok') return answer as ClaimRefusal;
    return { name, token: Number(token), generation };
  }

  /** Puts the end of the lease off. `lost` where it ended and the spider went elsewhere; else how it shall stop, if it shall. */
  async renew(claim: Claim): Promise<'lost' | 'graceful' | 'fast' | undefined> {
    const [answer, stop] = await this.#run('renew', [
      claim.name,
      this.owner,
      claim.token,
      this.leaseMs,
    ]);
    if (answer !== 'ok') return 'lost';
    return stop === 'graceful' || stop === 'fast' ? stop : undefined;
  }

  /**
   * Ends a run.
   *
   * @param record - What `result()` shall say of it.
   * @returns False, and nothing is changed, if a later run has begun or this one was ended already.
   */
  async release(claim: Claim, to: SpiderTarget, record?: object): Promise<boolean> {
    const [answer] = await this.#run('release', [
      claim.name,
      this.owner,
      claim.token,
      keyNames.indexOf(to) + 1,
      claim.generation,
      record === undefined ? '' : JSON.stringify(record),
    ]);
    return answer === 'ok';
  }

  /** Makes spiders pending that do not run. Gives each order a number, 0 for a name that `onlyPending` left out. */
  async order(names: readonly string[], onlyPending = false): Promise<number[]> {
    const numbers: number[] = [];
    for (let i = 0; i < names.length; i += 1000) {
      const some = names.slice(i, i + 1000);
      const answers = await this.#run('order', [onlyPending ? 'pending' : 'all', ...some]);
      numbers.push(...answers.map(Number));
    }
    return numbers;
  }

  /** Asks the owner of a running spider to stop it; a pending one has failed at once. */
  async cancel(name: string, mode: 'graceful' | 'fast'): Promise<'running' | 'pending' | 'none'> {
    const record = JSON.stringify({ spider: name, reason: 'stopped', at: Date.now() });
    const [answer] = await this.#run('cancel', [name, mode, record]);
    return answer as 'running' | 'pending' | 'none';
  }

  /** Makes spiders pending whose owner has not renewed in time. How many. */
  async reap(): Promise<number> {
    return Number(await this.#redis.call('EVAL', ...this.#command('reap', [])));
  }

  async names(state: SpiderState): Promise<string[]> {
    return (await this.#redis.call('SMEMBERS', this.#key(state))) as string[];
  }

  async count(state: SpiderState): Promise<number> {
    return Number(await this.#redis.call('SCARD', this.#key(state)));
  }

  /** Who runs what. */
  async owners(): Promise<Map<string, string>> {
    const flat = (await this.#redis.call('HGETALL', this.#key('fleet:owner'))) as string[];
    return new Map(pairs(flat).map(([name, owner]) => [name, owner.replace(/\|.$/, '')]));
  }

  /** How runs ended, by the name. */
  async results(names: readonly string[]): Promise<Map<string, Record<string, unknown>>> {
    if (names.length === 0) return new Map();
    const texts = (await this.#redis.call('HMGET', this.#key('fleet:result'), ...names)) as (
      | string
      | null
    )[];
    return new Map(
      texts.flatMap((text, i) =>
        text === null ? [] : [[names[i]!, JSON.parse(text) as Record<string, unknown>] as const],
      ),
    );
  }

  /** The changes of state since `after`, oldest first; about the last 20,000 are kept. */
  async events(after = '0'): Promise<SpiderEvent[]> {
    const from = after === '0' ? '-' : `(${after}`;
    const rows = (await this.#redis.call('XRANGE', this.#key('fleet:events'), from, '+')) as [
      string,
      string[],
    ][];
    return rows.map(([id, flat]) => {
      const event = Object.fromEntries(pairs(flat)) as Record<keyof SpiderEvent, string>;
      return { ...event, id, to: event.to as SpiderState, token: Number(event.token) };
    });
  }

  #key(name: (typeof keyNames)[number]): string {
    return this.#keys[keyNames.indexOf(name)]!;
  }

  async #run(name: keyof typeof scripts, args: readonly (string | number)[]): Promise<unknown[]> {
    return (await this.#redis.call('EVAL', ...this.#command(name, args))) as unknown[];
  }

  #command(
    name: keyof typeof scripts,
    args: readonly (string | number)[],
  ): [string, ...(string | number)[]] {
    return [prelude + scripts[name], this.#keys.length, ...this.#keys, ...args];
  }
}

/** The sets as `SPIDER_COUNT`, `FLEET_SPIDER_COUNT`, `FLEET_PREFIX`, `FLEET_MACHINE` and `FLEET_LEASE` describe them. */
export function spiderSetsOptions(settings: Pick<Settings, 'get'>): SpiderSetsOptions {
  const machine = settings.get('FLEET_MACHINE');
  return {
    prefix: settings.get('FLEET_PREFIX') ?? '',
    ...(machine && { machine }),
    limit: countOf('SPIDER_COUNT', settings.get('SPIDER_COUNT') ?? 20),
    fleetLimit: countOf('FLEET_SPIDER_COUNT', settings.get('FLEET_SPIDER_COUNT') ?? 0),
    leaseMs: Math.max(50, countOf('FLEET_LEASE', settings.get('FLEET_LEASE') ?? 120) * 1000),
  };
}

/** Text from a command line becomes a number here: the core does not know these settings. */
export function countOf(name: string, value: unknown): number {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof number === 'number' && number >= 0 && number < Infinity) return number;
  throw new SettingsError(`${name} must be a number ≥ 0, got ${JSON.stringify(value)}.`);
}

function pairs(flat: readonly string[]): [string, string][] {
  return Array.from({ length: flat.length / 2 }, (_, i) => [flat[2 * i]!, flat[2 * i + 1]!]);
}
