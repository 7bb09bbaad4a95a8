---@meta http.progress

---Progress for people: bars on a terminal (rate, time left, one line for each transfer), plain lines at intervals where
---the output is a log, nothing when quiet. `progress = "bar"` of a call makes a bar by itself.
local progress = {}

---A bar on the display that all of the script's transfers share: standard error.
---@param options? http.progress.bar.options
---@return http.progress.bar
function progress.bar(options) end

---Whether the shared display shows nothing.
---@param flag boolean
function progress.quiet(flag) end

---A display of its own.
---@param options? http.progress.display.options
---@return http.progress.display
function progress.display(options) end

---What a bar is made of.
---@class http.progress.bar.options
---@field label? string What stands before the bar; control characters are shown as "?".
---@field total? integer Bytes in all, where they are known beforehand.

---What a display is made of.
---@class http.progress.display.options
---@field output? file*|fun(text: string) Default: standard error.
---@field terminal? boolean Whether bars are drawn. Default: whether standard error is a terminal; false with an `output`.
---@field columns? integer|fun(): integer The width of the terminal.
---@field interval? number Seconds between two drawings (default 0.1).
---@field log_interval? number Seconds between two lines in a log (default 10).
---@field quiet? boolean Nothing is shown.
---@field clock? fun(): number Seconds; default `http.now`.

---A group of bars, one line each, at the bottom of the output. Twelve are shown; the others are counted.
---@class http.progress.display
local display = {}

---A bar on this display.
---@param options? http.progress.bar.options
---@return http.progress.bar
function display:bar(options) end

---Prints a line above the bars.
---@param line string
function display:print(line) end

---Takes the bars that are not done away.
function display:close() end

---One transfer. Calling it is `bar:update`, so that it serves as the option `progress` of a call.
---@class http.progress.bar
---@field label string What stands before it.
---@field received number Bytes so far.
---@field total integer|nil Bytes in all; nil where that is unknown.
---@field rate number|nil Bytes a second, of late.
---@field started number When it was made, in seconds of the display's clock.
---@field done boolean Whether it was finished or has failed.
---@field failed boolean|nil Whether it has failed.
---@field note string|nil What `finish` or `fail` was given.
local bar = {}

---Tells how far it is.
---@param received number Bytes so far.
---@param expected? integer Bytes in all; `http.TRANSFER_SIZE_UNKNOWN` where the server does not say.
function bar:update(received, expected) end

---The transfer is done; the bar is written a last time.
---@param note? string Shown with it.
function bar:finish(note) end

---The transfer failed; that is written in place of the bar.
---@param err http.error|string
function bar:fail(err) end

return progress
