-- Posts a form, as a browser does.
--
-- Usage: httpscript post_form.lua URL name=value [name=value …]
-- A name that is given more than once is sent more than once.
--
-- Against httpbin: `post_form.lua http://127.0.0.1:8000/post user=ann "note=a & b"` prints "200 OK" and the answer,
-- in which `form` is { "user": "ann", "note": "a & b" }.

local http = require "http"

local url = arg[1]
if not url or #arg < 2 then
  io.stderr:write("usage: post_form.lua URL name=value [name=value …]\n")
  os.exit(2)
end

-- A list of pairs keeps the order; { user = "ann" } would do where order does not matter.
local form = {}
for index = 2, #arg do
  local name, value = arg[index]:match("^([^=]+)=(.*)$")
  if not name then
    io.stderr:write("post_form.lua: '", arg[index], "' is not name=value\n")
    os.exit(2)
  end
  form[#form + 1] = { name, value }
end

local response = assert(http.post(url, { form = form }))
print(response.status .. " " .. response.reason)
print(assert(response:text()))
if response.status >= 400 then os.exit(1) end
