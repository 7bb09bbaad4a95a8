-- Watches redirects and decides about each: stays on the host, and changes what is sent to the next URL.
--
-- Usage: httpscript redirect_handler.lua URL
--
-- Against httpbin: `redirect_handler.lua http://127.0.0.1:8000/redirect/2` prints
--   302 -> http://127.0.0.1:8000/relative-redirect/1  (or the same below /absolute-redirect)
--   302 -> http://127.0.0.1:8000/get
--   200 http://127.0.0.1:8000/get
-- and `…/redirect-to?url=http://example.org/` prints "refused http://example.org/" and the 302 itself.

local http = require "http"
local url = require "http.url"

local start = arg[1]
if not start then
  io.stderr:write("usage: redirect_handler.lua URL\n")
  os.exit(2)
end

local home = assert(url.parse(start)).host

-- A delegate is a table of handlers. What is not in it is handled in the usual way; so is everything for which a
-- handler returns nothing.
local delegate = {
  will_perform_redirection = function(_, _, response, request)
    if assert(url.parse(request.url)).host ~= home then
      print("refused " .. request.url)
      -- false: do not follow, deliver this response itself.
      return false
    end
    print(("%d -> %s"):format(response.status, request.url))
    request.headers["X-Redirected-From"] = response.url
    return request
  end,
}

local session = http.session(http.configuration.ephemeral(), delegate)
local response = assert(session:get(start))
print(response.status .. " " .. response.url)
