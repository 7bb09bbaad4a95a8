---@meta http.stream

---A stream task: bytes to and from a host and port, over TCP, through the configured proxy (HTTP CONNECT or SOCKS).
---Reads are served in the order they are asked for, writes in theirs. What changes the connection (closing, TLS,
---capturing) takes its turn: it waits for what was asked for before it. What is asked for before `resume` is done after.
---The task is completed, and `wait` returns true, when both directions have ended: the other side's end has been read (or
---the input was closed), and the output was closed. Its errors have the address as their `url`.
---@class http.stream_task: http.task
local stream_task = {}

---Reads at least `min` bytes (fewer only at the end) and at most `max`. The second value says that nothing more will
---come. A read whose time has passed takes nothing. *Yields.*
---@async
---@param options? { min?: integer, max?: integer, timeout?: number } Bytes (default 1 and 65,536) and seconds (default: no limit).
---@return string|nil data
---@return boolean|http.error at_eof
function stream_task:read(options) end

---Writes all of the data; returns when it has left. A write whose time has passed is taken back; if some of it had left
---already, the task ends. *Yields.*
---@async
---@param data string
---@param options? { timeout?: number } Seconds (default: no limit).
---@return true|nil ok
---@return http.error? err
function stream_task:write(data, options) end

---Closes the input: nothing more is read.
function stream_task:close_read() end

---Closes the output: the other side sees the end, and can still send.
function stream_task:close_write() end

---Begins TLS. The other side's certificate must be good and for the task's host (for a service: its domain); else the
---task ends with an error before anything is sent through TLS. What came before and was not read is never taken for
---something that came through TLS.
function stream_task:start_secure_connection() end

---Ends TLS in both directions; what follows is plain.
function stream_task:stop_secure_connection() end

---Ends the task and gives its connection to two objects, by `did_become_streams` and as what `wait` returns. After that
---there is no `did_complete`. The two do not keep the process alive, unless something is being read or written.
function stream_task:capture_streams() end

---The input of a captured stream.
---@class http.stream_input
local input = {}

---As `http.stream_task:read`. *Yields.*
---@async
---@param options? { min?: integer, max?: integer, timeout?: number }
---@return string|nil data
---@return boolean|http.error at_eof
function input:read(options) end

---Iterates over lines, without their ends. An error is raised. *Yields.*
---@return fun(): string|nil
function input:lines() end

---Reads nothing more.
function input:close() end

---The output of a captured stream.
---@class http.stream_output
local output = {}

---As `http.stream_task:write`. *Yields.*
---@async
---@param data string
---@param options? { timeout?: number }
---@return true|nil ok
---@return http.error? err
function output:write(data, options) end

---Closes the output: the other side sees the end.
function output:close() end
