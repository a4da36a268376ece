/** The keys of the sets, in the order in which the scripts take them. */
export const keyNames = [
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
  'fleet:run',
  'fleet:history',
  'fleet:at',
  'fleet:orders',
  'fleet:attempts',
  'fleet:group',
  'fleet:limits',
  'fleet:late',
] as const;

/** Milliseconds after the end of a lease in which its owner is still heard, and half a lease at most; agents speak each 5 s. */
const graceMs = 6000;

// A lease that is over is looked at twice: a server that stood still has heard of no renewal, and gives everybody the time
// to speak before anybody is given up.
const prelude = `
local pending, running, finished, failed, owner, lease, token, done, result, stop, events, generation, run, history, at, orders, attempts, group, limits, late = unpack(KEYS)
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local leaseMs = tonumber(ARGV[1])
local function move(name, to, by)
  for i = 1, 4 do
    if KEYS[i] ~= to then redis.call('SREM', KEYS[i], name) end
  end
  redis.call('SADD', to, name)
  redis.call('ZADD', at, now, name)
  local state = to == pending and 'pending' or to == running and 'running' or to == finished and 'finished' or 'failed'
  redis.call('XADD', events, 'MAXLEN', '~', 20000, '*', 'name', name, 'to', state,
    'token', redis.call('HGET', token, name) or '0', 'owner', by, 'attempt', redis.call('HGET', attempts, name) or '0')
end
local function begin(name, by)
  local attempt = redis.call('HINCRBY', attempts, name, 1)
  redis.call('HSET', run, name, '{"attempt":' .. attempt .. ',"machine":' .. cjson.encode(by) .. ',"startedAt":' .. string.format('%d', now) .. '}')
  return attempt
end
local function close(name, rest)
  local text = redis.call('HGET', run, name)
  if not text then return end
  redis.call('HDEL', run, name)
  local all = string.sub(text, 1, -2) .. ',"endedAt":' .. string.format('%d', now) .. ',' .. rest .. '}\\n' .. (redis.call('HGET', history, name) or '')
  local stands = 0
  for i = 1, 20 do stands = string.find(all, '\\n', stands + 1, true) or #all end
  redis.call('HSET', history, name, string.sub(all, 1, stands))
end
local function again(name, order)
  return order ~= '0' and tonumber(redis.call('HGET', generation, name) or '0') > tonumber(order)
end
local function free(name)
  redis.call('HDEL', owner, name)
  redis.call('ZREM', lease, name)
  redis.call('SREM', late, name)
  redis.call('HDEL', group, name)
end
local function extend(name)
  redis.call('ZADD', lease, now + leaseMs, name)
  redis.call('SREM', late, name)
end
local function hold(name, by, mode)
  redis.call('HSET', owner, name, by .. '|' .. mode)
  extend(name)
  if redis.call('SISMEMBER', running, name) == 0 then move(name, running, by) end
end
local function reap()
  local count = 0
  for _, name in ipairs(redis.call('ZRANGEBYSCORE', lease, '-inf', now, 'LIMIT', 0, 100)) do
    if redis.call('SADD', late, name) == 1 then
      redis.call('ZADD', lease, now + math.min(leaseMs / 2, ${graceMs}), name)
    else
      free(name)
      close(name, '"state":"pending","reason":"lost"')
      if redis.call('SISMEMBER', running, name) == 1 then move(name, pending, 'lease') end
      count = count + 1
    end
  end
  return count
end
local function full(machine, limit, fleetLimit)
  fleetLimit = tonumber(redis.call('HGET', limits, '*') or fleetLimit)
  if fleetLimit > 0 and redis.call('SCARD', running) >= fleetLimit then return true end
  if limit == 0 then return false end
  local count = 0
  for _, value in ipairs(redis.call('HVALS', owner)) do
    if string.sub(value, 1, #machine + 1) == machine .. '/' then count = count + 1 end
  end
  return count >= limit
end
local function crowded(of)
  local count = 0
  for _, value in ipairs(redis.call('HVALS', group)) do
    if value == of then count = count + 1 end
  end
  return count >= tonumber(redis.call('HGET', limits, of) or '1')
end
`;

