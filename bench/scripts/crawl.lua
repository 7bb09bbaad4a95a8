-- Crawls a site: crawl.lua URL AT_ONCE

local crawl = require "http.crawl"

local pages = 0
for page in crawl { start = { arg[1] }, same_host = true, concurrency = math.tointeger(tonumber(arg[2])) }:pages() do
  if page.response then pages = pages + 1 end
end
assert(pages > 100)
