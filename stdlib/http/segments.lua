-- One file fetched in pieces: several at once, from several mirrors, and over several runs.
--
-- The pieces go into the temporary file beside the destination, each by a request of its own for its range of one
-- version of the file (If-Range with a strong validator). A journal beside it has the digest of each piece that is
-- whole and on the disk: what an earlier run left is used as far as it still has these digests. A server that will not
-- have it so is asked for the whole file in one request. So is each mirror in turn where the pieces are not the file.

local part_file = require "httpscript.part"
local errors = require "http.errors"
local fibers = require "http.fibers"
local headers = require "http.headers"
local journal = require "http.segments_journal"
local map = require "http.map"
local options = require "http.options"
local request = require "http.request"
local response = require "http.response"

local segments = {}

-- A piece is worth a request of its own, and small enough that losing one does not matter.
local SMALLEST, LARGEST = 256 * 1024, 16 * 1024 * 1024
local PIECES_PER_SEGMENT = 4
-- How often a piece is tried at one source.
local ATTEMPTS = 3
-- What is read at once of a file on disk: the loop turns in between.
local STEP = 8 * 1024 * 1024

local TRANSIENT = { timed_out = true, network_connection_lost = true, cannot_connect_to_host = true }

-- Options that are this module's own, or about a whole body.
local OWN = { segments = true, mirrors = true, resume = true, pieces = true, sink = true, checksum = true,
  progress = true, retry = true, max_body = true }

local function without_own(given, more)
  local copy = {}
  for name, value in next, given do
    if not OWN[name] then copy[name] = value end
  end
  for name, value in next, more do copy[name] = value end
  return copy
end

-- The request for a source, with fields for a part.
local function request_for(req, url, range, validator)
  local copy = req:copy()
  copy.url = url
  copy.headers = headers.from(req.headers)
  if range then copy.headers["Range"] = range end
  if validator then copy.headers["If-Range"] = validator end
  copy.headers["Accept-Encoding"] = "identity"
  return copy
end

-- Asks a source for one byte -> { total, validator, head } | nil, and what it gave in place of that (a response or an
-- error), which tells that the file cannot be had in pieces there.
local function probe(self, source)
  local head, err = self.session:_attempt(request_for(self.req, source.url, "bytes=0-0"),
    without_own(self.given, { max_body = 1 }))
  if not head then return nil, err end
  local total = (head.headers["Content-Range"] or ""):match("^bytes 0%-0/(%d+)$")
  local validator = part_file.validator(rawget(head, "_block") or "")
  if head.status ~= 206 or not total or not validator or head.headers["Content-Encoding"] then return nil, head end
  return { total = math.tointeger(tonumber(total)), validator = validator, head = head }
end

-- Plan --------------------------------------------------------------------------------------------------------------

local function piece_range(plan, index)
  local offset = index * plan.piece
  return offset, math.min(plan.piece, plan.total - offset)
end

-- Notes which of the journal's pieces are on disk.
local function verify(self, plan, digests)
  for index, digest in pairs(digests) do
    local offset, count = piece_range(plan, index)
    if count > 0 and self.part:digest("sha256", offset, count) == digest then plan.done[index] = digest end
    fibers.sleep(0)
  end
end

local function piece_size(self, total)
  if self.given.pieces then return self.given.pieces.length end
  local wanted = total // (self.count * PIECES_PER_SEGMENT)
  local size = math.min(math.max(wanted, SMALLEST), LARGEST)
  return (size + 65535) // 65536 * 65536
end

-- What is wrong with the place, as any other request that writes there would say it.
local function place_error(self, problem)
  problem.domain, problem.url = "url", request.shown_url(self.req.url)
  return errors.new(problem)
end

-- What is to be fetched -> true | nil, err
local function prepare(self, found)
  local plan = { total = found.total, validator = found.validator, done = {} }
  local piece, digests = journal.read(self, plan)
  plan.piece = piece or piece_size(self, plan.total)
  if digests and self.part:length() == plan.total then
    verify(self, plan, digests)
  end
  local ok, problem = self.part:allocate(plan.total)
  if not ok then return nil, place_error(self, problem) end
  self.plan = plan
  return journal.write(self, plan)
end

-- Progress ----------------------------------------------------------------------------------------------------------

local function report(self)
  if not self.progress then return end
  local received = self.finished
  for _, count in pairs(self.under_way) do received = received + count end
  if received > self.told then
    self.told = received
    self.progress(received, self.plan.total)
  end
end

-- Pieces ------------------------------------------------------------------------------------------------------------

-- Whether a piece is what the file's publisher says of it.
local function is_published(self, index)
  local pieces = self.given.pieces
  local wanted = pieces and pieces.digests[index + 1]
  if not wanted then return true end
  local offset, count = piece_range(self.plan, index)
  return self.part:digest(pieces.algorithm, offset, count) == wanted
end

local function note_done(self, index, digest, source)
  local _, count = piece_range(self.plan, index)
  source.has_given = true
  self.plan.done[index] = digest
  journal.note(self, index, digest)
  self.finished, self.under_way[index] = self.finished + count, nil
  report(self)
