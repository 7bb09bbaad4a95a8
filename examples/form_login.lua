-- Logs in by a form, with the token it hides against forged requests, and gets a page that only members see.
--
-- Usage: httpscript form_login.lua LOGIN-URL USER PASSWORD PAGE-URL
--
-- All fields of the page's first form are sent back as they are; `user` and `password`, or whatever the fields of these
-- types are called, are filled in.

local http = require "http"
local resolve = require("http.url").resolve

local login_url, user, password, page_url = table.unpack(arg, 1, 4)
if not page_url then
  io.stderr:write("usage: form_login.lua LOGIN-URL USER PASSWORD PAGE-URL\n")
  os.exit(2)
end

-- This session keeps no cookies by itself, to show what they are: a field that comes, and a field that goes.
local session = http.session(http.configuration.ephemeral { cookie_storage = false })
local cookies = {}

local function send(url, options)
  options = options or {}
  local pairs_of = {}
  for name, value in pairs(cookies) do pairs_of[#pairs_of + 1] = name .. "=" .. value end
  table.sort(pairs_of)
  options.headers = { Cookie = #pairs_of > 0 and table.concat(pairs_of, "; ") or nil }
  -- The answer to the form is a redirect; its cookies come with it.
  options.redirects = false
  local response = assert(session:send { url = url, method = options.form and "POST" or "GET", form = options.form,
    headers = options.headers, redirects = options.redirects })
  for _, line in ipairs(response.headers:get_all("Set-Cookie")) do
    local name, value = line:match("^%s*([^=;%s]+)=([^;]*)")
    if name then cookies[name] = value end
  end
  return response
end

local page = assert(send(login_url):html())
local form = page:css_first("form")
if not form then
  io.stderr:write("no form at " .. login_url .. "\n")
  os.exit(1)
end

local fields = {}
for _, input in ipairs(form:css("input[name]")) do
  local kind = (input:attr("type") or "text"):lower()
  if kind == "password" then
    fields[input:attr("name")] = password
  elseif kind == "text" or kind == "email" then
    fields[input:attr("name")] = user
  else
    fields[input:attr("name")] = input:attr("value") or ""
  end
end

send(assert(resolve(login_url, form:attr("action") or "")), { form = fields })
local response = send(page_url)
print(response.status, response:text())
if response.status ~= 200 then os.exit(1) end
