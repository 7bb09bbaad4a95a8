-- Whether someone is watching, and how wide the window is.

local native = require "httpscript.terminal"

local terminal = {}

--- Whether a descriptor (0 stdin, 1 stdout, 2 stderr) is a terminal.
terminal.is_tty = native.is_tty

--- The width in columns: of the descriptor, or by default of stderr or stdout; where that is no terminal, what the
--- environment's `COLUMNS` says, or 80.
terminal.columns = native.columns

return terminal
