---@meta http.session

---What sessions are made of; Apple's names and meanings. Fields marked with a star are kept, and do nothing in this
---version.
---@class http.configuration
---@field identifier? string Of background sessions: what they are known by in later runs.
---@field request_cache_policy? string A cache policy, as in `http.request.fields` (default "use_protocol_cache_policy").
---@field timeout_for_request? number Seconds without any data (default 60).
---@field timeout_for_resource? number Seconds for everything (default 7 days).
---@field network_service_type? http.service_type What the traffic is for: marks the packets of its connections (DSCP) and their place in this machine's own queue. Default "default".
---@field allows_cellular_access? boolean * There is no telling which networks are cellular. Default true.
---@field waits_for_connectivity? boolean A request or a stream's connection that cannot be made for want of a network (no route, no address, no interface of that name) waits until there is one, within the limit for the resource; `task_is_waiting_for_connectivity` is called once. Always so in background sessions. Default false.
---@field discretionary? boolean The traffic may take its time: `network_service_type` is then "background" unless it says another. Default false.
---@field shared_container? string The directory in which download tasks keep their files, and background sessions their tasks.
---@field session_sends_launch_events? boolean Whether a background session's delegate hears `did_finish_events_for_background_session` (nothing is launched). Default true for background sessions, else false.
---@field connection_proxy? http.proxy|string|false A proxy's URL, "environment" (the default: `http_proxy`, `https_proxy`, `all_proxy`, `no_proxy`), or false for none.
---@field tls_minimum_supported? "1.0"|"1.1"|"1.2"|"1.3" Default: the TLS library's.
---@field tls_maximum_supported? "1.0"|"1.1"|"1.2"|"1.3" Default: the TLS library's.
---@field http_should_use_pipelining? boolean Requests wait for a connection that is being made, if they may share it (HTTP/2), rather than making their own. Default false.
---@field http_should_set_cookies? boolean Whether stored cookies are sent (default true). They are kept all the same.
---@field http_cookie_accept_policy? "always"|"never"|"only_from_main_document_domain" When cookies are kept (default "only_from_main_document_domain": where the host is of the same site as the request's `main_document_url`, and always where it has none).
---@field http_additional_headers? table<string, string|string[]> Sent with every request that has no such field.
---@field http_maximum_connections_per_host? integer Default 6; further requests wait. A task whose handler is waited for lends its connection's place: at once to what the handler itself asks of that host, and after a quarter of a second to the next that waits where otherwise nothing would go on there. So there is at most one connection more for each such handler.
---@field cookie_storage? http.cookie_storage|false Default: the user's own in `$XDG_STATE_HOME/httpscript`, which all default sessions share; for an ephemeral configuration one in memory. false: cookies are neither kept nor sent.
---@field credential_storage? http.credential_storage|false Default: the user's own in `$XDG_STATE_HOME/httpscript`, which all default sessions share; for an ephemeral configuration one in memory. false: no credentials are kept beyond a task.
---@field cache? http.cache|false Default: the user's own in `$XDG_CACHE_HOME/httpscript`, which all default sessions share; for an ephemeral configuration one in memory. false: nothing is stored.
---@field should_use_extended_background_idle_mode? boolean Idle connections are kept for a day, and probed (TCP keep-alive), rather than for two minutes. Default false.
---@field user_agent? string Default "httpscript/" and the version.
---@field http_version? "auto"|"1.0"|"1.1"|"2"|"2-prior-knowledge" Default "auto". With prior knowledge (clear-text HTTP/2) and a libcurl before 8.0 every request has a connection of its own.
---@field rate_limit? number|{ receive?: number, send?: number } Bytes a second that all its tasks together may move, of bodies as transferred.
---@field interface? string A network interface or local address.
---@field resolve? table<string, string> "host:port" to an IPv4 or IPv6 address, or several with commas between them; anything else raises. `*.localhost` is always loopback.
---@field unix_socket? string The path of a socket to connect to, whatever the URL's host.
---@field ca_file? string Certificates to trust in place of the system's: a file in PEM, or a directory as `openssl rehash` makes it. One that cannot be read makes https requests fail with `file_does_not_exist` or `no_permissions_to_read_file`, one with no certificate in it with `secure_connection_failed`.
---@field security_policy? http.security_policy How servers' certificates are judged beyond the usual.
---@field transport_security? http.transport_security What may be asked for in clear text.
---@field client_certificate? string|http.client_certificate|http.credential Shown to servers that ask for one; a text is the path of a file with certificate and key.
---@field protocol_classes? http.protocol_class[] What may answer requests in the network's place; the first that wants one gets it.
---@field allows_file_urls? boolean Whether `file:` URLs are read (GET and HEAD, regular files). Default false.

---What traffic is for, from what may wait to what must not.
---@alias http.service_type "default"|"background"|"responsive_data"|"av_streaming"|"responsive_av"|"video"|"call_signaling"|"voice"|"voip"

---A proxy, or one for each scheme. A URL's scheme says what the proxy speaks: `http` (which is meant where there is none),
---`https`, `socks4`, `socks4a`, `socks5` (names are resolved here), `socks5h` (by the proxy); without a port it is 1080.
---
---User and password have no control characters in them. A SOCKS proxy, which asks for nothing, gets at once what the
---credential storage has for its address (`is_proxy = true`) where they are not given here. The certificate of an
---`https` proxy must be one that `ca_file` or the system's authorities vouch for: no handler is asked about it, and the
---security policy is about servers.
---@class http.proxy
---@field url? string For all URLs that have no proxy of their own below.
---@field user? string For `url`.
---@field password? string
---@field http? http.proxy.address|string|false For `http:` URLs; false for none.
---@field https? http.proxy.address|string|false For `https:` URLs; false for none.
---@field no_proxy? string|string[] What is reached directly: names (with their subdomains), addresses, networks (`10.0.0.0/8`), "*" among them for everything.

---A proxy's address.
---@class http.proxy.address
---@field url string
---@field user? string
---@field password? string

---What answers requests itself: Apple's URLProtocol. A table (or object) whose functions are called without a self. It
---is asked for every request of the session's tasks, redirects included, whatever the URL's scheme. `Set-Cookie` fields
---of what it answers to `http:` and `https:` URLs are taken as a server's are; stored cookies are not in its request.
---@class http.protocol_class
---@field can_init fun(request: http.request): boolean Whether it answers this request.
---@field start_loading fun(request: http.request, client: http.client) Answers it by the client's methods, now or later and from any coroutine; runs in a job of its own, which is cancelled with the task. Raising fails the task with `handler_error`.
---@field stop_loading? fun(request: http.request) Called once for each load when it is over, by whatever end.

---What a protocol class speaks through. The order is `receive_response`, any number of `receive_data`, `finish`; `fail` at
---any time, or `redirect` in place of it all. Calls in another order, or after the end, raise. When the task has ended
---meanwhile they do nothing and return false.
---@class http.client
local client = {}

---The head of the response, or a response to be passed on (without the fields that told how its body was transferred).
---@param response { status?: integer, headers?: http.headers|table<string, string|string[]>, reason?: string, http_version?: string }|http.response Status 200 unless it says another; from 200 on.
---@return boolean going_on
function client:receive_response(response) end

---A piece of the body, as it is: no content coding is undone. *Yields* while what is there waits for the task's consumer.
---@async
---@param data string
---@return boolean going_on
function client:receive_data(data) end

---The task goes on with another request; the delegate is asked as for any redirect, and where it refuses, the response
---given here is the task's, without a body.
---@param response { status?: integer, headers?: http.headers|table<string, string|string[]>, reason?: string, http_version?: string }|http.response Status 302 unless it says another.
---@param request string|http.request|http.request.fields
---@return boolean going_on
function client:redirect(response, request) end

---The response is whole.
---@return boolean going_on
function client:finish() end

---The task ends with an error.
---@param err http.error|string|{ domain?: string, code?: string, message?: string, url?: string, underlying?: table } An error object, its fields (`domain` "url" and `code` "unknown" unless given), or its message.
---@return boolean going_on
function client:fail(err) end

---A session: tasks that share a configuration, connections and a delegate.
---@class http.session
---@field configuration http.configuration A new copy each time.
---@field delegate http.delegate|nil
---@field description string|nil For the script's own use.
local session = {}

---Makes a task for a URL or request, suspended.
---@param request string|http.request
---@param completion? fun(data: string|nil, response: http.response|nil, err: http.error|nil) Takes the place of the delegate's response, data and completion handlers.
---@return http.task
function session:data_task(request, completion) end

---Makes a stream task to a host and port, or to a service found by its DNS-SD names (SRV records from the system's
---resolver; multicast DNS only where that knows it), suspended.
---@param host string|{ host: string, port: integer }|{ service: { name: string, type: string, domain?: string } } A name or address.
---@param port? integer
---@return http.stream_task
function session:stream_task(host, port) end

---Makes a WebSocket task, suspended. The URL's scheme is ws, wss, http or https.
---@param request string|http.request
---@param protocols? string|string[] The subprotocols to be offered, the preferred one first.
---@return http.web_socket_task
function session:web_socket_task(request, protocols) end

---Makes a task that sends a body, suspended. `body` is one of `{ file = path }`, `{ data = string }` and
---`{ stream = true }`: then the delegate's `need_new_body_stream` gives it, before anything is sent and each time it must
---be sent again. It takes the place of the request's own body. A URL without a request is posted to.
---@param request string|http.request
---@param body { file?: string, data?: string, stream?: boolean }
---@param completion? fun(data: string|nil, response: http.response|nil, err: http.error|nil) Takes the place of the delegate's response, data and completion handlers.
---@return http.task
function session:upload_task(request, body, completion) end

---Makes a task whose response's body, whatever its status is, goes to a file, suspended. The file is in a directory of
---the process's own, inside the configuration's `shared_container` or else that of the system for temporary files
---(`TMPDIR`, `/var/tmp`). It is removed when `did_finish_downloading` or the completion returns, and where there is
---neither, with the process; unless it was moved (`response:save` does that, to another file system too). The completion
---gets its path in place of the data.
---
---`{ resume_data = … }` goes on with what `task:cancel_by_producing_resume_data` or `err.resume_data` gave, in a later
---process too. What is on disk is verified first, and the server is asked for the rest of that version of the file
---(Range and If-Range); where it has another one by now, or will not send a part, the download begins again. Secrets are
---not in resume data: `headers` beside it are sent too.
---@param request string|http.request|{ resume_data: string, headers?: table<string, string|string[]> }
---@param completion? fun(location: string|nil, response: http.response|nil, err: http.error|nil) Takes the place of the delegate's `did_finish_downloading` and `did_complete`.
---@return http.task
function session:download_task(request, completion) end

---The tasks that are not completed, by kind.
---@return http.task[] data
---@return http.task[] upload
---@return http.task[] download
function session:tasks() end

---The tasks that are not completed.
---@return http.task[]
function session:all_tasks() end

---Takes no new tasks, and ends when those there have.
function session:finish_tasks_and_invalidate() end

---Takes no new tasks, and cancels those there.
function session:invalidate_and_cancel() end

---Empties the session's stores: cookies, credentials and cache (default sessions share the user's own), and closes idle
---connections. *Yields.*
---@async
function session:reset() end

