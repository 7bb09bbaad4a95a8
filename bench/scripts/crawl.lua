-- Crawls a site: crawl.lua URL AT_ONCE

local crawl = require "http.crawl"
local http = require "http"

local pages = 0
local crawler = crawl {
  start = { arg[1] }, same_host = true, concurrency = math.tointeger(tonumber(arg[2])),
  -- The server is measured, and not the cache.
  session = http.session { cache = false },
}
for page in crawler:pages() do
  if page.response then pages = pages + 1 end
end
assert(pages > 100)
