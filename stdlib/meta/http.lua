---@meta http

---HTTP calls, sessions, tasks and concurrency. `http.get(url)` and its relatives are all that most scripts need; the
---rest is Apple's URLSession under its own names.
---
---Functions that wait are marked *yields*: they suspend the calling coroutine while everything else goes on. What can
---fail while the script runs gives `value`, or `nil` and an `http.error`; what only a wrong program does raises.
local http = {}

---Stands for a size that is not known.
---@type integer
http.TRANSFER_SIZE_UNKNOWN = -1

---Priorities of tasks: `low` (0.25), `default` (0.5), `high` (0.75).
---@type { low: number, default: number, high: number }
http.priority = {}

---The session that `http.get` and its relatives use. Invalidating it does nothing.
---@type http.session
http.shared = nil

---Configurations, by Apple's names. Each takes a table of fields.
---@type http.configurations
http.configuration = nil

---The kinds of configuration.
---@class http.configurations
local configurations = {}

---The default configuration.
---@param fields? http.configuration Fields that differ from the defaults.
---@return http.configuration
function configurations.default(fields) end

---A configuration that keeps nothing on disk.
---@param fields? http.configuration Fields that differ from the defaults.
---@return http.configuration
function configurations.ephemeral(fields) end

---A configuration whose sessions go on across the runs of a script. Their download tasks and their upload tasks (from
---files only) are recorded, with the secrets in their requests and for the user alone to read, in the directory of the
---identifier: in `shared_container`, or else under `$XDG_STATE_HOME/httpscript`. Whatever ends the process, the next one
---that makes a session of the identifier finds the tasks that are left by `session:all_tasks()`, with their `identifier`,
---`description` and `priority` as they were last set: those that were running go on by themselves (a download from where
---it was, an upload from the beginning), those that were suspended stay so, and of those that had ended the delegate is
---told. At the script's end (a signal, `--timeout`, an error) they are set down without a completion: whoever waits gets
---`cancelled`.
---
---One process at a time has an identifier, and one session in it. `did_create_task` is called when a task is made, not
---when it is found again. Completion functions are refused, and bodies that are no file; other kinds of tasks and calls
---run as in any session, and are not remembered. A record that is damaged is set aside, with a warning.
---@param identifier string
---@param fields? http.configuration Fields that differ from the defaults.
---@return http.configuration
function configurations.background(identifier, fields) end

---Makes a session. It copies the configuration: later changes of it have no effect.
---@param configuration? http.configuration A configuration, or a table of its fields.
---@param delegate? http.delegate Handlers; what is not there is handled in the usual way.
---@return http.session|nil
---@return http.error|nil err Of background sessions only: `background_session_in_use_by_another_process`, or where their state cannot be kept.
function http.session(configuration, delegate) end

---Makes a policy for a configuration's `security_policy`.
---@param fields http.security_policy
---@return http.security_policy
function http.security_policy(fields) end

---Makes a request, to be changed and sent later.
---@param url string|http.url|http.request.fields|http.request A URL, or fields with at least `url`, or a request to copy.
---@return http.request
function http.request(url) end

---A storage for cookies, to be given to a configuration or to be looked into.
---@param fields? { path?: string } A file; without one it is in memory.
---@return http.cookie_storage|nil storage
---@return http.error? err The file holds something else.
function http.cookie_storage(fields) end

---A cache for responses, to be given to a configuration or to be looked into.
---@param fields? { path?: string, memory_capacity?: integer, disk_capacity?: integer } A directory (without one: memory only), and how much is kept (default 8 MiB and 256 MiB). No body may be larger than the capacity, nor than 64 MiB.
---@return http.cache
function http.cache(fields) end

---A storage for credentials, to be given to a configuration or to be looked into.
---@param fields? { path?: string, keyring?: boolean, netrc?: string|boolean, credential_command?: string|http.credential_command } `path`: the file of permanent credentials. `keyring`: keep them in the user's keyring where there is one. `netrc`: a netrc file, or true for `$NETRC` or `~/.netrc`; without the file the result is nil and an error.
---@return http.credential_storage|nil storage
---@return http.error? err A file cannot be read, others can read it, or it holds something else.
function http.credential_storage(fields) end

---Makes a protection space, for `http.credential_storage`.
---@param fields http.protection_space.fields
---@return http.protection_space
function http.protection_space(fields) end

