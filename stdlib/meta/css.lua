---@meta http.css

---CSS selectors as XPath 1.0. Documents use it by themselves (`document:css`).
local css = {}

---Translates a selector list.
---@param selector string
---@param options? http.css.options
---@return string|nil xpath
---@return string? message What is wrong, and where.
function css.to_xpath(selector, options) end

---How to translate.
---@class http.css.options
---@field html? boolean Whether names are HTML's, so that case does not count (default true).
---@field scope? boolean Whether to search below the context node, which `:scope` means, in place of the whole document.
---@field namespaces? table<string, string> Prefix to URI; the empty prefix is the default namespace.

return css
