---@meta http.stream

---A stream task: bytes to and from a host and port, over TCP, through the configured proxy (HTTP CONNECT or SOCKS).
---Reads are served in the order they are asked for, writes in theirs. What changes the connection (closing, TLS,
---capturing) takes its turn: it waits for what was asked for before it. What is asked for before `resume` is done after.
---The task is completed, and `wait` returns true, when both directions have ended: the other side's end has been read (or
---the input was closed), and the output was closed. Until then, or until it is cancelled, it keeps the process alive. Its
---errors have the address as their `url`.
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

---Begins TLS. The other side's certificate must be good and for the task's host (for a service: its domain), as the
---session's `security_policy` says; else the task ends with an error before anything is sent through TLS. A delegate's
---handler is asked as about any server (`server_trust`), and the handshake waits for it. What came before and was not read
---is never taken for something that came through TLS.
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

---A WebSocket task (RFC 6455): messages to and from a server, with compression (permessage-deflate) where the server
---agrees. It takes part in redirects, challenges, proxies (by a tunnel) and TLS as a data task does. `wait` returns the
---101 response when the WebSocket was closed with a close frame of the server's. An answer that opens no WebSocket is
---`bad_server_response`, and so is a server that breaks the rules; a text that is not UTF-8 is `cannot_decode_raw_data`.
---What is asked for before it is open is done then.
---@class http.web_socket_task: http.task
---@field maximum_message_size integer Bytes (default 1 MiB), to be set before `resume`. A longer message ends the task with `data_length_exceeds_maximum`.
---@field protocol string|nil The subprotocol that the server has chosen.
---@field close_code integer Of the server's close frame: 1005 is one without a code; 0 is none yet.
---@field close_reason string|nil
local web_socket_task = {}

---Sends a message: a text, or other bytes as `{ data = … }`. Returns when it has left. *Yields.*
---@async
---@param message string|{ text?: string, data?: string }
---@return true|nil ok
---@return http.error? err
function web_socket_task:send(message) end

---The next message. *Yields.*
---@async
---@return { type: "text"|"binary", data: string }|nil message
---@return http.error? err
function web_socket_task:receive() end

---Sends a ping and waits for the answer. *Yields.*
---@async
---@return true|nil ok
---@return http.error? err
function web_socket_task:ping() end

---With a code, sends a close frame; the task ends well once the server has answered, and with `timed_out` when it does
---not within the request timeout. Without one, as any other task.
---@param code? integer 1000 to 1003, 1007 to 1014 or 3000 to 4999.
---@param reason? string UTF-8, at most 123 bytes.
function web_socket_task:cancel(code, reason) end
