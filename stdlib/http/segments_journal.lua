-- The journal of a file that is fetched in pieces: which of them are whole and on the disk, by their digests. It stands
-- beside the file's temporary one, for a later run.

local part_file = require "httpscript.part"
local errors = require "http.errors"
local json = require "json"
local request = require "http.request"

local journal = {}

local FIRST_LINE = "httpscript journal 1"

function journal.path(self) return part_file.journal_path(self.path) end

-- What the pieces in a journal must be of, so that they may be used.
local function is_same_file(self, plan, found)
  if type(found) ~= "table" or found.total ~= plan.total or math.type(found.piece) ~= "integer" or found.piece < 1 then
    return false
  end
  if self.given.pieces and found.piece ~= self.given.pieces.length then return false end
  if self.checksum then return found.checksum == self.checksum end
  return found.url == request.shown_url(self.req.url) and found.validator == plan.validator
end

-- Reads the journal of an earlier run -> piece size and digests by index | nil
function journal.read(self, plan)
  local file = io.open(journal.path(self), "rb")
  if not file then return nil end
  local first, second = file:read("l", "l")
  local found = first == FIRST_LINE and second and json.decode(second)
  local digests = {}
  if found and is_same_file(self, plan, found) then
    for line in file:lines("L") do
      local index, digest = line:match("^(%d+) (%x+)\n$")
      if digest and #digest == 64 then digests[math.tointeger(tonumber(index))] = digest end
    end
  else
    found = nil
  end
  file:close()
  if found then return found.piece, digests end
end

-- Begins it anew with the pieces that are there -> true | nil, err
function journal.write(self, plan)
  local file, message = io.open(journal.path(self), "wb")
  if not file then
    return nil, errors.new {
      domain = "file", code = "cannot_create_file", message = "cannot write the journal: " .. message,
    }
  end
  file:setvbuf("no")
  local about = {
    total = plan.total, piece = plan.piece, url = request.shown_url(self.req.url), validator = plan.validator,
    checksum = self.checksum,
  }
  local lines = { FIRST_LINE, json.encode(about) }
  for index, digest in pairs(plan.done) do lines[#lines + 1] = index .. " " .. digest end
  file:write(table.concat(lines, "\n"), "\n")
  self.journal = file
  return true
end

-- A piece is whole and on the disk.
function journal.note(self, index, digest) self.journal:write(index, " ", digest, "\n") end

return journal
