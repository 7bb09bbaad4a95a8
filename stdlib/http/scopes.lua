-- Scopes { parent, job, members, count, first, scope }: what was begun inside a job and has not ended.
--
-- `first` is a member that needs no table: most scopes never have more than one at a time. `scope` is the scope itself,
-- so that it can stand for what works in it (http.fibers).
--
-- Members are tasks, handlers under way, and the scopes of inner jobs, each with its place in time; all have a method
-- `cancel`, and tasks another one for the scope, `_scope_ends`. The scope of a job that has ended stays as long as it
-- holds something, so that what is around it can still cancel that. Outside of jobs the scope is false.

local scopes = {}

local Scope = {}
Scope.__index = Scope

local joined_count = 0

-- Puts something into a scope.
function scopes.join(scope, member)
  if not scope then return end
  local place = joined_count + 1
  joined_count = place
  scope.count = scope.count + 1
  if not scope.first then
    scope.first, scope.first_joined = member, place
    return
  end
  scope.members = scope.members or {}
  scope.members[member] = place
end

-- Answers whether it was there.
local function remove(scope, member)
  if scope.first == member then
    scope.first = false
  elseif scope.members and scope.members[member] then
    scope.members[member] = nil
  else
    return false
  end
  scope.count = scope.count - 1
  return true
end

local function drop_empty(scope)
  while scope and not scope.job and scope.count == 0 do
    local parent = scope.parent
    if parent then remove(parent, scope) end
    scope = parent
  end
end

-- Takes it out again.
function scopes.leave(scope, member)
  if scope and remove(scope, member) and scope.count == 0 then drop_empty(scope) end
end

-- The scope of a job, inside another one.
function scopes.new(parent, job)
  local scope = setmetatable({
    parent = parent, job = job, members = false, count = 0, first = false, first_joined = 0, scope = nil,
  }, Scope)
  scope.scope = scope
  scopes.join(parent, scope)
  return scope
end

function scopes.job_ended(scope)
  scope.job = nil
  drop_empty(scope)
end

-- Cancels what is in the scope, the oldest first.
function scopes.cancel_members(scope)
  local list, place = {}, {}
  if scope.first then
    list[1] = scope.first
    place[scope.first] = scope.first_joined
  end
  for member, joined in pairs(scope.members or {}) do
    list[#list + 1] = member
    place[member] = joined
  end
  table.sort(list, function(a, b) return place[a] < place[b] end)
  for _, member in ipairs(list) do
    local cancel = member._scope_ends or member.cancel
    cancel(member)
  end
end

function Scope:cancel()
  if self.job then return self.job:cancel() end
  scopes.cancel_members(self)
end

return scopes
