-- Which links a page has, and which of them lead to pages; who links to what, what redirects to what, and what of it
-- is broken.

local html = require "http.html"

local links = {}

-- A page that the whole site links to would otherwise hold a list as long as the site.
local MAX_REFERRERS = 1000

-- Elements whose links lead to further pages. Of `link` elements, those do whose relation is not in NO_PAGE.
local LEADS_TO_PAGES = { a = true, area = true, frame = true, iframe = true, link = true }
local NO_PAGE = {}
for relation in ("stylesheet icon preload prefetch dns-prefetch preconnect modulepreload manifest mask-icon "
  .. "apple-touch-icon pingback prerender shortcut"):gmatch("%S+") do
  NO_PAGE[relation] = true
end

--- Whether a link of a document leads to a further page, as against something that the page loads.
function links.leads_to_page(link)
  if not LEADS_TO_PAGES[link.tag] then return false end
  if link.tag ~= "link" then return true end
  for relation in (link.rel or "stylesheet"):lower():gmatch("%S+") do
    if NO_PAGE[relation] then return false end
  end
  return true
end

-- The `link` elements of a page: they stand in its head, which is read by itself.
local function links_of_head(body, settings)
  local stop = body:find("</head", 1, true) or body:find("</HEAD", 1, true) or body:find("<body", 1, true)
  local document = html.parse(body:sub(1, stop or 8192), settings)
  local found = {}
  for _, link in ipairs(document and document:links { all = true } or {}) do
    if link.tag == "link" then found[#found + 1] = link end
  end
  return found
end

-- Plain searches, in the spellings that occur: a pattern would cost more than the links.
local function has_frames(body)
  for _, tag in ipairs { "<iframe", "<frame", "<IFRAME", "<FRAME", "<iFrame" } do
    if body:find(tag, 1, true) then return true end
  end
  return false
end

--- The links of an HTML response as a list of { url, tag, rel }, or nil and an error. Most pages need no tree for it,
-- which is several times as fast; those with frames do, and so does a crawl that wants `all` that pages load.
function links.of_page(response, all)
  local body = response.body
  local settings = { base = response.url, encoding = response.text_encoding_name }
  if all or has_frames(body) then
    local document, err = html.parse(body, settings)
    if not document then return nil, err end
    return document:links { all = true }
  end
  local addresses, err = html.link_urls(body, settings)
  if not addresses then return nil, err end
  local found = links_of_head(body, settings)
  for _, address in ipairs(addresses) do
    found[#found + 1] = { url = address, tag = "a" }
  end
  return found
end

local Book = {}
Book.__index = Book

function links.new() return setmetatable({ referrers = {}, targets = {}, failures = {} }, Book) end

--- Notes that `page` links to `key`.
function Book:add(key, page)
  local list = self.referrers[key]
  if not list then
    list = {}
    self.referrers[key] = list
  end
  -- The links of one page come one after the other.
  if list[#list] ~= page and #list < MAX_REFERRERS then list[#list + 1] = page end
end

--- Notes a redirect.
function Book:redirect(from, to) self.targets[from] = to end

--- Notes that a URL could not be had: its status of 400 or more, or the error.
function Book:fail(key, status, err)
  self.failures[#self.failures + 1] = { url = key, status = status, error = err }
end

--- The pages that link to a URL, in the order found.
function Book:list(key)
  local list = self.referrers[key] or {}
  return table.move(list, 1, #list, 1, {})
end

-- Sources by target, for one look at all redirects.
local function inverted(targets)
  local sources = {}
  for from, to in pairs(targets) do
    sources[to] = sources[to] or {}
    table.insert(sources[to], from)
  end
  for _, list in pairs(sources) do
    table.sort(list)
  end
  return sources
end

-- A URL and everything that was redirected to it, one after the other.
local function with_sources(sources, key)
  local all, seen, index = { key }, { [key] = true }, 1
  while all[index] do
    for _, from in ipairs(sources[all[index]] or {}) do
      if not seen[from] then
        seen[from] = true
        all[#all + 1] = from
      end
    end
    index = index + 1
  end
  return all
end

--- What could not be had, in the order found: a list of { url, status | error, pages }. `pages` link to the URL,
-- directly or through a redirect.
function Book:broken()
  local broken, sources = {}, inverted(self.targets)
  for _, failure in ipairs(self.failures) do
    local pages, seen = {}, {}
    for _, key in ipairs(with_sources(sources, failure.url)) do
      for _, page in ipairs(self.referrers[key] or {}) do
        if not seen[page] then
          seen[page] = true
          pages[#pages + 1] = page
        end
      end
    end
    broken[#broken + 1] = { url = failure.url, status = failure.status, error = failure.error, pages = pages }
  end
  return broken
end

return links
