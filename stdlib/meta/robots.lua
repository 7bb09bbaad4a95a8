---@meta http.robots

---robots.txt (RFC 9309).
local robots = {}

---Reads a robots.txt. Anything is accepted; lines that mean nothing are ignored.
---@param text string Bytes beyond 500 KiB are not looked at.
---@return http.robots
function robots.parse(text) end

---The rules of a site.
---@class http.robots
---@field sitemaps string[] The URLs of Sitemap lines.
local rules = {}

---Whether a crawler may fetch a URL.
---@param user_agent string Its name, or the whole User-Agent field.
---@param url string|http.url
---@return boolean
function rules:allowed(user_agent, url) end

---The pause that the site asks for.
---@param user_agent string
---@return number|nil seconds
function rules:crawl_delay(user_agent) end

return robots
