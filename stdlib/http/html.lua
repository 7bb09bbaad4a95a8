--- HTML documents: `html.parse(text, { base = url, encoding = name })`.

local native = require "httpscript.html"
local dom = require "http.dom"
local options = require "http.options"

local html = {}

local OPTIONS = { base = "string", encoding = "string" }

local function result(value, code, message)
  if not value then return dom.failure("html", code, message) end
  return value
end

--- Parses a page, however broken. `base` is the URL it came from; `encoding` what the server said it is in, which comes
-- before what the page itself says. Returns a document, or nil and an error for one that is too large.
function html.parse(text, settings)
  options.expect(text, "string", "text")
  settings = options.check(settings, OPTIONS, "options")
  return result(native.parse_html(text, settings.base, settings.encoding))
end

--- The links of a page as `parse` and `links` give them, but without `node`, and without the cost of a tree.
function html.links(text, settings)
  options.expect(text, "string", "text")
  settings = options.check(settings, OPTIONS, "options")
  return result(native.links(text, settings.base, settings.encoding))
end

--- What a crawler goes on with: the absolute URLs that a page links to, without fragments, each once, in the order of
-- the page.
function html.link_urls(text, settings)
  options.expect(text, "string", "text")
  settings = options.check(settings, OPTIONS, "options")
  return result(native.link_urls(text, settings.base, settings.encoding))
end

return html
