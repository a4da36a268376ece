/** Keys of a frontier, in the order of `KEYS`; the queue of each host is `q:<host>`. */
export const frontierKeys = [
  'seen',
  'started',
  'ready',
  'due',
  'hosts',
  'leases',
  'lease',
  'held',
  'wait',
  'state',
  'dead',
  'workers',
  'named',
  'over',
] as const;

/** Changes when the keys mean something else. */
export const frontierFormat = '1';

/** What every script has: `ARGV` 1 to 6 are the same in all of them, the server's clock is the only one. */
const prelude = `
local seen, started, ready, due, hosts, leases, lease, held, wait, state, dead, workers, named, over = unpack(KEYS)
local run, me, order = ARGV[1], ARGV[2], ARGV[6]
local newHostDelay, leaseMs, maxEntry = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local queue = string.sub(seen, 1, -5) .. 'q:'
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local function field(name) return redis.call('HGET', state, name) end
local function set(name, value) redis.call('HSET', state, name, value) end

-- Delay, concurrency and back-off of a host. One that has not answered yet is asked one thing at a time.
local function recordOf(host)
  local delay, limit, backoff = string.match(redis.call('HGET', hosts, host) or '', '^(%S+) (%S+) (%S+)$')
  if not delay then return newHostDelay, 1, 0 end
  return tonumber(delay), tonumber(limit), tonumber(backoff)
end

-- Not to be asked before a time; an earlier word of a later time holds.
local function rest(host, untilMs)
  if untilMs > tonumber(redis.call('ZSCORE', due, host) or 0) then redis.call('ZADD', due, untilMs, host) end
end

-- Hosts are in ready as long as they have something to give and may give it once they are due.
local function place(host, isServed)
  local delay, limit, backoff = recordOf(host)
  if delay > 0 or backoff > 0 then limit = 1 end
  local busy = tonumber(redis.call('HGET', leases, host) or 0)
  if busy >= limit or redis.call('EXISTS', queue .. host) == 0 then
    redis.call('ZREM', ready, host)
    return
  end
  local at = redis.call('ZSCORE', due, host)
  if at then redis.call('ZADD', ready, at, host)
  elseif isServed then redis.call('ZADD', ready, now, host)
  else redis.call('ZADD', ready, 'NX', now, host) end
end

local function bury(member, reason)
  redis.call('RPUSH', dead, cjson.encode({reason = reason, bytes = #member, at = now, entry = string.sub(member, 1, 1000)}))
  redis.call('LTRIM', dead, -1000, -1)
end

-- Ends a lease; what was leased, or nil if the lease is not there any more.
local function free(token)
  local packed = redis.call('HGET', held, token)
  if not packed then return nil end
  redis.call('HDEL', held, token)
  redis.call('ZREM', lease, token)
  local entry = cmsgpack.unpack(packed)
  if redis.call('HINCRBY', leases, entry[2], -1) <= 0 then redis.call('HDEL', leases, entry[2]) end
  return entry
end

-- Back to where it was, before those that came later.
local function giveBack(token, untilMs)
  local entry = free(token)
  if not entry then return false end
  local host, score, member = entry[2], entry[3], entry[4]
  redis.call('ZADD', queue .. host, score, member)
  redis.call('HINCRBY', state, 'pending', 1)
  if untilMs > 0 then rest(host, untilMs) end
  place(host)
  return true
end

-- A long silence of all workers is one of Redis: then nobody could renew, and nobody has died of it.
local function tick()
  local last = tonumber(field('tick') or now)
  if now - last > leaseMs / 2 then set('grace', now + math.floor(leaseMs / 2)) end
  set('tick', now)
  redis.call('ZADD', workers, now + leaseMs, me)
end

local function reap()
  if now < tonumber(field('grace') or 0) then return end
  for _, token in ipairs(redis.call('ZRANGEBYSCORE', lease, '-inf', now, 'LIMIT', 0, 100)) do
    local packed = redis.call('HGET', held, token)
    local host = packed and cmsgpack.unpack(packed)[2]
    -- Its worker may have asked the host up to now.
    if host then giveBack(token, now + (recordOf(host)))
    else redis.call('ZREM', lease, token) end
  end
end

-- What was to be made later and is due.
local function wake()
  for _, packed in ipairs(redis.call('ZRANGEBYSCORE', wait, '-inf', now, 'LIMIT', 0, 500)) do
    redis.call('ZREM', wait, packed)
    local isOk, entry = pcall(cmsgpack.unpack, packed)
    if isOk and type(entry) == 'table' and type(entry[3]) == 'string' and tonumber(entry[2]) then
      redis.call('ZADD', queue .. entry[1], entry[2], entry[3])
      place(entry[1])
    else
      bury(packed, 'A waiting entry is not one of ours.')
      redis.call('HINCRBY', state, 'pending', -1)
    end
  end
end

-- Seven arguments each: flags (f: not twice, r: remember, s: of start()), fingerprint, host, score, wait in ms,
-- delay and concurrency where the settings name this host, and the request. Gives the places of the duplicates.
local function add(from, attempt)
  local total = math.floor((#ARGV - from + 1) / 7)
  if total <= 0 then return {} end
  local turn = redis.call('HINCRBY', state, 'order', total) - total
  local dups, touched, added = {}, {}, 0
  for n = 1, total do
    local i = from + (n - 1) * 7
    local flags, print, host, score, delay, record, text =
      ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3], tonumber(ARGV[i + 4]), ARGV[i + 5], ARGV[i + 6]
    local isStart = string.find(flags, 's', 1, true)
    local isNew = true
    if isStart then
      -- start() is run again where a worker died in it: what another attempt has asked for is there.
      local before = redis.call('HGET', started, print)
      if before and before ~= attempt then isNew = false
      else redis.call('HSET', started, print, attempt) end
    end
    if flags ~= '' and redis.call('SADD', seen, print) == 0 and string.find(flags, 'f', 1, true) then isNew = false end
    if isNew then
      added = added + 1
      local nth = turn + n
      local member = (isStart and '1' or '0') ..
        string.format('%012x', (isStart or order == 'fifo') and nth or 0xFFFFFFFFFFFF - nth) .. text
      if record ~= '' then redis.call('HSETNX', hosts, host, record .. ' 0') end
      if delay > 0 then redis.call('ZADD', wait, now + delay, cmsgpack.pack({host, score, member}))
      else
        redis.call('ZADD', queue .. host, score, member)
        touched[host] = true
      end
    else dups[#dups + 1] = n - 1 end
  end
  redis.call('HINCRBY', state, 'pending', added)
  if added > 0 then redis.call('HDEL', state, 'finished') end
  for host in pairs(touched) do place(host) end
  return dups
end

local function wipe()
  for _, key in ipairs({ready, leases}) do
    local list = key == ready and redis.call('ZRANGE', key, 0, -1) or redis.call('HKEYS', key)
    for _, host in ipairs(list) do redis.call('UNLINK', queue .. host) end
  end
  redis.call('UNLINK', seen, started, ready, due, hosts, leases, lease, held, wait, state, named)
end

-- The status, how it stands now, and what else there is to say.
local function answer(status, ...)
  local hint = -1
  for _, key in ipairs({ready, wait}) do
    local at = redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')[2]
    if at then
      local left = math.max(0, math.ceil(at - now))
      if hint < 0 or left < hint then hint = left end
    end
  end
  return {status, tonumber(field('pending') or 0), redis.call('ZCARD', lease),
    redis.call('ZCARD', ready) + redis.call('ZCARD', wait), hint, redis.call('SCARD', named), ...}
end
`;

