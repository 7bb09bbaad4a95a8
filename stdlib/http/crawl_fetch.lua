-- The requests of a crawl.

local errors = require "http.errors"
local robots = require "http.robots"

local fetch = {}

--- Redirects that are followed in one go: those of external pages, and how long a chain may be within the crawl.
fetch.MAX_REDIRECTS = 10

local MAX_ROBOTS_SIZE = 512 * 1024
local MAX_ROBOTS_REDIRECTS = 5

-- The options of one request: the script's own, with what the crawl itself decides.
local function options_of(crawler, fields)
  local made = {}
  for name, value in pairs(crawler.request or {}) do
    made[name] = value
  end
  made.headers = {}
  for name, value in pairs(crawler.request and crawler.request.headers or {}) do
    made.headers[name] = value
  end
  made.headers["User-Agent"] = crawler.user_agent
  for name, value in pairs(fields) do
    made[name] = value
  end
  return made
end

--- Reads a host's robots.txt: sets `rules` and `delay`, or `failure`.
-- RFC 9309 2.3.1: what is absent allows everything, what cannot be reached allows nothing.
function fetch.robots(crawler, host)
  local chunks, size = {}, 0
  local response, err = crawler.session:get(host.origin .. "/robots.txt", options_of(crawler, {
    redirects = MAX_ROBOTS_REDIRECTS, max_body = 8 * MAX_ROBOTS_SIZE,
    sink = function(chunk)
      if size < MAX_ROBOTS_SIZE then chunks[#chunks + 1] = chunk end
      size = size + #chunk
    end,
  }))
  if err and err.code == "data_length_exceeds_maximum" then
    response, err = err.response or { status = 200 }, nil
  end
  if err then
    host.failure = err
  elseif response.status >= 500 then
    host.failure = errors.new {
      domain = "crawl", code = "disallowed_by_robots", url = host.origin .. "/robots.txt",
      message = ("robots.txt has status %d, so nothing may be fetched"):format(response.status),
    }
  elseif response.status < 300 then
    host.rules = robots.parse(table.concat(chunks))
    host.delay = math.max(crawler.delay, host.rules:crawl_delay(crawler.user_agent) or 0)
  end
end

--- Whether a response is a page.
function fetch.is_html(response)
  local mime_type = response.mime_type
  return mime_type == "text/html" or mime_type == "application/xhtml+xml"
end

-- Asks without wanting the body: external pages, images and the like. nil where that does not answer the question.
local function probe(crawler, page)
  local response, err = crawler.session:head(page.url, options_of(crawler, {
    redirects = page.external and fetch.MAX_REDIRECTS or false,
  }))
  -- Some servers refuse HEAD only; and what turns out to be a page of the site is read like one.
  if response and (response.status >= 400 or (not page.external and fetch.is_html(response))) then return nil end
  return response, err
end

--- Asks for `page.url`. -> response | nil, error, whether the body was too long to be kept.
-- A body that is too long is no failure of the page: what it said of itself is enough.
function fetch.page(crawler, page)
  if page.external or page.is_resource then
    local response, err = probe(crawler, page)
    if response or err then return response, err end
  end
  local response, err = crawler.session:get(page.url, options_of(crawler, {
    redirects = page.external and fetch.MAX_REDIRECTS or false, max_body = crawler.max_body,
  }))
  if err and err.code == "data_length_exceeds_maximum" and err.response then return err.response, nil, true end
  return response, err
end

return fetch
