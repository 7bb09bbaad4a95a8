--- What documents and nodes of `http.html` and `http.xml` have in common: selectors, expressions, links.
--
-- The types are native (`httpscript.html`); the methods here are added to them. What fails at run time gives
-- `nil, err`; what is wrong with the program raises at the caller's line.

local native = require "httpscript.html"
local css = require "http.css"
local errors = require "http.errors"
local options = require "http.options"

local dom = {}

local Document, Node = native.document, native.node

-- Options for the translator, made once: a table for each query would cost as much as the query.
local MODES = {
  html = { whole = { html = true }, scoped = { html = true, scope = true } },
  xml = { whole = { html = false }, scoped = { html = false, scope = true } },
}

--- The parser's `nil, code, message, line, column` as `nil, err`.
function dom.failure(domain, code, message, line, column)
  return nil, errors.new{ domain = domain, code = code, message = message, line = line, column = column }
end

-- The namespaces as the flat list that the native function takes.
local function flattened(namespaces)
  local flat = {}
  for prefix, uri in pairs(options.expect(namespaces, "table", "namespaces")) do
    flat[#flat + 1] = options.expect(prefix, "string", "a prefix in namespaces")
    flat[#flat + 1] = options.expect(uri, "string", "a URI in namespaces")
  end
  return flat
end

local function evaluated(kind, value, code, message)
  if value == nil and code then return dom.failure(kind, code, message) end
  return value
end

local function query_css(self, kind, selector, mode, first, namespaces)
  options.expect(selector, "string", "selector")
  local how = MODES[kind][mode]
  if namespaces ~= nil then
    flattened(namespaces)
    how = { html = how.html, scope = how.scope, namespaces = namespaces }
  end
  local expression, message = css.to_xpath(selector, how)
  if not expression then return dom.failure(kind, "bad_selector", message) end
  -- libxml2 looks no further then.
  if first then expression = "(" .. expression .. ")[1]" end
  return evaluated(kind, native.evaluate(self, expression, first))
end

local function query_xpath(self, kind, expression, namespaces)
  options.expect(expression, "string", "expression")
  if namespaces == nil then return evaluated(kind, native.evaluate(self, expression, false)) end
  return evaluated(kind, native.evaluate(self, expression, false, table.unpack(flattened(namespaces))))
end

--- The elements that a selector matches, in document order. `namespaces` (prefix to URI) is for `prefix|name`.
function Document:css(selector, namespaces)
  return query_css(self, self.type, selector, "whole", false, namespaces)
end

--- The first of them, or nil.
function Document:css_first(selector, namespaces)
  return query_css(self, self.type, selector, "whole", true, namespaces)
end

--- What an XPath 1.0 expression gives: a list of nodes, or a string, number or boolean.
function Document:xpath(expression, namespaces)
  return query_xpath(self, self.type, expression, namespaces)
end

--- The same below a node, which `:scope` means.
function Node:css(selector, namespaces)
  return query_css(self, self.document_type, selector, "scoped", false, namespaces)
end

function Node:css_first(selector, namespaces)
  return query_css(self, self.document_type, selector, "scoped", true, namespaces)
end

function Node:xpath(expression, namespaces)
  return query_xpath(self, self.document_type, expression, namespaces)
end

--- The links with absolute URLs: `{ url, text, rel, node }` of each `<a href>` and `<area href>`; with `all`, also
-- what the page loads, and `tag` and `attribute` for each.
function Document:links(settings)
  settings = options.check(settings, { all = "boolean" }, "options")
  return native.document_links(self, settings.all)
end

return dom
