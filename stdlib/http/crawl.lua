--- Crawls sites: `for page in crawl{ start = { url } }:pages() do … end`.
--
-- Pages are fetched concurrently ahead of the loop, but never more than twice `concurrency` of them exist at once, so
-- a slow loop slows the crawl down instead of filling memory. Each host has a queue of its own, with its robots.txt
-- and its pause between requests. Redirects are followed here, hop by hop, because a hop may leave the site, may be
-- forbidden by robots.txt, or may lead to a page that has been seen.

local errors = require "http.errors"
local fetch = require "http.crawl_fetch"
local fibers = require "http.fibers"
local frontier = require "http.crawl_frontier"
local links = require "http.crawl_links"
local options = require "http.options"
local url = require "http.url"

local crawl = {}

local FIELDS = {
  start = "string|table", same_host = "boolean", max_depth = "integer", max_pages = "integer", concurrency = "integer",
  delay = "number", user_agent = "string", robots = "boolean", session = "table|userdata", filter = "function",
  max_body = "integer", check_external = "boolean", resources = "boolean", request = "table",
}

local Crawler = {}
Crawler.__index = Crawler
Crawler.__name = "http.crawler"

local function now() return require("http").now() end

local function is_allowed(self, host, address)
  return not host.rules or host.rules:allowed(self.user_agent, address)
end

-- Pages ---------------------------------------------------------------------------------------------------------------

local function too_many_redirects(page, message)
  page.error = errors.new { domain = "url", code = "http_too_many_redirects", url = page.url, message = message }
end