---Makes a credential, to answer a challenge with.
---@param fields http.credential.fields
---@return http.credential
function http.credential(fields) end

---Sends GET. *Yields.*
---@async
---@param url string|http.url
---@param options? http.options
---@return http.response|nil response
---@return http.error? err
function http.get(url, options) end

---Sends HEAD: the response has no body. *Yields.*
---@async
---@param url string|http.url
---@param options? http.options
---@return http.response|nil response
---@return http.error? err
function http.head(url, options) end

---Sends POST. *Yields.*
---@async
---@param url string|http.url
---@param options? http.options
---@return http.response|nil response
---@return http.error? err
function http.post(url, options) end

---Sends PUT. *Yields.*
---@async
---@param url string|http.url
---@param options? http.options
---@return http.response|nil response
---@return http.error? err
function http.put(url, options) end

---Sends PATCH. *Yields.*
---@async
---@param url string|http.url
---@param options? http.options
---@return http.response|nil response
---@return http.error? err
function http.patch(url, options) end

---Sends DELETE. *Yields.*
---@async
---@param url string|http.url
---@param options? http.options
---@return http.response|nil response
---@return http.error? err
function http.delete(url, options) end

---Sends OPTIONS. *Yields.*
---@async
---@param url string|http.url
---@param options? http.options
---@return http.response|nil response
---@return http.error? err
function http.options(url, options) end

---Sends a request, or what a table of options with `url` and `method` says. *Yields.*
---@async
---@param request http.request|http.options
---@param options? http.options Only beside a request: all that is not the request's own, such as `sink`, `auth`, `retry`.
---@return http.response|nil response
---@return http.error? err
function http.send(request, options) end

---Runs a function concurrently, from the next turn of the loop. What the job begins (tasks, jobs) is cancelled with it.
---@param fn fun(...): ...
---@param ... any Its arguments.
---@return http.job
function http.spawn(fn, ...) end

---Waits. *Yields.*
---@async
---@param seconds number
function http.sleep(seconds) end

---Runs a function over items, with at most `limit` of them at once, and gives the results in the order of the items.
---*Yields.* An error raised in the function ends the rest and is raised here.
---@async
---@param items any[]|fun(): any A list, or an iterator, which may wait itself.
---@param limit integer At least 1.
---@param fn fun(item: any): any, any
---@return any[] results The first result for each item, nil where there was none; the field `n` counts the items.
---@return table<integer, any> failures The second results, which are errors by custom, by index.
function http.map(items, limit, fn) end

---Runs a function for at most so many seconds; everything that it began is cancelled when time is up. *Yields.*
---@async
---@param seconds number
---@param fn fun(...): ...
---@param ... any Its arguments.
---@return any ... The function's results, or `nil` and an error with the code `timed_out`.
function http.with_timeout(seconds, fn, ...) end

