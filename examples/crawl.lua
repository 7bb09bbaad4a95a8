-- Crawls a site and reports its pages, broken links, redirects, sizes and timing.
--
-- Usage: httpscript crawl.lua START_URL [--output pages.jsonl] [--concurrency N] [--delay S] [--max-pages N]
--        [--external] [--resources]
--
--   --output FILE     one JSON object per page, then one per broken link (JSON Lines)
--   --concurrency N   requests at once (default 8)
--   --delay S         seconds between two requests to the same host (default 0; the site's Crawl-delay counts too)
--   --max-pages N     stop after so many pages
--   --external        also ask for the pages of other sites that are linked to
--   --resources       also ask for the images, scripts, style sheets … that the pages load
--
-- Stays on the host of START_URL and obeys its robots.txt. While it runs, a terminal shows a line of progress.
-- Exit status: 0 all is well, 3 there are broken links, 1 START_URL cannot be had, 2 wrong use.

local crawl = require "http.crawl"
local http = require "http"
local json = require "json"
local terminal = require "http.terminal"

local MAX_SHOWN = 10

local function usage(message)
  io.stderr:write("crawl.lua: ", message, "\n",
    "usage: crawl.lua START_URL [--output FILE] [--concurrency N] [--delay S] [--max-pages N] [--external] ",
    "[--resources]\n")
  os.exit(2)
end

-- Command line -----------------------------------------------------------------------------------------------------

local function parse_arguments(list)
  local given = { concurrency = 8, delay = 0 }
  local integers = { ["--concurrency"] = "concurrency", ["--max-pages"] = "max_pages" }
  local index = 1
  local function value(name)
    index = index + 1
    return list[index] or usage(name .. " needs a value")
  end
  while list[index] do
    local name = list[index]
    if integers[name] then
      local number = math.tointeger(tonumber(value(name)))
      if not number or number < 1 then usage(name .. " needs a positive whole number") end
      given[integers[name]] = number
    elseif name == "--delay" then
      given.delay = tonumber(value(name))
      if not given.delay or not (given.delay >= 0) then usage("--delay needs a number of seconds") end
    elseif name == "--output" then
      given.output = value(name)
    elseif name == "--external" or name == "--resources" then
      given[name:sub(3)] = true
    elseif name:find("^%-") then
      usage("unknown option " .. name)
    elseif given.start then
      usage("only one START_URL is possible")
    else
      given.start = name
    end
    index = index + 1
  end
  if not given.start then usage("START_URL is missing") end
  if not given.start:find("^[hH][tT][tT][pP][sS]?://") then usage("START_URL must begin with http:// or https://") end
  return given
end

-- What is kept of the pages: counts, and the few that the report names. ---------------------------------------------

local summary = {
  pages = 0, bytes = 0, statuses = {}, redirects = {}, slowest = {}, failures = {}, start_failed = false,
}

-- What was received; of what was not fetched to its end, what the server said.
local function size_of(response)
  if not response then return 0 end
  if response.body then return #response.body end
  return math.max(response.expected_content_length or 0, 0)
end

-- Keeps the slowest pages, slowest first.
local function note_time(page)
  local slowest = summary.slowest
  table.insert(slowest, { url = page.url, seconds = page.seconds })
  table.sort(slowest, function(a, b) return a.seconds > b.seconds end)
  slowest[MAX_SHOWN // 2 + 1] = nil
end

local function note(page)
  summary.pages = summary.pages + 1
  summary.bytes = summary.bytes + (page.response and #(page.response.body or "") or 0)
  if page.depth == 0 and page.error then summary.start_failed = true end
  if page.error then table.insert(summary.failures, { url = page.url, error = page.error }) end
  local key = page.response and tostring(page.response.status) or page.error.code
  summary.statuses[key] = (summary.statuses[key] or 0) + 1
  for _, hop in ipairs(page.redirects) do
    table.insert(summary.redirects, hop)
  end
  note_time(page)
end

local function record_of(page)
  local response = page.response
  local redirects = json.array {}
  for _, hop in ipairs(page.redirects) do
    redirects[#redirects + 1] = { status = hop.status, from = hop.from, to = hop.to }
  end
  return {
    url = page.url, depth = page.depth, referrer = page.referrer,
    status = response and response.status, type = response and response.mime_type,
    size = size_of(response), seconds = page.seconds, links = #page.links,
    error = page.error and tostring(page.error) or nil, redirects = redirects, external = page.external,
  }
end

-- Output -------------------------------------------------------------------------------------------------------------

local is_terminal = terminal.is_tty(2)

local last_shown = 0

local function show_progress(started)
  if not is_terminal or http.now() - last_shown < 0.1 then return end
  last_shown = http.now()
  local seconds = last_shown - started
  local line = ("%d pages, %.1f MB, %.0f pages/s"):format(summary.pages, summary.bytes / 1e6, summary.pages / seconds)
  io.stderr:write("\r\27[K", line:sub(1, (terminal.columns() or 80) - 1))
end

local function clear_progress()
  if is_terminal then io.stderr:write("\r\27[K") end
end

local function write_line(output, value)
  if output then assert(output:write(assert(json.encode(value, { sort_keys = true })), "\n")) end
end

local function sorted_keys(counts)
  local keys = {}
  for key in pairs(counts) do
    keys[#keys + 1] = key
  end
  table.sort(keys)
  return keys
end

local function print_statuses()
  print("\nStatus")
  for _, key in ipairs(sorted_keys(summary.statuses)) do
    print(("  %-28s %6d"):format(key, summary.statuses[key]))
  end
end

local function print_redirects()
  print(("\nRedirects: %d"):format(#summary.redirects))
  for index, hop in ipairs(summary.redirects) do
    if index > MAX_SHOWN then
      print(("  and %d more"):format(#summary.redirects - MAX_SHOWN))
      break
    end
    print(("  %d  %s -> %s"):format(hop.status, hop.from, hop.to))
  end
end

-- What could not be had, and why in the errors' own words.
local function print_failures()
  if #summary.failures == 0 then return end
  print(("\nFailed: %d"):format(#summary.failures))
  for index, one in ipairs(summary.failures) do
    if index > MAX_SHOWN then
      print(("  and %d more"):format(#summary.failures - MAX_SHOWN))
      break
    end
    print(("  %s\n      %s"):format(one.url, one.error))
  end
end

local function print_broken(broken)
  print(("\nBroken links: %d"):format(#broken))
  for _, one in ipairs(broken) do
    print(("  %s  %s"):format(one.status or one.error.code, one.url))
    for index, page in ipairs(one.pages) do
      if index > MAX_SHOWN then
        print(("      and on %d more pages"):format(#one.pages - MAX_SHOWN))
        break
      end
      print("      on " .. page)
    end
  end
end

local function print_report(start, seconds, crawler, broken)
  print(("Crawled %s: %d pages, %.2f MB in %.1f s (%.1f pages/s)"):format(
    start, summary.pages, summary.bytes / 1e6, seconds, summary.pages / math.max(seconds, 1e-9)))
  if crawler.cancelled then print("Interrupted: this is not all.") end
  if crawler.disallowed > 0 then print(("Not allowed by robots.txt: %d"):format(crawler.disallowed)) end
  print_statuses()
  print_failures()
  print_redirects()
  print_broken(broken)
  print("\nSlowest pages")
  for _, page in ipairs(summary.slowest) do
    print(("  %7.3f s  %s"):format(page.seconds, page.url))
  end
end

-- The crawl ----------------------------------------------------------------------------------------------------------

local given = parse_arguments(arg)
local output = given.output and assert(io.open(given.output, "w"))

local crawler = crawl {
  start = given.start, max_pages = given.max_pages, concurrency = given.concurrency, delay = given.delay,
  check_external = given.external, resources = given.resources, user_agent = "httpscript-crawl/1.0",
}

local started = http.now()
for page in crawler:pages() do
  note(page)
  write_line(output, record_of(page))
  show_progress(started)
end
clear_progress()

local broken = crawler:broken()
for _, one in ipairs(broken) do
  write_line(output, {
    broken = true, url = one.url, status = one.status, error = one.error and tostring(one.error) or nil,
    pages = json.array(one.pages),
  })
end
if output then assert(output:close()) end

print_report(given.start, http.now() - started, crawler, broken)
if summary.start_failed then os.exit(1) end
if #broken > 0 then os.exit(3) end
