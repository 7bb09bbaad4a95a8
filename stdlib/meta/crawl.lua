---@meta http.crawl

---Crawls sites, concurrently and politely:
---
---    local crawl = require "http.crawl"
---    for page in crawl{ start = "https://example.org/" }:pages() do
---      print(page.response and page.response.status, page.url)
---    end
---
---The module itself may be called in place of `crawl.new`.
---@overload fun(options: http.crawl.options): http.crawler
local crawl = {}

---Makes a crawler. Nothing is fetched before `pages` is iterated.
---@param options http.crawl.options
---@return http.crawler
function crawl.new(options) end

---What to crawl, and how.
---@class http.crawl.options
---@field start string|string[] Where to begin.
---@field same_host? boolean Whether to stay on the hosts (and ports) of `start` (default true).
---@field max_depth? integer Links from a start URL (default: no limit).
---@field max_pages? integer Pages to fetch (default: no limit).
---@field concurrency? integer Requests at once (default 8).
---@field delay? number Seconds between two requests to one host (default 0; a longer Crawl-delay counts).
---@field user_agent? string What is sent, and whose rules in robots.txt are obeyed (default "httpscript").
---@field robots? boolean Whether to obey robots.txt (default true).
---@field session? http.session Default: the shared one.
---@field filter? fun(url: string): boolean Whether to fetch a URL that was found.
---@field max_body? integer Bytes; a longer body is not kept (default 8 MiB).
---@field check_external? boolean Whether to ask for pages of other hosts too, without crawling them (default false).
---@field resources? boolean Whether to ask also for what pages load, such as images (default false).
---@field request? http.options Options for every request, such as `timeout`, `headers`, `retry`.

---A crawl.
---@class http.crawler
---@field disallowed integer How many URLs robots.txt has kept away.
---@field cancelled boolean|nil The script is being ended (by a signal), or the session was: the pages are not complete.
local crawler = {}

---The pages, as they come in, for a generic `for`. At most twice `concurrency` of them are in memory ahead of the loop.
---Leaving the loop early ends the crawl. *Yields.*
---@async
---@return fun(): http.crawl.page|nil next
function crawler:pages() end

---Ends the crawl: requests under way are cancelled, and the loop over the pages ends.
function crawler:stop() end

---The pages found so far that link to a URL, at most 1000 of them.
---@param url string
---@return string[] urls
function crawler:referrers(url) end

---What could not be had so far, in the order found.
---@return http.crawl.broken[]
function crawler:broken() end

---A page, or something else that a URL led to.
---@class http.crawl.page
---@field url string The final URL, without fragment.
---@field requested_url string What was linked to.
---@field depth integer Links from a start URL.
---@field referrer string|nil The page on which the link was found first.
---@field response http.response|nil Of any status. That of a redirect that was not followed (it leaves the site, or leads to what has been seen) is the redirect itself.
---@field document html.document|nil For HTML with a status below 300; made when it is first asked for.
---@field links string[] The links taken from it: absolute URLs, no fragments, each once.
---@field redirects { status: integer, from: string, to: string, followed: boolean }[] The hops.
---@field error http.error|nil Why the page could not be had.
---@field seconds number From the first request to the last byte.
---@field truncated boolean|nil The body was longer than `max_body` and was not kept.
---@field external boolean|nil The page is on another host and was only asked for (`check_external`).
---@field is_resource boolean|nil It was found as an image or the like (`resources`).

---A URL that could not be had.
---@class http.crawl.broken
---@field url string
---@field status integer|nil 400 or more.
---@field error http.error|nil
---@field pages string[] The pages that link to it, directly or through a redirect.

return crawl
