-- Scopes { parent, job, members, count }: what was begun inside a job and has not ended.
--
-- Members are tasks, handlers under way, and the scopes of inner jobs, each with its place in time; all have a method
-- `cancel`. The scope of a job that has ended stays as long as it holds something, so that what is around it can still
-- cancel that. Outside of jobs the scope is false.

local scopes = {}

local Scope = {}
Scope.__index = Scope

local joined_count = 0

-- Puts something into a scope.
function scopes.join(scope, member)
  if not scope then return end
  joined_count = joined_count + 1
  scope.members = scope.members or {}
  scope.members[member] = joined_count
  scope.count = scope.count + 1
end

local function drop_empty(scope)
  while scope and not scope.job and scope.count == 0 do
    local parent = scope.parent
    if parent and parent.members[scope] then
      parent.members[scope] = nil
      parent.count = parent.count - 1
    end
    scope = parent
  end
end

-- Takes it out again.
function scopes.leave(scope, member)
  if not scope or not scope.members or not scope.members[member] then return end
  scope.members[member] = nil
  scope.count = scope.count - 1
  drop_empty(scope)
end

-- The scope of a job, inside another one.
function scopes.new(parent, job)
  local scope = setmetatable({ parent = parent, job = job, members = false, count = 0 }, Scope)
  scopes.join(parent, scope)
  return scope
end

function scopes.job_ended(scope)
  scope.job = nil
  drop_empty(scope)
end

-- Cancels what is in the scope, the oldest first.
function scopes.cancel_members(scope)
  if not scope.members then return end
  local list, place = {}, {}
  for member, joined in pairs(scope.members) do
    list[#list + 1] = member
    place[member] = joined
  end
  table.sort(list, function(a, b) return place[a] < place[b] end)
  for _, member in ipairs(list) do member:cancel() end
end

function Scope:cancel()
  if self.job then return self.job:cancel() end
  scopes.cancel_members(self)
end

return scopes