-- Notes where a redirect leads. -> the hop, or nil when the response is none that can be followed
function Crawler:_hop(page, response)
  local location = response.headers["Location"]
  if not location or response.status < 300 or response.status >= 400 then return nil end
  local target = url.resolve(page.url, location)
  target = target and frontier.key(target)
  if not target then return nil end
  local hop = { status = response.status, from = page.url, to = target, followed = false }
  page.redirects[#page.redirects + 1] = hop
  self.book:redirect(page.url, target)
  return hop
end

local function is_circle(page, target)
  for _, hop in ipairs(page.redirects) do
    if hop.from == target then return true end
  end
  return false
end

-- Where the crawl goes on from a redirect; nil when it does not, or not at once.
function Crawler:_target(page, response)
  local hop = self:_hop(page, response)
  if not hop then return nil end
  local target = hop.to
  if is_circle(page, target) then return too_many_redirects(page, "the redirects go in a circle") end
  if self.frontier:is_seen(target) then return nil end
  local inside, host = self:_is_inside(target), self.frontier:host_of(target)
  if not inside and not self.check_external then return nil end
  if not inside or not host.is_known then
    -- It takes its turn like a link: its host's robots.txt has to be read first.
    self.frontier:add {
      url = target, depth = page.depth, referrer = page.referrer, external = not inside or nil,
    }
    return nil
  end
  if host.failure or not is_allowed(self, host, target) then return nil end
  if #page.redirects > fetch.MAX_REDIRECTS then
    return too_many_redirects(page, ("more than %d redirects"):format(fetch.MAX_REDIRECTS))
  end
  hop.followed = true
  return target
end

function Crawler:_fetch(page)
  local started = now()
  while true do
    page.response, page.error, page.truncated = fetch.page(self, page)
    local target = page.response and not page.external and self:_target(page, page.response)
    if not target then break end
    self.frontier:mark_seen(target)
    page.url = target
    local pause = self.frontier:reserve(target, now())
    if pause > 0 then fibers.sleep(pause) end
  end
  page.seconds = now() - started
end

-- Whether a URL belongs to the crawl (as against a link that leads out of it).
function Crawler:_is_inside(address)
  return not self.same_host or self.sites[frontier.site(address)] == true
end

-- Takes a link up: -> the URL as it is kept, or nil when it is none that can be fetched.
function Crawler:_add_link(page, address, is_resource)
  local key = frontier.key(address)
  if not key then return nil end
  self.book:add(key, page.url)
  if self.frontier:is_seen(key) then return key end
  local inside = self:_is_inside(key)
  if not inside and not self.check_external then return key end
  if inside and self.max_depth and page.depth >= self.max_depth then return key end
  if self.filter and not self.filter(key) then return key end
  self.frontier:add {
    url = key, depth = page.depth + 1, referrer = page.url, external = not inside or nil,
    is_resource = is_resource,
  }
  return key
end

local function has_links(page)
  local response = page.response
  return not page.external and not page.truncated and response.status < 300 and fetch.is_html(response)
    and response.body ~= nil
end

function Crawler:_read_links(page)
  if not has_links(page) then return end
  local found, resources = links.of_page(page.response, self.resources)
  if not found then
    page.error = resources
    return
  end
  local listed = {}
  for index, address in ipairs(found) do
    local key = self:_add_link(page, address, resources[index])
    if key and not listed[key] then
      listed[key] = true
      page.links[#page.links + 1] = key
    end
  end
end

-- A page makes its document when it is first asked for it: a crawl that only wants the links does not pay for it.
local Page = {}

function Page.__index(page, name)
  if name ~= "document" or not page.response or not has_links(page) then return nil end
  local document = page.response:html()
  rawset(page, "document", document)
  return document
end

function Crawler:_note_failure(page)
  local response = page.response
  if page.error and page.error.code ~= "disallowed_by_robots" then
    self.book:fail(page.url, nil, page.error)
  elseif response and response.status >= 400 then
    self.book:fail(page.url, response.status)
  end
end

function Crawler:_visit(entry)
  local page = setmetatable({
    url = entry.url, requested_url = entry.url, depth = entry.depth, referrer = entry.referrer,
    external = entry.external, is_resource = entry.is_resource, links = {}, redirects = {},
  }, Page)
  local host = self.frontier:host_of(entry.url)
  if host.failure then
    page.error, page.seconds = host.failure, 0
  else
    self:_fetch(page)
  end
  if page.error and page.error.code == "cancelled" then
    -- The script is being ended, or its session was: no page can be had any more, and none is broken for that.
    self.cancelled, self.stopped = true, true
    return
  end
  if page.response and not page.error then self:_read_links(page) end
  self:_note_failure(page)
  self.ready[#self.ready + 1] = page
end

-- What robots.txt forbids is passed over; only somebody who asked for it by name is told.
function Crawler:_refuse(entry)
  self.disallowed = self.disallowed + 1
  if entry.depth > 0 then return end
  self.ready[#self.ready + 1] = {
    url = entry.url, requested_url = entry.url, depth = 0, links = {}, redirects = {}, seconds = 0,
    error = errors.new {
      domain = "crawl", code = "disallowed_by_robots", url = entry.url,
      message = "robots.txt does not allow it for " .. self.user_agent,
    },
  }
end

-- Work ----------------------------------------------------------------------------------------------------------------

function Crawler:_signal()
  local waiting = self.waiting
  if waiting then
    self.waiting = nil
    fibers.complete(waiting)
  end
end

-- Runs work in a job; whatever it raises is raised in the loop over the pages.
function Crawler:_begin(work, argument)
  self.active = self.active + 1
  local job
  job = fibers.spawn(function()
    local ok, problem = pcall(work, self, argument)
    self.active = self.active - 1
    self.jobs[job] = nil
    if not ok and not self.stopped then self.raised = { problem } end
    self:_dispatch()
    self:_signal()
  end)
  self.jobs[job] = true
end

function Crawler:_has_room()
  return not self.stopped and not self.raised and self.active < self.concurrency and #self.ready < self.concurrency
end

-- Starts what may start now; remembers when the next host's pause ends.
function Crawler:_dispatch()
  while self:_has_room() do
    if self.max_pages and self.started >= self.max_pages then return end
    local entry, host, pause = self.frontier:take(now())
    if not entry then
      if pause then self:_wake_after(pause) end
      return
    end
    if not host.is_known then
      self:_begin(function(crawler)
        if crawler.robots then fetch.robots(crawler, host) end
        crawler.frontier:open(host, entry)
      end)
    elseif not host.failure and not is_allowed(self, host, entry.url) then
      self:_refuse(entry)
    else
      self.started = self.started + 1
      self:_begin(self._visit, entry)
    end
  end
end

function Crawler:_wake_after(seconds)
  if self.disarm then self.disarm() end
  self.disarm = fibers.after(seconds, function()
    self.disarm = nil
    self:_dispatch()
    self:_signal()
  end)
end

function Crawler:_next_page()
  while true do
    if self.raised then error(self.raised[1], 0) end
    self:_dispatch()
    if self.ready[1] then
      local page = table.remove(self.ready, 1)
      self:_dispatch()
      return page
    end
    if self.stopped or (self.active == 0 and not self.disarm) then return nil end
    self.waiting = {}
    fibers.wait_for(self.waiting)
  end
end

--- Ends the crawl: what is under way is cancelled, the loop over the pages ends.
function Crawler:stop()
  self.stopped = true
  if self.disarm then self.disarm() end
  self.disarm = nil
  self.ready = {}
  for job in pairs(self.jobs) do
    job:cancel()
  end
  self:_signal()
end

--- The pages, as they come in; for a generic `for`. Leaving the loop early ends the crawl.
function Crawler:pages()
  local closing = setmetatable({}, { __close = function()
    if not self.stopped then self:stop() end
  end })
  return function() return self:_next_page() end, nil, nil, closing
end

--- The pages found so far that link to a URL (at most 1000 of them).
function Crawler:referrers(address)
  options.expect(address, "string", "argument #1 of referrers")
  return self.book:list(frontier.key(address) or address)
end

--- What could not be had: a list of { url, status | error, pages } in the order found. `pages` are those that link to
-- the URL, directly or through a redirect.
function Crawler:broken() return self.book:broken() end

local function check_numbers(given)
  for _, name in ipairs { "max_depth", "max_pages", "delay", "max_body" } do
    if given[name] and not (given[name] >= 0) then options.misuse("option '%s' must not be negative", name) end
  end
  if given.concurrency and given.concurrency < 1 then options.misuse("option 'concurrency' must be at least 1") end
end

local function add_start(self, given)
  local list = type(given.start) == "table" and given.start or { given.start }
  if #list == 0 then options.misuse("option 'start' needs at least one URL") end
  for _, address in ipairs(list) do
    options.expect(address, "string", "an item of 'start'")
    local key = frontier.key(address)
    if not key then options.misuse("option 'start' has no http or https URL in %q", address) end
    self.sites[frontier.site(key)] = true
    if not self.frontier:is_seen(key) then self.frontier:add { url = key, depth = 0 } end
  end
end

--- Makes a crawler. Options: `start` (a URL or a list of them); `same_host` (default true: only the hosts of `start`
-- are crawled); `max_depth` (links from a start URL), `max_pages` (default: no limit); `concurrency` (requests at once,
-- default 8); `delay` (seconds between two requests to one host, default 0; a longer Crawl-delay counts);
-- `user_agent`; `robots` (default true); `session`; `filter` (function(url) -> whether to fetch it); `max_body` (bytes,
-- default 8 MiB; a longer body is not kept); `check_external` (default false: links to other hosts are asked for, but
-- not crawled); `resources` (default false: also ask for the images, scripts, style sheets … that pages load);
-- `request` (options for every request, such as `timeout`, `headers`, `retry`).
function crawl.new(given)
  options.expect(given, "table", "argument #1 of crawl")
  options.check(given, FIELDS, "argument #1 of crawl")
  if given.start == nil then options.misuse("crawl needs a 'start'") end
  check_numbers(given)
  local self = setmetatable({
    same_host = given.same_host ~= false, max_depth = given.max_depth, max_pages = given.max_pages,
    concurrency = given.concurrency or 8, delay = given.delay or 0, user_agent = given.user_agent or "httpscript",
    robots = given.robots ~= false, session = given.session or require("http").shared, filter = given.filter,
    max_body = given.max_body or 8 * 1024 * 1024, check_external = given.check_external, resources = given.resources,
    request = given.request,
    sites = {}, frontier = frontier.new(given.delay or 0), book = links.new(), ready = {}, jobs = {},
    active = 0, started = 0, disallowed = 0,
  }, Crawler)
  add_start(self, given)
  return self
end

return setmetatable(crawl, { __call = function(_, given) return crawl.new(given) end })
