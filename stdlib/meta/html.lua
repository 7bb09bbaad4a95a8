---@meta http.html

---HTML documents, however broken.
local html = {}

---Reads a page.
---@param text string
---@param options? http.html.options
---@return html.document|nil document
---@return http.error? err
function html.parse(text, options) end

---The hyperlinks of a page, without building a tree. The links have no `node`.
---@param text string
---@param options? http.html.options
---@return html.link[]|nil links
---@return http.error? err
function html.links(text, options) end

---What a crawler goes on with: the absolute URLs that a page links to, without fragments, each once.
---@param text string
---@param options? http.html.options
---@return string[]|nil urls
---@return http.error? err
function html.link_urls(text, options) end

---How to read a document.
---@class http.html.options
---@field base? string The URL that it came from.
---@field encoding? string Its charset as the server says, before what it says itself.

---A document of `http.html` or `http.xml`.
---@class html.document
---@field root html.node|nil
---@field title string|nil
---@field url string|nil
---@field base string|nil What relative links are resolved against.
---@field encoding string|nil
---@field type "html"|"xml"
---@field text string
---@field html string
---@field xml string
local document = {}

---The elements that a selector matches, in document order.
---@param selector string CSS Selectors level 3, and of level 4 what a document at rest can answer.
---@param namespaces? table<string, string> Prefix to URI, for `prefix|name`.
---@return html.node[]|nil nodes
---@return http.error? err
function document:css(selector, namespaces) end

---The first element that a selector matches.
---@param selector string
---@param namespaces? table<string, string>
---@return html.node|nil node
---@return http.error? err
function document:css_first(selector, namespaces) end

---The value of an XPath 1.0 expression.
---@param expression string
---@param namespaces? table<string, string>
---@return html.node[]|string|number|boolean|nil value
---@return http.error? err
function document:xpath(expression, namespaces) end

---The links, with absolute URLs.
---@param options? { all: boolean } With `all`, also what the page loads: images, scripts, style sheets, frames, forms.
---@return html.link[]
function document:links(options) end

---A node: an element, a text, a comment or an attribute.
---@class html.node
---@field name string|nil
---@field local_name string|nil
---@field prefix string|nil
---@field namespace string|nil
---@field type string
---@field text string
---@field html string With the element's own tags.
---@field inner_html string
---@field xml string
---@field inner_xml string
---@field attributes table<string, string>
---@field parent html.node|nil
---@field children html.node[] The elements among its children.
---@field document html.document
---@field document_type "html"|"xml"
---@field line integer
local node = {}

---The value of an attribute.
---@param name string
---@return string|nil
function node:attr(name) end

---The elements below this one that a selector matches; `:scope` is this one.
---@param selector string
---@param namespaces? table<string, string>
---@return html.node[]|nil nodes
---@return http.error? err
function node:css(selector, namespaces) end

---The first element below this one that a selector matches.
---@param selector string
---@param namespaces? table<string, string>
---@return html.node|nil node
---@return http.error? err
function node:css_first(selector, namespaces) end

---The value of an XPath 1.0 expression, seen from this node.
---@param expression string
---@param namespaces? table<string, string>
---@return html.node[]|string|number|boolean|nil value
---@return http.error? err
function node:xpath(expression, namespaces) end

---A link of a document.
---@class html.link
---@field url string Absolute.
---@field text string What the element says.
---@field rel string|nil
---@field node html.node|nil
---@field tag string|nil The element's name, with `all`.
---@field attribute string|nil Where the link stands, with `all`.

return html
