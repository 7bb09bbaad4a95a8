-- Uploads a file as multipart/form-data, with a text field beside it.
--
-- Usage: httpscript upload_multipart.lua URL FILE [COMMENT]
-- The file is read while it is sent, so it may be larger than memory.
--
-- Against httpbin: `upload_multipart.lua http://127.0.0.1:8000/post notes.txt hello` prints "200 OK" and the answer, in
-- which `files.upload` is the file's content and `form.comment` is "hello".

local http = require "http"

local url, path, comment = arg[1], arg[2], arg[3] or ""
if not path then
  io.stderr:write("usage: upload_multipart.lua URL FILE [COMMENT]\n")
  os.exit(2)
end

local response = assert(http.post(url, {
  multipart = {
    { name = "comment", data = comment },
    -- The file's name and media type are taken from the path; `filename` and `type` would say otherwise.
    { name = "upload", file = path },
  },
}))
print(response.status .. " " .. response.reason)
print(assert(response:text()))
if response.status >= 400 then os.exit(1) end
