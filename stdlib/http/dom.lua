--- What documents and nodes of `http.html` and `http.xml` have in common: selectors, expressions, links.
--
-- The types are native (`httpscript.html`); the methods here are added to them. What fails at run time gives
-- `nil, err`; what is wrong with the program raises at the caller's line.

local native = require "httpscript.html"
local css = require "http.css"
local errors = require "http.errors"

local dom = {}

local Document, Node = native.document, native.node

-- Options for the translator, made once: a table for each query would cost as much as the query.
local MODES = {
  html = { whole = { html = true }, scoped = { html = true, scope = true } },
  xml = { whole = { html = false }, scoped = { html = false, scope = true } },
}

local function check(index, value, expected, level)
  if type(value) == expected then return end
  local actual = value == nil and "no value" or type(value)
  error(("bad argument #%d (%s expected, got %s)"):format(index, expected, actual), level + 1)
end

--- The parser's `nil, code, message, line, column` as `nil, err`.
function dom.failure(domain, code, message, line, column)
  return nil, errors.new{ domain = domain, code = code, message = message, line = line, column = column }
end

--- Raises where an option is not one of `valid`.
function dom.check_options(options, valid, level)
  if options == nil then return {} end
  check(2, options, "table", level + 1)
  for name, value in pairs(options) do
    if valid[name] == nil then
      local names = {}
      for known in pairs(valid) do names[#names + 1] = known end
      table.sort(names)
      error(("unknown option '%s' (known: %s)"):format(tostring(name), table.concat(names, ", ")), level + 1)
    end
    if type(value) ~= valid[name] then
      error(("option '%s' must be a %s, not a %s"):format(name, valid[name], type(value)), level + 1)
    end
  end
  return options
end

-- The namespaces as the flat list that the native function takes.
local function flattened(namespaces, level)
  if namespaces == nil then return {} end
  check(2, namespaces, "table", level + 1)
  local flat = {}
  for prefix, uri in pairs(namespaces) do
    if type(prefix) ~= "string" or type(uri) ~= "string" then
      error("namespaces must map prefixes to URIs", level + 1)
    end
    flat[#flat + 1] = prefix
    flat[#flat + 1] = uri
  end
  return flat
end

local function evaluated(kind, value, code, message)
  if value == nil and code then return dom.failure(kind, code, message) end
  return value
end

local function query_css(self, kind, selector, mode, first, namespaces)
  check(1, selector, "string", 3)
  local options = MODES[kind][mode]
  if namespaces ~= nil then
    flattened(namespaces, 3)
    options = { html = options.html, scope = options.scope, namespaces = namespaces }
  end
  local expression, message = css.to_xpath(selector, options)
  if not expression then return dom.failure(kind, "bad_selector", message) end
  return evaluated(kind, native.evaluate(self, expression, first))
end

local function query_xpath(self, kind, expression, namespaces)
  check(1, expression, "string", 3)
  if namespaces == nil then return evaluated(kind, native.evaluate(self, expression, false)) end
  return evaluated(kind, native.evaluate(self, expression, false, table.unpack(flattened(namespaces, 3))))
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
function Document:links(options)
  options = dom.check_options(options, { all = "boolean" }, 2)
  return native.document_links(self, options.all)
end

return dom
