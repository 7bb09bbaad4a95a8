-- What a crawl has yet to fetch: one queue per host, served in turn, each with its pause between requests.

local url = require "http.url"

local frontier = {}

-- The pages of a site repeat the same links: most addresses have been seen before.
local CACHE_SIZE = 8192
local keys, cached = {}, 0

--- A URL as the crawl keeps it: normalised, without fragment; nil when it is none of http or https.
function frontier.key(address)
  local known = keys[address]
  if known then return known end
  address = address:match("^[^#]*")
  if not address:find("^%s*[hH][tT][tT][pP][sS]?:") then return nil end
  local key = url.normalize(address)
  if not key then return nil end
  if cached >= CACHE_SIZE then keys, cached = {}, 0 end
  keys[address], cached = key, cached + 1
  return key
end

local function origin(address) return address:match("^https?://[^/?#]*") end

--- What "the same host" compares: host and port; http and https on their usual ports are one site.
function frontier.site(address)
  local authority = address:match("^https?://([^/?#]*)"):gsub("^.*@", "")
  return (authority:gsub(":80$", ""):gsub(":443$", ""))
end

-- Queue: first in, first out, at the same cost for any length.
local Queue = {}
Queue.__index = Queue

local function new_queue() return setmetatable({ first = 1, last = 0 }, Queue) end

function Queue:push(item)
  self.last = self.last + 1
  self[self.last] = item
end

function Queue:pop()
  if self.first > self.last then return nil end
  local item = self[self.first]
  self[self.first] = nil
  self.first = self.first + 1
  return item
end

function Queue:push_front(item)
  self.first = self.first - 1
  self[self.first] = item
end

function Queue:is_empty() return self.first > self.last end

local Frontier = {}
Frontier.__index = Frontier

function frontier.new(delay)
  return setmetatable({ hosts = {}, order = {}, turn = 0, seen = {}, delay = delay }, Frontier)
end

function Frontier:is_seen(key) return self.seen[key] == true end

function Frontier:mark_seen(key) self.seen[key] = true end

--- The host record of a URL: `origin`, `delay`, and once known `rules` (robots) or `failure`.
function Frontier:host_of(key)
  local name = origin(key)
  local host = self.hosts[name]
  if not host then
    host = { origin = name, queue = new_queue(), delay = self.delay, free_at = 0 }
    self.hosts[name] = host
    self.order[#self.order + 1] = host
  end
  return host
end

--- Adds { url, … } to its host's queue.
function Frontier:add(entry)
  self.seen[entry.url] = true
  self:host_of(entry.url).queue:push(entry)
end

--- The next entry that may be fetched now, and its host; else nil, nil and the seconds until one may, if any waits
-- for time only. An entry of a host that is not known yet is taken too: the host is then closed until `open`.
function Frontier:take(time)
  local shortest
  for _ = 1, #self.order do
    self.turn = self.turn % #self.order + 1
    local host = self.order[self.turn]
    if not host.queue:is_empty() and not host.is_closed then
      local pause = host.free_at - time
      if pause <= 0 then
        if not host.is_known then
          host.is_closed = true
        else
          host.free_at = time + host.delay
        end
        return host.queue:pop(), host
      end
      shortest = math.min(shortest or pause, pause)
    end
  end
  return nil, nil, shortest
end

--- Opens a host, now known, and puts back the entry for whose sake it was asked.
function Frontier.open(_, host, entry)
  host.is_known, host.is_closed = true, false
  host.queue:push_front(entry)
end

--- Reserves the host's next free moment for one request outside the queue. -> seconds to wait for it
function Frontier:reserve(key, time)
  local host = self:host_of(key)
  local at = math.max(time, host.free_at)
  host.free_at = at + host.delay
  return at - time
end

return frontier