/** What runs on the server. The first argument of each is the length of a lease in milliseconds. */
const bodies = {
  take: `
local by, machine, limit, fleetLimit = ARGV[2], ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5])
reap()
if full(machine, limit, fleetLimit) then return {'limit'} end
local name = redis.call('SRANDMEMBER', pending)
if not name then return {'empty'} end
local mine = redis.call('HINCRBY', token, name, 1)
hold(name, by, 't')
return {'ok', mine, begin(name, by), name}`,
  claim: `
local name, by, machine, limit, fleetLimit = ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5]), tonumber(ARGV[6])
local given, order, of = tonumber(ARGV[7]), ARGV[8], ARGV[9]
reap()
if order ~= '0' and redis.call('HGET', done, name) == order then return {'done'} end
local held = redis.call('HGET', owner, name)
local stored = tonumber(redis.call('HGET', token, name) or '0')
if given > 0 and given < stored then return {'old'} end
if held then
  if given > 0 or held ~= by .. '|t' then return {'busy'} end
  hold(name, by, 'o')
  return {'ok', stored, tonumber(redis.call('HGET', attempts, name))}
end
if full(machine, limit, fleetLimit) then
  if redis.call('SISMEMBER', running, name) == 0 then move(name, pending, by) end
  return {'limit'}
end
if of ~= '' then
  if crowded(of) then return {'group'} end
  redis.call('HSET', group, name, of)
end
local mine = given > 0 and given or stored + 1
redis.call('HSET', token, name, mine)
hold(name, by, 'o')
return {'ok', mine, begin(name, by)}`,
  renew: `
local name, by, mine, order = ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local held = redis.call('HGET', owner, name)
local answer = {'lost'}
if redis.call('HGET', token, name) == mine then
  if held == by .. '|o' or held == by .. '|t' then
    extend(name)
    answer = {'ok', redis.call('HGET', stop, name) or ''}
  elseif not held and redis.call('SISMEMBER', pending, name) == 1 and not again(name, order) then
    hold(name, by, 'o')
    answer = {'ok', redis.call('HGET', stop, name) or ''}
  end
end
reap()
return answer`,
  holds: `
local name, by, mine, order = ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local held = redis.call('HGET', owner, name)
if redis.call('HGET', token, name) ~= mine or again(name, order) then return {'lost'} end
if held and held ~= by .. '|o' and held ~= by .. '|t' then return {'lost'} end
return {'ok'}`,
  release: `
local name, by, mine, to, order, record = ARGV[2], ARGV[3], ARGV[4], KEYS[tonumber(ARGV[5])], ARGV[6], ARGV[7]
if redis.call('HGET', token, name) ~= mine then return {'lost'} end
local held = redis.call('HGET', owner, name)
if held then
  if held ~= by .. '|o' and held ~= by .. '|t' then return {'lost'} end
elseif redis.call('SISMEMBER', to, name) == 1 and to ~= pending then return {'ok'}
elseif redis.call('SISMEMBER', pending, name) == 0 or again(name, order) then return {'lost'} end
free(name)
if record ~= '' then redis.call('HSET', result, name, record) end
close(name, '"state":"' .. keynames[tonumber(ARGV[5])] .. '"' .. (record == '' and '' or ',' .. string.sub(record, 2, -2)))
move(name, to, by)
if to ~= pending then
  redis.call('HDEL', stop, name)
  if order ~= '0' then redis.call('HSET', done, name, order) end
end
return {'ok'}`,
  order: `
local only = ARGV[2] == 'pending'
local answer = {}
for i = 3, #ARGV, 2 do
  local name, text = ARGV[i], ARGV[i + 1]
  local waits = redis.call('SISMEMBER', pending, name) == 1
  if redis.call('SISMEMBER', running, name) == 1 or (only and not waits) then table.insert(answer, 0)
  else
    table.insert(answer, redis.call('HINCRBY', generation, name, 1))
    if not waits then move(name, pending, 'order') end
    if text ~= '' then redis.call('HSET', orders, name, text) end
    redis.call('HDEL', stop, name)
  end
end
return answer`,
  cancel: `
local name, mode, record = ARGV[2], ARGV[3], ARGV[4]
if redis.call('HGET', owner, name) then
  redis.call('HSET', stop, name, mode)
  return {'running'}
end
if redis.call('SISMEMBER', pending, name) == 0 then return {'none'} end
move(name, failed, 'stop')
redis.call('HSET', result, name, record)
redis.call('HSET', done, name, redis.call('HGET', generation, name) or '0')
return {'pending'}`,
  restore: `
local by, count = ARGV[2], 0
for i = 3, #ARGV, 7 do
  local name, to, mine, attempt, text, record, ours = unpack(ARGV, i, i + 6)
  mine, attempt = tonumber(mine), tonumber(attempt)
  local order = math.floor(mine / 1000000)
  local stored = tonumber(redis.call('HGET', token, name) or '0')
  local ordered = tonumber(redis.call('HGET', generation, name) or '0')
  local where
  for k = 1, 4 do if redis.call('SISMEMBER', KEYS[k], name) == 1 then where = k end end
  if stored <= mine and ordered <= order and (not where or where < 3) and not (to == 'pending' and where) then
    local held = redis.call('HGET', owner, name)
    if to == 'finished' or to == 'failed' then
      free(name)
      move(name, to == 'finished' and finished or failed, 'restore')
      redis.call('HSET', done, name, order)
      if record ~= '' then redis.call('HSET', result, name, record) end
      count = count + 1
    elseif to == 'running' and ours == '1' and not held then
      redis.call('HSET', token, name, mine)
      hold(name, by, 'o')
      count = count + 1
    elseif not where then
      move(name, pending, 'restore')
      count = count + 1
      -- It may have begun since, where it was not seen: the next run is told from that one.
      if to == 'pending' then order, attempt = order + 1, attempt + 1 end
    end
    redis.call('HSET', token, name, math.max(stored, mine))
    redis.call('HSET', generation, name, math.max(ordered, order))
    if text ~= '' then redis.call('HSETNX', orders, name, text) end
    redis.call('HSET', attempts, name, math.max(tonumber(redis.call('HGET', attempts, name) or '0'), attempt))
  end
end
return count`,
  reap: 'return reap()',
} as const;

export type ScriptName = keyof typeof bodies;

const names = `local keynames = {'pending', 'running', 'finished', 'failed'}\n`;

export const scripts: Readonly<Record<ScriptName, string>> = Object.fromEntries(
  Object.entries(bodies).map(([name, body]) => [name, names + prelude + body]),
) as Record<ScriptName, string>;
