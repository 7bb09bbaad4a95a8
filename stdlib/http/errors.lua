-- The one kind of error object that scripts see.

local errors = {}

local Error = { __name = "http.error" }
Error.__index = Error

--- One readable line.
function Error:__tostring() return (tostring(self.message or self.code or "error"):gsub("[\r\n]+", " ")) end

--- Makes an error of a table with `domain`, `code`, `message` and what else is known; returns the table.
function errors.new(fields) return setmetatable(fields, Error) end

return errors
