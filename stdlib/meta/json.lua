---@meta json

---JSON (RFC 8259). Decoded tables keep whether they were an array or an object, so that `[]` and `{}` survive a round
---trip. A table without such a mark is an array when it has integer keys, otherwise an object.
local json = {}

---Stands for JSON's null. It is true as a condition: compare with `value == json.null`.
---@type any
json.null = nil

---Reads a document. Integers are exact over 64 bits.
---@param text string
---@param options? json.decode_options
---@return any value
---@return http.error? err Of domain "json", with `line`, `column` and `position`.
function json.decode(text, options) end

---Writes a document.
---@param value any
---@param options? json.encode_options
---@return string|nil text
---@return http.error? err Of domain "json", with the `path` to the value that cannot be written.
function json.encode(value, options) end

---Marks a table as an array, so that it is one also when it is empty.
---@param value? table A new table when there is none.
---@return table value The same table.
function json.array(value) end

---Marks a table as an object.
---@param value? table A new table when there is none.
---@return table value The same table.
function json.object(value) end

---Whether a table is marked as an array; decoded arrays are.
---@param value any
---@return boolean
function json.is_array(value) end

---Whether a table is marked as an object; decoded objects are.
---@param value any
---@return boolean
function json.is_object(value) end

---Iterates over newline-delimited documents: `for value, err in json.lines(reader) do`. A line that is not JSON gives
---`false` and an error whose `line` is its number; blank lines are skipped.
---@param reader string|file*|fun(): string|nil The text, a file, or a function that gives the next chunk.
---@param options? json.decode_options
---@return fun(): any, http.error? next
function json.lines(reader, options) end

---The value that a JSON pointer (RFC 6901) names, as in "/items/0/name". Indices count from 0.
---@param value any
---@param pointer string
---@return any value
---@return http.error? err
function json.pointer(value, pointer) end

---How to read.
---@class json.decode_options
---@field big_integers? "float"|"string" What an integer of more than 64 bits becomes; without it, it is an error.
---@field duplicates? "error"|"last" Whether a repeated name is an error (the default) or its last value counts.

---How to write.
---@class json.encode_options
---@field indent? integer Spaces for each level, up to 31 (default 0: one line).
---@field sort_keys? boolean Names in the order of their bytes.
---@field ascii? boolean Escapes for everything beyond ASCII.

return json