---Closes idle connections and writes to disk what the cache has in hand. *Yields.*
---@async
function session:flush() end

---As `http.get`, in this session. *Yields.*
---@async
---@param url string|http.url
---@param options? http.options
---@return http.response|nil response
---@return http.error? err
function session:get(url, options) end

---As `http.head`, in this session. *Yields.*
---@async
---@param url string|http.url
---@param options? http.options
---@return http.response|nil response
---@return http.error? err
function session:head(url, options) end

---As `http.post`, in this session. *Yields.*
---@async
---@param url string|http.url
---@param options? http.options
---@return http.response|nil response
---@return http.error? err
function session:post(url, options) end

---As `http.put`, in this session. *Yields.*
---@async
---@param url string|http.url
---@param options? http.options
---@return http.response|nil response
---@return http.error? err
function session:put(url, options) end

---As `http.patch`, in this session. *Yields.*
---@async
---@param url string|http.url
---@param options? http.options
---@return http.response|nil response
---@return http.error? err
function session:patch(url, options) end

---As `http.delete`, in this session. *Yields.*
---@async
---@param url string|http.url
---@param options? http.options
---@return http.response|nil response
---@return http.error? err
function session:delete(url, options) end

---As `http.options`, in this session. *Yields.*
---@async
---@param url string|http.url
---@param options? http.options
---@return http.response|nil response
---@return http.error? err
function session:options(url, options) end