---Tells a function of what goes on in all sessions (AFNetworking's notifications). It runs in a coroutine of its own and
---may wait; an error in it ends the script with status 1.
---@param name "task_did_start"|"task_did_suspend"|"task_did_resume"|"task_did_finish"|"operation_did_start"|"operation_did_pause"|"operation_did_resume"|"operation_did_finish"|"session_did_invalidate"
---@param fn fun(object: http.task|http.operation|http.session, name: string)
---@return fun() stop Ends it.
function http.on(name, fn) end

---Seconds on a clock that only goes forward; its zero means nothing.
---@return number seconds
function http.now() end

---Reads a date: the three forms of HTTP, and what cookies use.
---@param text string
---@return number|nil seconds Unix seconds; nil for a text that is no date.
function http.parse_date(text) end

---Writes a date as HTTP does, as in "Sun, 06 Nov 1994 08:49:37 GMT".
---@param seconds number Unix seconds.
---@return string text
function http.format_date(seconds) end

---Something that runs concurrently (`http.spawn`).
---@class http.job
---@field state "running"|"completed"|"failed"|"cancelled"
local job = {}

---Waits until the job has ended. *Yields.*
---@async
---@return any ... What its function returned, or `nil` and the error.
function job:wait() end

---Ends the job: everything it began is cancelled, and its function is ended where it waits.
function job:cancel() end

---The options of a call. Exactly one of `body`, `json`, `form` and `multipart` may be there.
---@class http.options
---@field url? string Only for `send`.
---@field method? string Only for `send`; default "GET".
---@field headers? table<string, string|string[]> Header fields; a list repeats the field.
---@field query? table<string, any>|any[][]|string Added to the URL's query: names and values (a list value repeats the name), a list of `{ name, value }`, or a text that is encoded already.
---@field body? string|http.reader|{ file: string } The body's bytes, a function that gives them piece by piece, or a file.
---@field json? any A value to send as JSON.
---@field form? table<string, any>|any[][]|string A form, sent as application/x-www-form-urlencoded.
---@field multipart? http.part[] A form with files, sent as multipart/form-data.
---@field timeout? number Seconds without any data after which the request fails with `timed_out` (default 60).
---@field resource_timeout? number Seconds for everything, redirects and retries of the connection included (default 7 days).
---@field auth? http.auth|http.authenticator Credentials, or an authenticator of `http.auth`.
---@field redirects? integer|boolean How many to follow (default 20); false for none: the redirect itself is the response.
---@field expect_continue? boolean|"auto" Whether to wait for "100 Continue" before the body (default "auto": large bodies).
---@field cache_policy? "use_protocol_cache_policy"|"reload_ignoring_local_cache_data"|"return_cache_data_else_load"|"return_cache_data_dont_load"|"reload_revalidating_cache_data" Default: the session's. See `http.request.fields`.
---@field sink? fun(data: string)|string|file* Where the body goes, in place of `response.body`: a function, called with each piece; a path (written under a temporary name, renamed when whole; a device or pipe is written directly); or an open file. Only a successful (2xx) body goes to a path: that of another status is in `response.body`, and a file that was there stays. With `retry`, the body of an answer whose status is to be tried again goes to no sink but into `response.body`, and a call whose body has begun to go to a function, an open file, a device or a pipe is not repeated: the error is returned.
---@field progress? fun(received: integer, expected: integer)|http.progress.bar|"bar" Called as data comes in; `expected` may be `http.TRANSFER_SIZE_UNKNOWN`. "bar": a bar of http.progress, named after the file or the URL.
---@field max_body? integer Bytes; a longer body is `data_length_exceeds_maximum`.
---@field decompress? boolean Whether to undo Content-Encoding (default true).
---@field priority? number 0 to 1 (default 0.5).
---@field checksum? string What the body's digest must be: "md5:…", "sha1:…", "sha256:…" or "sha512:…" in hexadecimal, or the URL or path of a file of checksums (as `sha256sum` writes it) that names the file. Anything else is `checksum_mismatch`, and a `sink` that is a path stays as it was; where there are `mirrors`, the next one is asked first. Digest fields of the response are always verified.
---@field segments? integer How many parts of the file to fetch at once; needs a `sink` that is a path. The parts go into the temporary file beside it, with a journal of what is whole, and a run that was broken off, or killed, is gone on with by the next one. A server that will not send parts is asked for the whole, and so it is for a device or a pipe.
---@field resume? boolean The same with one part at a time: goes on with what an earlier run left.
---@field mirrors? string[] Other URLs of the same file, each used where those before it fail or give other bytes than the `checksum` or a digest field says; with a `checksum` also at the same time where they have the same length and strong ETag, or the digests of the `pieces` are known.
---@field pieces? { algorithm: string, length: integer, digests: string[] } The digests of the pieces of the file, in hexadecimal, for `segments` (Metalink documents have them).
---@field rate_limit? number|{ receive?: number, send?: number } Bytes a second, of bodies as transferred; the session's `rate_limit` holds too.
---@field retry? http.retry.options|integer|boolean Whether and how to try again (default: not); true for the defaults of `http.retry.options`, a number for the limit.

---A function that gives the next piece of a body, and nil at the end. It is for one task: another one whose request has
---it as its body fails with `request_body_stream_exhausted` once it has been read from.
---@alias http.reader fun(size: integer): string|nil

---Credentials for one call: a user and password, or a bearer token. A redirect to another origin does not carry them.
---@class http.auth
---@field user? string Bytes of any encoding, sent as they are; no control characters and, for Basic, no colon.
---@field password? string The same. Default: empty.
---@field scheme? "basic"|"digest"|"ntlm"|"negotiate"|"any" "basic" (the default), "ntlm" and "negotiate" are sent at once; for "digest" and "any" (the strongest of Digest, NTLM and Basic) the server is asked first. "negotiate" uses the system's Kerberos ticket.
---@field bearer? string A token.

return http
