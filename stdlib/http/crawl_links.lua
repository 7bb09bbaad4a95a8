-- Which links a page has, and which of them lead to pages; who links to what, what redirects to what, and what of it
-- is broken.

local native = require "httpscript.page"
local fibers = require "http.fibers"
local lazy = require "http.lazy"

local dom, html = lazy "http.dom", lazy "http.html"

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

-- Whether a link of a document leads to a further page, as against something that the page loads. (HTMLLinkRules has
-- the same rules, for pages that are read without a tree.)
local function leads_to_page(link)
  if not LEADS_TO_PAGES[link.tag] then return false end
  if link.tag ~= "link" then return true end
  for relation in (link.rel or "stylesheet"):lower():gmatch("%S+") do
    if NO_PAGE[relation] then return false end
  end
  return true
end

-- All that a page links to and loads, but where its forms go.
local function of_document(response)
  local document, err = html.parse(response.body, { base = response.url, encoding = response.text_encoding_name })
  if not document then return nil, err end
  local addresses, resources = {}, {}
  for _, link in ipairs(document:links { all = true }) do
    if link.tag ~= "form" then
      addresses[#addresses + 1] = link.url
      resources[#addresses] = not leads_to_page(link) or nil
    end
  end
  return addresses, resources
end

--- What an HTML response links to. -> list of URLs in the order of the page, and by place in it whether the page loads
-- it as a part; or nil and an error. Without `all`, only what leads to further pages; no tree is made for that, and
-- other fibers go on meanwhile.
function links.of_page(response, all)
  if all then return of_document(response) end
  local addresses, code, message =
    fibers.wait_in_work(native.links(response.body, response.url, response.text_encoding_name))
  if not addresses then return dom.failure("html", code, message) end
  return addresses, {}
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