/** A worker that comes back from nowhere must not write into another run. */
const sameRun = `
if field('run') ~= run then return {redis.call('GET', over) == run and 'over' or 'gone'} end
`;

const bodies = {
  open: `
local format = field('format')
if format and format ~= '${frontierFormat}' then return {'format', format} end
redis.call('ZREMRANGEBYSCORE', workers, '-inf', now)
local others = redis.call('ZCARD', workers)
if others == 0 then
  -- The last run is over, but for a worker that had died and whose lease stood in the way of clearing.
  local isOver = field('finished') == '1' and redis.call('ZCARD', lease) + redis.call('ZCARD', ready) + redis.call('ZCARD', wait) == 0
  if ARGV[7] == '1' or isOver then wipe() end
end
if not field('run') then
  set('run', run)
  set('format', '${frontierFormat}')
end
-- A new run of the crawl: start() is asked again.
if others == 0 then set('start', '') end
tick()
return answer('ok', field('run'), others, redis.call('SCARD', seen))`,
  claim: `${sameRun}
tick()
reap()
wake()
redis.call('ZREMRANGEBYSCORE', due, '-inf', now)
local most, count, buried, out = tonumber(ARGV[7]), 0, 0, {}
for round = 1, 1000 do
  local some = count < most and redis.call('ZRANGEBYSCORE', ready, '-inf', now, 'LIMIT', 0, most - count) or {}
  if #some == 0 then break end
  for _, host in ipairs(some) do
    local found = redis.pcall('ZPOPMIN', queue .. host)
    if found.err then
      bury(host, 'The queue of this host was no sorted set.')
      redis.call('UNLINK', queue .. host)
      buried = buried + 1
    elseif found[1] then
      local member, score = found[1], found[2]
      redis.call('HINCRBY', state, 'pending', -1)
      if #member > maxEntry + 13 then
        bury(member, 'The entry is longer than REDIS_MAX_ENTRY_SIZE.')
        buried = buried + 1
      else
        local token = redis.call('HINCRBY', state, 'fence', 1)
        redis.call('HSET', held, token, cmsgpack.pack({me, host, score, member}))
        redis.call('ZADD', lease, now + leaseMs, token)
        redis.call('HINCRBY', leases, host, 1)
        count = count + 1
        out[#out + 1] = tostring(token)
        out[#out + 1] = host
        out[#out + 1] = string.match(redis.call('HGET', hosts, host) or '', '^%S+') or ''
        out[#out + 1] = string.sub(member, 14)
      end
    end
    place(host, true)
  end
end
return answer('ok', buried, out)`,
  ack: `${sameRun}
local entry = free(ARGV[7])
if not entry then return answer('late') end
local host, since, delay, backoff = entry[2], ARGV[8], tonumber(ARGV[9]), tonumber(ARGV[11])
local _, _, before = recordOf(host)
-- What another worker was pushed back to eases with each answer of any.
backoff = math.max(backoff, math.floor(before * 0.92))
redis.call('HSET', hosts, host, ARGV[9] .. ' ' .. ARGV[10] .. ' ' .. string.format('%.0f', backoff))
-- Counted from the answer: only then it is certain that the site has had the request.
if since ~= '' then rest(host, now - tonumber(since) + math.max(delay, backoff)) end
if tonumber(ARGV[12]) > 0 then rest(host, now + tonumber(ARGV[12])) end
local dups = add(13, '')
place(host)
return answer('ok', dups)`,
  add: `${sameRun}
return answer('ok', add(8, ARGV[7]))`,
  nack: `${sameRun}
local pause = tonumber(ARGV[7])
for i = 8, #ARGV do giveBack(ARGV[i], pause > 0 and now + pause or 0) end
return answer('ok')`,
  holdOnly: `${sameRun}
local mine = {}
for i = 7, #ARGV do mine[ARGV[i]] = true end
local back = 0
for _, token in ipairs(redis.call('ZRANGE', lease, 0, -1)) do
  local packed = not mine[token] and redis.call('HGET', held, token)
  if packed and cmsgpack.unpack(packed)[1] == me and giveBack(token, 0) then back = back + 1 end
end
return answer('ok', back)`,
  beat: `${sameRun}
tick()
local lost = {}
for i = 7, #ARGV do
  if redis.call('HEXISTS', held, ARGV[i]) == 1 then redis.call('ZADD', lease, now + leaseMs, ARGV[i])
  else lost[#lost + 1] = ARGV[i] end
end
if field('start') == me then set('startUntil', now + leaseMs) end
return answer('ok', lost)`,
  bury: `${sameRun}
local entry = free(ARGV[7])
if entry then
  bury(string.sub(entry[4], 14), ARGV[8])
  place(entry[2])
end
return answer('ok')`,
  block: `${sameRun}
rest(ARGV[7], now + tonumber(ARGV[8]))
place(ARGV[7])
return answer('ok')`,
  setDelay: `${sameRun}
local _, limit, backoff = recordOf(ARGV[7])
redis.call('HSET', hosts, ARGV[7], ARGV[8] .. ' ' .. limit .. ' ' .. backoff)
place(ARGV[7])
return answer('ok')`,
  name: `${sameRun}
redis.call('SADD', named, unpack(ARGV, 7))
return answer('ok')`,
  claimStart: `${sameRun}
local start = field('start')
if start == 'done' then return answer('done') end
if start and start ~= '' and start ~= me and now < tonumber(field('startUntil') or 0) then return answer('wait') end
set('start', me)
set('startUntil', now + leaseMs)
return answer('ok', redis.call('HINCRBY', state, 'attempt', 1))`,
  endStart: `${sameRun}
if field('start') == me then set('start', ARGV[7] == '1' and 'done' or '') end
return answer('ok')`,
  leave: `${sameRun}
redis.call('ZREM', workers, me)
redis.call('ZREMRANGEBYSCORE', workers, '-inf', now)
if field('start') == me then set('start', '') end
local stand = answer('ok')
if ARGV[7] == '1' and stand[3] + stand[4] == 0 then
  if redis.call('ZCARD', workers) > 0 then set('finished', '1')
  else
    wipe()
    redis.call('SET', over, run, 'EX', 3600)
  end
end
return stand`,
};

export type FrontierScript = keyof typeof bodies;

/** The scripts, whole. */
export const frontierScripts: Readonly<Record<FrontierScript, string>> = Object.fromEntries(
  Object.entries(bodies).map(([name, body]) => [name, prelude + body]),
) as Record<FrontierScript, string>;
