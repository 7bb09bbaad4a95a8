--- Metalink documents (RFC 5854): files with their sizes, digests and mirrors; and downloads by them.

local checksum = require "http.checksum"
local errors = require "http.errors"
local filename = require "http.filename"
local lazy = require "http.lazy"
local options = require "http.options"

local url_of = lazy "http.url"

local metalink = {}

-- Names of digests as the documents write them, the strongest first.
local ALGORITHMS = { { "sha-512", "sha512" }, { "sha-256", "sha256" }, { "sha-1", "sha1" }, { "md5", "md5" } }

local function children(node, name)
  local list = {}
  for _, child in ipairs(node.children) do
    if child.name == name then list[#list + 1] = child end
  end
  return list
end

local function text_of(node) return (node.text:gsub("^%s+", ""):gsub("%s+$", "")) end

local function first_text(node, name)
  local child = children(node, name)[1]
  return child and text_of(child) or nil
end

local function read_hashes(node)
  local hashes = {}
  for _, child in ipairs(children(node, "hash")) do
    local kind = child:attr("type")
    for _, pair in ipairs(ALGORITHMS) do
      if kind == pair[1] then hashes[pair[2]] = text_of(child):lower() end
    end
  end
  return hashes
end

-- Mirrors with http or https, the preferred one (least priority) first.
local function read_urls(node, base)
  local list = {}
  for order, child in ipairs(children(node, "url")) do
    local reference = text_of(child)
    local target = base and url_of.resolve(base, reference) or reference
    if target and target:find("^https?://") then
      local priority = math.tointeger(tonumber(child:attr("priority") or "")) or 999999
      list[#list + 1] = { url = target, priority = priority, location = child:attr("location"), order = order }
    end
  end
  table.sort(list, function(a, b)
    if a.priority ~= b.priority then return a.priority < b.priority end
    return a.order < b.order
  end)
  for _, one in ipairs(list) do one.order = nil end
  return list
end

local function read_pieces(node)
  for _, child in ipairs(children(node, "pieces")) do
    local length = math.tointeger(tonumber(child:attr("length") or ""))
    for _, pair in ipairs(ALGORITHMS) do
      if child:attr("type") == pair[1] and length and length > 0 then
        local digests = {}
        for index, hash in ipairs(children(child, "hash")) do digests[index] = text_of(hash):lower() end
        return { algorithm = pair[2], length = length, digests = digests }
      end
    end
  end
end

local function read_file(node, base)
  local name = node:attr("name") or ""
  -- §4.1.2.1: a path must not lead out of the directory; here it has no directory part at all.
  return {
    name = filename.safe(name) or "unknown", size = math.tointeger(tonumber(first_text(node, "size") or "")),
    hashes = read_hashes(node), urls = read_urls(node, base), pieces = read_pieces(node),
    description = first_text(node, "description"), version = first_text(node, "version"),
  }
end

local function failure(message, url)
  return nil, errors.new { domain = "xml", code = "syntax", message = message, url = url }
end

--- Parses a document. `base`: its URL, for relative references. Returns { files }, or nil and an error.
function metalink.parse(text, given)
  options.expect(text, "string", "text")
  given = options.check(given, { base = "string" }, "options")
  local document, err = require("http.xml").parse(text)
  if not document then return nil, err end
  local root = document:xpath("/*")[1]
  if not root or root.name ~= "metalink" then return failure("not a Metalink document", given.base) end
  local files = {}
  for _, child in ipairs(children(root, "file")) do files[#files + 1] = read_file(child, given.base) end
  return { files = files }
end

local DOWNLOAD = { session = "table", segments = "integer", name = "string", directory = "string" }

-- The strongest digest of a file, as the option `checksum` takes it.
local function checksum_of(file)
  for _, pair in ipairs(ALGORITHMS) do
    local digits = file.hashes[pair[2]]
    if digits and checksum.is_valid(pair[2], digits) then return pair[2] .. ":" .. digits end
  end
end

local function fetch_file(session, file, given)
  if #file.urls == 0 then return failure(("the document has no source for %s"):format(file.name)) end
  local mirrors = {}
  for index = 2, #file.urls do mirrors[#mirrors + 1] = file.urls[index].url end
  local path = (given.directory or ".") .. "/" .. file.name
  local result, err = session:_get(file.urls[1].url, {
    sink = path, mirrors = mirrors, segments = given.segments or math.max(2, math.min(#file.urls, 6)),
    checksum = checksum_of(file), checksum_source = "the Metalink document", pieces = file.pieces,
  })
  if result then result, err = result:validate() end
  if not result then return nil, err end
  return path
end

--- Downloads the files of a Metalink document. *Yields.* `source`: its URL, or what `parse` gave. `name`: only that
--- file; `directory`: where to (default: here). Returns a list of paths, or nil and the first error.
function metalink.download(source, given)
  given = options.check(given, DOWNLOAD, "options")
  local session = given.session or require("http").shared
  local document = source
  if type(source) == "string" then
    local found, err = session:get(source)
    if found then found, err = found:validate() end
    if not found then return nil, err end
    document, err = metalink.parse(found.body, { base = found.url })
    if not document then return nil, err end
  end
  options.expect(document, "table", "argument #1 of download")
  local paths = {}
  for _, file in ipairs(document.files) do
    if not given.name or file.name == given.name then
      local path, err = fetch_file(session, file, given)
      if not path then return nil, err end
      paths[#paths + 1] = path
    end
  end
  if #paths == 0 then return failure("the document has no such file") end
  return paths
end

return metalink