end

local function try_piece(self, index, source)
  local offset, count = piece_range(self.plan, index)
  local settings = without_own(self.given, {
    window = { path = self.part:path(), offset = offset, count = count, total = self.plan.total,
      validator = source.validator },
    progress = self.progress and function(received)
      self.under_way[index] = math.min(received, count)
      report(self)
    end,
  })
  local validator = source.validator:sub(2)
  local range = ("bytes=%d-%d"):format(offset, offset + count - 1)
  return self.session:_attempt(request_for(self.req, source.url, range, validator), settings)
end

-- Whether the pieces of two sources may be mixed: their files look the same, and a checksum of the whole will tell.
-- Where there is one of each piece, what is wrong is not taken, and the sources may call the file what they like.
local function is_same_version(self, found)
  if found.total ~= self.plan.total then return false end
  if self.given.pieces then return true end
  local is_tag = found.validator:find("^e") and self.plan.validator:find("^e")
  return not is_tag or found.validator == self.plan.validator
end

-- A source that can be asked for pieces.
local function is_usable(self, source)
  if source.is_dead then return false end
  if source.validator then return true end
  if not self.checksum then return false end
  local found = probe(self, source)
  if not found or not is_same_version(self, found) then
    source.is_dead = true
    return false
  end
  source.validator = found.validator
  return true
end

