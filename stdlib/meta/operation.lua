---@meta http.operation

---AFNetworking's operations: one request as an object that is started, paused, resumed, copied and stored. The module is
---called to make one: `operation(request, options)`.
local operation = {}

---Makes an operation of a blob. One that was under way is paused: `resume` goes on.
---@param blob string
---@param options? http.operation.options
---@return http.operation|nil
---@return http.error|nil err `cannot_decode`.
function operation.decode(blob, options) end

---Starts operations, so many at once.
---@param operations http.operation[]
---@param options? http.operation.batch.options
---@return http.operation.batch
function operation.batch(operations, options) end

---What a batch takes.
---@class http.operation.batch.options
---@field limit? integer At most so many at once; default all.
---@field progress? fun(finished: integer, total: integer)
---@field completion? fun(operations: http.operation[])

---Operations that belong together.
---@class http.operation.batch
---@field operations http.operation[]
local batch = {}

---Yields until all are finished.
---@return http.operation[]|nil operations
---@return http.error|nil err What a `progress` or `completion` function raised.
function batch:wait() end

---Cancels those that are not finished.
function batch:cancel() end

---The settings; they are fields of the operation, too, and can be set until they are used.
---@class http.operation.options
---@field completion? fun(operation: http.operation) Called when it is finished.
---@field upload_progress? fun(written: integer, total: integer, expected: integer)
---@field download_progress? fun(read: integer, total: integer, expected: integer) After a pause `total` and `expected` include what was there.
---@field redirect? fun(operation: http.operation, request: http.request, response: http.response): http.request|false|nil As `will_perform_redirection`.
---@field cache_response? fun(operation: http.operation, cached: table): table|false|nil As `will_cache_response`.
---@field will_send_request_for_challenge? fun(operation: http.operation, challenge: table): string|nil, table|nil As `did_receive_challenge`.
---@field input_stream? fun(size: integer): string|nil|file* The body: a reader function, or an object with `read(size)`; one with `seek` can be sent again.
---@field output_stream? fun(data: string)|file* Where the data goes: a function, or an object with `write(data)`.
---@field credential? table Offered to the first challenge (http.credential).
---@field should_use_credential_storage? boolean Default true.
---@field security_policy? table
---@field user_info? any
---@field response_serializer? http.serializer.response Its errors become the operation's.
---@field configuration? http.configuration Of a session of its own; default: one that all operations share.

---One request.
---@class http.operation: http.operation.options
---@field state "ready"|"executing"|"paused"|"finished"
---@field is_paused boolean
---@field is_executing boolean
---@field is_finished boolean
---@field is_cancelled boolean
---@field request http.request
---@field response http.response|nil
---@field error http.error|nil
---@field response_data string|nil What has been received; nil where it goes to an output stream.
---@field response_string string|nil The data as UTF-8.
---@field response_string_encoding string|nil The charset it was in, by iconv's name.
---@field response_object any What the response serializer made.
local one = {}

---Sends the request; nothing when it was started before.
function one:start() end

---Ends the transfer and keeps what has been received.
function one:pause() end

---Goes on after a pause: with a Range request where the response had a validator and was not encoded, else from the
---beginning. With an output stream that has been written to, the latter is the error `cannot_restart`.
function one:resume() end

---Ends it with `cancelled`.
function one:cancel() end

---Yields until it is finished.
---@return http.operation|nil
---@return http.error|nil err
function one:wait() end

---An operation for the same request with the same settings, ready to start.
---@return http.operation
function one:copy() end

---A blob for `operation.decode`: the request without the header fields that `request:curl` masks (Authorization, Cookie,
---Proxy-Authorization and those with names like X-Api-Key or X-Auth-Token) and without user and password in its URL, and
---what has been received. Functions among the settings are not in it.
---@return string|nil blob
---@return http.error|nil err `cannot_encode`: the body is a stream.
function one:encode() end

return operation
