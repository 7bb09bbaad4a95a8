---@meta http.terminal

---Whether someone is watching.
local terminal = {}

---Whether a descriptor is a terminal.
---@param descriptor integer 0 stdin, 1 stdout, 2 stderr.
---@return boolean
function terminal.is_tty(descriptor) end

---The width in columns; where nothing is a terminal, what the environment's COLUMNS says, or 80.
---@param descriptor? integer Default: stderr, else stdout.
---@return integer
function terminal.columns(descriptor) end

return terminal
