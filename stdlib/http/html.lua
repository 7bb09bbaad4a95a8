--- HTML documents: `html.parse(text, { base = url, encoding = name })`.

local native = require "httpscript.html"
local dom = require "http.dom"

local html = {}

local OPTIONS = { base = "string", encoding = "string" }

local function result(value, code, message)
  if not value then return dom.failure("html", code, message) end
  return value
end

local function check_text(text)
  if type(text) ~= "string" then
    error(("bad argument #1 (string expected, got %s)"):format(text == nil and "no value" or type(text)), 3)
  end
end

--- Parses a page, however broken. `base` is the URL it came from; `encoding` what the server said it is in, before
-- what the page itself says. Returns a document, or nil and an error for one that is too large.
function html.parse(text, options)
  check_text(text)
  options = dom.check_options(options, OPTIONS, 2)
  return result(native.parse_html(text, options.base, options.encoding))
end

--- The links of a page as `parse` and `links` give them, but without `node`, and without the cost of a tree.
function html.links(text, options)
  check_text(text)
  options = dom.check_options(options, OPTIONS, 2)
  return result(native.links(text, options.base, options.encoding))
end

return html
