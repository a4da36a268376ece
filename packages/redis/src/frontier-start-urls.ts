import { randomUUID } from 'node:crypto';

import { SettingsError } from 'lycosa';

import type { RedisConnection } from './connection.ts';
import type { FrontierWatch } from './frontier-watch.ts';

/** What the key of start URLs can be. */
export type StartType = 'list' | 'set' | 'zset';

/** One that is being looked at: it is in `<key>:processing` until its request is safe. */
export interface StartEntry {
  readonly id: string;
  readonly text: string;
}

const prelude = `
local key, processing, dead = unpack(KEYS)
local leaseMs = tonumber(ARGV[1])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function back(id, entry)
  redis.call('HDEL', processing, id)
  if entry[2] == 'set' then redis.call('SADD', key, entry[4])
  elseif entry[2] == 'zset' then redis.call('ZADD', key, entry[3], entry[4])
  else redis.call('LPUSH', key, entry[4]) end
end
`;

const scripts = {
  take: `${prelude}
local count, wanted, me = tonumber(ARGV[2]), ARGV[3], ARGV[4]
local flat = redis.call('HGETALL', processing)
for i = 1, #flat, 2 do
  local entry = cmsgpack.unpack(flat[i + 1])
  if entry[1] < now then back(flat[i], entry) end
end
local kind = redis.call('TYPE', key).ok
if kind == 'none' then return {'ok'} end
if wanted ~= '' and kind ~= wanted or kind ~= 'list' and kind ~= 'set' and kind ~= 'zset' then return {'type', kind} end
local out = {'ok'}
local function hold(text, score)
  local id = me .. ':' .. redis.call('HINCRBY', processing .. ':ids', 'last', 1)
  redis.call('HSET', processing, id, cmsgpack.pack({now + leaseMs, kind, score, text}))
  out[#out + 1] = id
  out[#out + 1] = text
end
if kind == 'zset' then
  local found = redis.call('ZPOPMAX', key, count)
  for i = 1, #found, 2 do hold(found[i], found[i + 1]) end
else
  for _, text in ipairs(redis.call(kind == 'list' and 'LPOP' or 'SPOP', key, count) or {}) do hold(text, '0') end
end
return out`,
  renew: `${prelude}
for i = 2, #ARGV do
  local packed = redis.call('HGET', processing, ARGV[i])
  if packed then
    local entry = cmsgpack.unpack(packed)
    entry[1] = now + leaseMs
    redis.call('HSET', processing, ARGV[i], cmsgpack.pack(entry))
  end
end
return {'ok'}`,
  back: `${prelude}
for i = 2, #ARGV do
  local packed = redis.call('HGET', processing, ARGV[i])
  if packed then back(ARGV[i], cmsgpack.unpack(packed)) end
end
return {'ok'}`,
  done: `${prelude}
local id, reason, text = ARGV[2], ARGV[3], ARGV[4]
if redis.call('HDEL', processing, id) == 1 and reason ~= '' then
  redis.call('RPUSH', dead, cjson.encode({reason = reason, bytes = #text, at = now, entry = string.sub(text, 1, 1000)}))
  redis.call('LTRIM', dead, -1000, -1)
end
return {'ok'}`,
};

/** Start URLs in a list, set or sorted set that others push into. What is taken goes back if its taker dies. */
export class StartUrls {
  readonly key: string;
  readonly #redis: RedisConnection;
  readonly #watch: FrontierWatch;
  readonly #leaseMs: number;
  readonly #type: StartType | undefined;
  readonly #me: string = randomUUID();
  readonly #taken = new Set<string>();
  readonly #timer: NodeJS.Timeout;

  /** @param type - What the key must be; whatever it is if undefined. */
  constructor(
    redis: RedisConnection,
    watch: FrontierWatch,
    key: string,
    options: { readonly leaseMs: number; readonly type: StartType | undefined },
  ) {
    this.key = key;
    this.#redis = redis;
    this.#watch = watch;
    this.#leaseMs = options.leaseMs;
    this.#type = options.type;
    this.#timer = setInterval(() => {
      // What it fails with, the next command tells.
      if (this.#taken.size > 0) void this.#run('renew', ...this.#taken).catch(() => {});
    }, options.leaseMs / 4).unref();
  }

  /** @throws SettingsError when the key is of another type. */
  async take(count: number): Promise<StartEntry[]> {
    const [status, ...flat] = await this.#run('take', count, this.#type ?? '', this.#me);
    if (status === 'type') {
      throw new SettingsError(
        `The key ${this.key} of start URLs is a ${flat[0]}, not a ${this.#type ?? 'list, set or zset'}. See REDIS_START_URLS_KEY, REDIS_START_URLS_AS_SET and REDIS_START_URLS_AS_ZSET.`,
      );
    }
    const entries: StartEntry[] = [];
    for (let i = 0; i < flat.length; i += 2) entries.push({ id: flat[i]!, text: flat[i + 1]! });
    for (const { id } of entries) this.#taken.add(id);
    return entries;
  }

  /** Its request is in the frontier; or it cannot be used, for a reason, and goes to the list `<key>:dead`. */
  async done({ id, text }: StartEntry, reason = ''): Promise<void> {
    this.#taken.delete(id);
    await this.#run('done', id, reason, reason === '' ? '' : text);
  }

  /** Gives back what is not done. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    if (this.#taken.size > 0) await this.#run('back', ...this.#taken);
    this.#taken.clear();
  }

  async #run(name: keyof typeof scripts, ...args: (string | number)[]): Promise<string[]> {
    const keys = [this.key, `${this.key}:processing`, `${this.key}:dead`];
    return (await this.#watch.run(() =>
      this.#redis.call('EVAL', scripts[name], keys.length, ...keys, this.#leaseMs, ...args),
    )) as string[];
  }
}