---As `http.send`, in this session. *Yields.*
---@async
---@param request http.request|http.options
---@param options? http.options
---@return http.response|nil response
---@return http.error? err
function session:send(request, options) end

---A task: one request, with its redirects, until its response. It is made suspended. The verbs (`http.get` and so on) are
---tasks with a completion: of the delegate's handlers they call `did_create_task`, `will_perform_redirection`,
---the challenge handlers, `need_new_body_stream`, `did_send_body_data`, `did_receive_informational_response` and
---`did_finish_collecting_metrics`, but not those for the response, the data and the completion.
---`priority`, `description` and `user_info` may be set. The other fields are for looking at; to set one that has no value
---yet, or one of a completed task's counts and metrics, is an error.
---@class http.task
---@field identifier integer Within its session.
---@field kind "data"|"upload"|"download"|"stream"|"web_socket"
---@field state "running"|"suspended"|"canceling"|"completed"
---@field session http.session
---@field original_request http.request A copy: to change it does not change what is sent.
---@field current_request http.request Another one after a redirect.
---@field response http.response|nil From when its head has come in.
---@field error http.error|nil Once completed.
---@field count_of_bytes_received integer Of the body, as transferred (before decompression), so far.
---@field count_of_bytes_sent integer Of the body, so far; of all its sendings where it had to be sent again (after a challenge, a 307 or 308).
---@field count_of_bytes_expected_to_receive integer Or `http.TRANSFER_SIZE_UNKNOWN`.
---@field count_of_bytes_expected_to_send integer Or `http.TRANSFER_SIZE_UNKNOWN`.
---@field priority number 0 to 1 (default 0.5): its place in the queue for its host, and the weight of its stream in HTTP/2. May be set at any time.
---@field description string|nil For the script's own use.
---@field user_info any For the script's own use.
---@field metrics http.metrics|nil Once completed.
---@field became http.task|nil What a data task has become.
local task = {}

