-- Modules that are loaded when one of their fields is first looked at: a plain call needs less than half of the
-- library, and compiling the rest would be a good part of a short script's time.

local Lazy = {}

function Lazy.__index(self, name)
  local value = require(rawget(self, Lazy))[name]
  rawset(self, name, value)
  return value
end

-- A stand-in for the module of that name; its fields must not change after it is loaded.
return function(name) return setmetatable({ [Lazy] = name }, Lazy) end
