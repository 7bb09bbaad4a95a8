-- Tasks that were begun and are not completed, by the number the core knows them by.
--
-- They are in slots, false where one is free. A number is the slot in its low 20 bits and a count above, so that
-- numbers are unique while the table keeps its shape.

-- `observed`: somebody wants to be told of tasks (http.notifications). `stopping`: the script is being ended, and no
-- task is to be begun any more.
local active = { observed = false, stopping = false }

local slots, free_slots, free_count, begun_count = {}, {}, 0, 0
local SLOT_BITS <const>, SLOT_MASK <const> = 20, (1 << 20) - 1

-- Gives a task its number.
function active.add(task)
  local slot
  if free_count > 0 then
    slot = free_slots[free_count]
    free_count = free_count - 1
  else
    slot = #slots + 1
  end
  begun_count = begun_count + 1
  slots[slot] = task
  local number = begun_count << SLOT_BITS | slot
  task.number = number
  return number
end

-- The task of a number, or nil.
function active.find(number)
  local task = slots[number & SLOT_MASK]
  if task and task.number == number then return task end
end

-- Puts another task in the place of one; it has the number from now on.
function active.replace(old, new)
  slots[old.number & SLOT_MASK] = new
  new.number, old.number = old.number, false
end

-- The same, and it is not active any more.
function active.take(number)
  local slot = number & SLOT_MASK
  local task = slots[slot]
  if not task or task.number ~= number then return nil end
  slots[slot] = false
  free_count = free_count + 1
  free_slots[free_count] = slot
  return task
end

-- All, or those of a session, in the order of their beginning.
function active.list(session)
  local list = {}
  for _, task in ipairs(slots) do
    if task and (session == nil or task.session == session) then list[#list + 1] = task end
  end
  table.sort(list, function(a, b) return a.number >> SLOT_BITS < b.number >> SLOT_BITS end)
  return list
end

return active