---Starts the task, or takes back one `suspend`.
function task:resume() end

---Pauses the transfer, its handlers' calls and its time limits. Calls nest.
function task:suspend() end

---Ends the task with `cancelled`.
function task:cancel() end

---Cancels a download task and gives what another one can go on with: resume data, a string that may be written to a file
---and used more than once; nil where that cannot be done (nothing has come, or the server's response has no strong
---validator). *Yields* when it is given no function.
---@async
---@param fn? fun(resume_data: string|nil)
---@return string|nil resume_data Without a function.
function task:cancel_by_producing_resume_data(fn) end

---Waits until the task is completed and its last handler has returned. *Yields.*
---@async
---@return http.response|nil response
---@return http.error? err
function task:wait() end

---A new task for the same request, suspended.
---@return http.task
function task:copy() end

---Handlers of a session: a table with any of these functions. They are called without a self. Those of one task run one
---after the other; each may wait, and the transfer waits with it. A handler that returns nothing asks for what would be
---done without it. An error raised in one cancels the task with the code `handler_error` (domain "script"). A handler
---that still waits for something, by a `coroutine.yield()` of its own too, when its task is cancelled or timed out is
---interrupted there (`cancelled` is raised), unless it cancelled the task itself; each further wait in it then fails the
---same way, and one that goes on trying is left where it is, its to-be-closed variables closed. A session is not made with
---a handler that is no function, nor with a function whose name is a slip away from a handler's; what else the table has is
---the script's own.
---@class http.delegate
---@field task_is_waiting_for_connectivity? fun(session: http.session, task: http.task) Once for a task that waits for a network.
---@field session_did_receive_challenge? fun(session: http.session, challenge: http.challenge): http.disposition|nil, http.credential? Challenges that concern a connection: `server_trust`, `client_certificate`, `ntlm`, `negotiate`.
---@field did_become_invalid? fun(session: http.session, err: http.error|nil)
---@field did_finish_events_for_background_session? fun(session: http.session) Tasks of a background session have ended, all handlers have been told, and nothing is under way.
---@field did_create_task? fun(session: http.session, task: http.task)
---@field will_perform_redirection? fun(session: http.session, task: http.task, response: http.response, request: http.request): http.request|false|nil The request to go on with; false to deliver the redirect itself.
---@field did_receive_challenge? fun(session: http.session, task: http.task, challenge: http.challenge): http.disposition|http.request|nil, http.credential? All other challenges, and those too where `session_did_receive_challenge` is absent: `server_trust` for every https connection, which fails unless the answer is nothing, default handling or a credential with the trust. A request takes the challenged one's place.
---@field need_new_body_stream? fun(session: http.session, task: http.task): http.reader|{ file: string }|string The body of an upload task with `stream`, and of any task whose reader function would have to be read once more. Asked each time the body must be sent anew, whatever it gave before; where it gives nothing, the task fails with `request_body_stream_exhausted`.
---@field did_send_body_data? fun(session: http.session, task: http.task, sent: integer, total: integer, expected: integer) `total` is of this sending: it begins again where the body has to be sent again.
---@field did_receive_informational_response? fun(session: http.session, task: http.task, response: http.response) A 1xx response.
---@field did_receive_response? fun(session: http.session, task: http.task, response: http.response): "allow"|"cancel"|"become_download"|"become_stream"|nil Not for download tasks. "become_stream" is for 101, and for a 2xx without an end of its own that answers CONNECT or a request with an Upgrade field; else the new task fails with `bad_server_response`.
---@field did_become_download_task? fun(session: http.session, task: http.task, download: http.task) The last one for the data task, whose `wait` returns the new one; all of the body goes to the download's file.
---@field did_become_stream_task? fun(session: http.session, task: http.task, stream: http.stream_task) The last one for the data task, whose `wait` returns the new one.
---@field did_open? fun(session: http.session, task: http.web_socket_task, protocol: string|nil) A WebSocket is open.
---@field did_close? fun(session: http.session, task: http.web_socket_task, code: integer, reason: string) The server's close frame has come.
---@field did_receive_data? fun(session: http.session, task: http.task, data: string)
---@field read_closed? fun(session: http.session, task: http.stream_task) The other side sends no more, or the input was closed; what has come can still be read.
---@field write_closed? fun(session: http.session, task: http.stream_task) The output was closed.
---@field better_route_discovered? fun(session: http.session, task: http.stream_task) The network has changed, and a new connection to the other side would leave from another of this machine's addresses. Of stream tasks that were made as such, unless the configuration names an `interface`.
---@field did_become_streams? fun(session: http.session, task: http.stream_task, input: http.stream_input, output: http.stream_output) The last one for a task whose streams were captured.
---@field did_resume_at_offset? fun(session: http.session, task: http.task, offset: integer, expected: integer) A download goes on there; what is expected is the whole file.
---@field will_cache_response? fun(session: http.session, task: http.task, cached: http.cached_response): http.cached_response|false|nil The response has come whole and is to be stored: as it is returned (it may be changed), or not at all (false).
---@field did_write_data? fun(session: http.session, task: http.task, written: integer, total: integer, expected: integer) A download task's body goes into its file: bytes (as transferred) since the last call, in all, and expected.
---@field did_finish_downloading? fun(session: http.session, task: http.task, location: string) A download task's file is whole. Move or read it here: it is removed on return.
---@field did_finish_collecting_metrics? fun(session: http.session, task: http.task, metrics: http.metrics)
---@field did_complete? fun(session: http.session, task: http.task, err: http.error|nil) The last one for a task.