-- The next source for a piece, or nil.
local function choose(self, turn)
  for step = 0, #self.sources - 1 do
    local source = self.sources[(turn + step) % #self.sources + 1]
    if is_usable(self, source) then return source end
  end
end

-- Fetches a piece; raises the error when it cannot be had.
local function fetch_piece(self, index)
  local last
  for attempt = 0, ATTEMPTS * #self.sources - 1 do
    local source = choose(self, index + attempt)
    if not source then break end
    local result, err = try_piece(self, index, source)
    if result and result.status == 206 and is_published(self, index) then
      return note_done(self, index, result.body, source)
    end
    self.under_way[index] = nil
    last = err or errors.new {
      domain = "url", code = "bad_server_response", url = source.url, response = result,
      message = ("a part of the file was answered with status %d"):format(result.status),
    }
    local is_final = err and (err.domain ~= "url" or err.code == "cancelled" or err.code:find("^cannot_.*_file$"))
    if is_final then error(err, 0) end
    if not (err and TRANSIENT[err.code]) then source.is_dead = true end
    if err and TRANSIENT[err.code] then fibers.sleep(0.05 * (attempt + 1)) end
  end
  error(last or errors.new { domain = "url", code = "resource_unavailable", message = "no source has the file" }, 0)
end

local function fetch_pieces(self)
  local missing = {}
  local count = (self.plan.total + self.plan.piece - 1) // self.plan.piece
  for index = 0, count - 1 do
    if self.plan.done[index] then
      self.finished = self.finished + select(2, piece_range(self.plan, index))
      self.has_earlier = true
    else
      missing[#missing + 1] = index
    end
  end
  return pcall(map, missing, self.count, function(index) fetch_piece(self, index) end)
end

-- The whole ---------------------------------------------------------------------------------------------------------

-- What the digest of the whole must be: a list of who says so and what.
local function expectations(self, head)
  local list, known = {}, {}
  local function add(source, text, ...)
    if not source then return end
    if text and not known[text] then list[#list + 1] = { source = source, text = text } end
    if text then known[text] = true end
    return add(...)
  end
  add(self.given.checksum_source or "the option checksum", self.checksum,
    part_file.digests(rawget(head, "_block") or ""))
  return list
end

local function check_whole(self, head)
  for _, one in ipairs(expectations(self, head)) do
    local algorithm, wanted = one.text:match("^(%w+):(%x+)$")
    local digest
    repeat
      digest = self.part:digest_whole(algorithm, STEP)
      fibers.sleep(0)
    until digest
    if digest ~= wanted then
      return nil, errors.new {
        domain = "url", code = "checksum_mismatch", url = request.shown_url(self.req.url),
        message = ("the %s of what came is %s, and not %s (%s)"):format(algorithm, digest, wanted, one.source),
      }
    end
  end
  return true
end

-- The response of the first request, as it would be for the whole file.
local function make_response(self, head)
  local lines = {}
  for line in (rawget(head, "_block") or ""):gmatch("[^\r\n]+") do
    local name = line:match("^[^:]*"):lower()
    if name ~= "content-range" and name ~= "content-length" then lines[#lines + 1] = line end
  end
  lines[#lines + 1] = "Content-Length: " .. self.plan.total
  return response.make(200, "OK", head.http_version, head.url, table.concat(lines, "\r\n") .. "\r\n", self.plan.total,
    nil, rawget(head, "_metrics"), rawget(head, "_redirects"))
end

local function close(self)
  if self.journal then self.journal:close() end
  self.journal = nil
  -- What has nothing in it is of no use to a later run.
  if self.part:length() == 0 then self.part:discard() else self.part:close() end
end

local function finish(self, head)
  local ok, problem = self.part:commit()
  if not ok then return nil, place_error(self, problem) end
  os.remove(journal.path(self))
  return make_response(self, head)
end

-- Statuses of error pages, which no mirror's file is to be mixed with.
local function error_statuses()
  local list = {}
  for status = 400, 599 do list[#list + 1] = status end
  return table.concat(list, " ")
end

-- Whether a device or a pipe may have been given something, which cannot be taken back.
local function is_given(self, err)
  local head = err and err.response
  return not self.part and head ~= nil and head.status // 100 == 2
end

-- One request for everything, to each source in turn as long as none gives the right file; an earlier run's pieces are
-- of no use. `mismatch`: the error of wrong bytes that came before.
local function fetch_in_one(self, mismatch)
  if self.part then self.part:discard() end
  local given = without_own(self.given, {
    sink = self.path, checksum = self.checksum, progress = self.progress, max_body = self.given.max_body,
    collected_statuses = not self.part and error_statuses() or nil,
  })
  local result, err
  for _, source in ipairs(self.sources) do
    if not source.is_wrong then
      result, err = self.session:_attempt(request_for(self.req, source.url), given)
      if result and result.status < 400 or is_given(self, err) then return result, err end
      if err and (err.code == "cancelled" or err.domain ~= "url") then return nil, err end
      if err and err.code == "checksum_mismatch" then mismatch = mismatch or err end
    end
  end
  -- That a file was wrong tells more than that another place has none.
  if mismatch then return nil, mismatch end
  return result, err
end

-- The pieces are not the file. A source that all of them are from need not be asked again.
local function fetch_right(self, mismatch)
  local givers = {}
  for _, source in ipairs(self.sources) do
    if source.has_given then givers[#givers + 1] = source end
  end
  if #givers == 1 and not self.has_earlier then givers[1].is_wrong = true end
  return fetch_in_one(self, mismatch)
end

-- Whether another source than those the pieces are from has the file, and can be reached.
local function has_other(self)
  for _, source in ipairs(self.sources) do
    if not source.validator then
      local found, other = probe(self, source)
      if found or other and not errors.is(other) and other.status < 400 then return true end
    end
  end
  return false
end

-- A server that was not reached has not said that it will not have it so.
local function is_unreached(other) return errors.is(other) and (TRANSIENT[other.code] or other.code == "cancelled") end

-- The first source that lets the file be had in pieces -> what it said of the file | nil, what one gave that did not
-- (the first that was reached, where there is one).
local function find_source(self)
  local instead
  for _, source in ipairs(self.sources) do
    local found, other = probe(self, source)
    if found then
      source.validator = found.validator
      return found
    end
    source.is_dead = true
    if instead == nil or is_unreached(instead) then instead = other end
  end
  return nil, instead
end

local function run(self)
  local found, instead = find_source(self)
  if not found then
    -- What is there stays for the next run.
    if is_unreached(instead) then return nil, instead end
    return fetch_in_one(self)
  end
  local most = self.given.max_body
  if most and found.total > most then
    return nil, errors.new {
      domain = "url", code = "data_length_exceeds_maximum", url = request.shown_url(self.req.url),
      message = ("the response body is longer than %d bytes"):format(most),
    }
  end
  local fine, err = prepare(self, found)
  if not fine then return nil, err end
  local ok, raised = fetch_pieces(self)
  if ok then
    local is_right, mismatch = check_whole(self, found.head)
    if is_right then return finish(self, found.head) end
    return fetch_right(self, mismatch)
  end
  if not errors.is(raised) then error(raised, 0) end
  if raised.code == "bad_server_response" then return fetch_in_one(self) end
  -- What is there stays for the next run, unless a mirror can be had instead.
  if TRANSIENT[raised.code] and has_other(self) then return fetch_in_one(self) end
  return nil, raised
end

-- Fetches a file by the options `segments`, `mirrors` and `resume` of a call -> response | nil, err. *Yields.*
function segments.fetch(session, req, given)
  if type(given.sink) ~= "string" then
    options.misuse("options 'segments', 'mirrors' and 'resume' need a 'sink' that is a path")
  end
  if req.method ~= "GET" or req.body ~= nil then options.misuse("only a GET without a body can be fetched in parts") end
  if req.headers["Range"] then options.misuse("a Range of its own and 'segments' exclude each other") end
  local sources = { { url = req.url } }
  for _, url in ipairs(given.mirrors or {}) do
    sources[#sources + 1] = { url = options.expect(url, "string", "an item of option 'mirrors'") }
  end
  local self = {
    session = session, req = req, given = given, path = given.sink, sources = sources, part = nil,
    count = given.segments or 1, checksum = given.checksum, progress = given.progress, journal = nil,
    finished = 0, under_way = {}, told = -1, plan = nil, has_earlier = false,
  }
  -- A device or a pipe takes the bytes in their order only.
  if part_file.is_stream(given.sink) then return fetch_in_one(self) end
  local problem
  self.part, problem = part_file.open(given.sink)
  if not self.part then return nil, place_error(self, problem) end
  local ok, result, err = pcall(run, self)
  close(self)
  if not ok then error(result, 0) end
  return result, err
end

return segments
