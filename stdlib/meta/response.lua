---@meta http.response

---A response. A status of 400 or more is a response too, not an error.
---@class http.response
---@field status integer
---@field reason string The text behind the status; empty in HTTP/2.
---@field http_version string As in "1.1", "2".
---@field url string The final URL, fragment included.
---@field headers http.headers
---@field body string|nil The bytes, empty when there were none; nil when they went elsewhere (`sink`, `did_receive_data`, a download task's file).
---@field location string|nil The path of a download task's file, as long as it is there.
---@field mime_type string|nil The media type in lower case, without parameters.
---@field text_encoding_name string|nil The charset that Content-Type names, as written.
---@field expected_content_length integer What Content-Length says, or `http.TRANSFER_SIZE_UNKNOWN`.
---@field suggested_filename string A safe name for a file: without a directory part, never empty.
---@field redirects http.redirect[] The hops that led here.
---@field from_cache boolean It is a stored response, perhaps one that the server has just confirmed.
---@field metrics http.metrics|nil
local response = {}

---The body as a JSON value.
---@param options? json.decode_options
---@return any value
---@return http.error? err Of domain "json", with `line` and `column`.
function response:json(options) end

---The body as text in UTF-8, converted from the charset of its byte order mark, Content-Type, or an HTML meta element.
---@return string|nil text
---@return http.error? err
function response:text() end

---The body as an HTML document.
---@return html.document|nil document
---@return http.error? err
function response:html() end

---The body as an XML document.
---@return html.document|nil document
---@return http.error? err
function response:xml() end

---The links in Link header fields (RFC 8288), with absolute URLs.
---@return http.link[]
function response:links() end

---Makes an error of a status or type that is not wanted.
---@param wanted? { status?: integer|integer[]|{ from: integer, to: integer }|fun(status: integer): boolean, type?: string|string[] } Default: status 200 to 299. In `type`, "*" stands for anything, as in "text/*".
---@return http.response|nil response Itself.
---@return http.error? err `bad_server_response`, or `cannot_parse_response` for the type.
function response:validate(wanted) end

---Writes the body to a file, under a temporary name until it is whole. The file of a download task is moved there, to
---another file system too, and `location` says so.
---@param path string
---@return string|nil path
---@return http.error? err Of domain "file".
function response:save(path) end

---One redirect that was followed.
---@class http.redirect
---@field status integer
---@field from string
---@field to string
---@field url string The same as `to`.

---A link of a Link header field.
---@class http.link
---@field url string Absolute.
---@field rel string|nil The relation as written; several are separated by spaces.
---@field rels string[] The relations, one by one.
---@field params table<string, string> All parameters, by lower-case name.

---Measurements of a task.
---@class http.metrics
---@field task_interval { start: number, duration: number } Unix seconds, and seconds.
---@field redirect_count integer
---@field transaction_metrics http.transaction_metrics[] One for each hop.

---Measurements of one hop. Times are Unix seconds; those of what did not happen are nil.
---@class http.transaction_metrics
---@field request { method: string, url: string }
---@field response { status: integer, url: string }|nil
---@field fetch_start number|nil
---@field domain_lookup_start number|nil
---@field domain_lookup_end number|nil
---@field connect_start number|nil
---@field connect_end number|nil
---@field secure_connection_start number|nil
---@field secure_connection_end number|nil
---@field request_start number|nil
---@field request_end number|nil
---@field response_start number|nil
---@field response_end number|nil
---@field network_protocol_name string|nil As in "http/1.1", "h2".
---@field is_proxy_connection boolean
---@field is_reused_connection boolean
---@field resource_fetch_type "network_load"|"local_cache"
---@field count_of_request_header_bytes_sent integer
---@field count_of_request_body_bytes_sent integer
---@field count_of_response_header_bytes_received integer
---@field count_of_response_body_bytes_received integer
---@field local_address string
---@field local_port integer
---@field remote_address string
---@field remote_port integer
---@field negotiated_tls_protocol_version string|nil
---@field negotiated_tls_cipher_suite string|nil

---An error. `tostring(err)` is one line for people; `assert(nil, err)` prints that line. The codes of domain "url":
---
---* the request: `bad_url` (no URL, or a line break in a header or method), `unsupported_url` (a scheme other than http
---  and https), `request_body_stream_exhausted` (a reader function that was needed twice);
---* the connection: `cannot_find_host`, `cannot_connect_to_host`, `network_connection_lost` (it ended before the response
---  was whole), `not_connected_to_internet` (no route), `timed_out`;
---* TLS: `secure_connection_failed`, `server_certificate_untrusted`, `server_certificate_has_unknown_root`,
---  `server_certificate_has_bad_date`, `server_certificate_not_yet_valid`, `client_certificate_required`,
---  `client_certificate_rejected`;
---* the answer: `cannot_parse_response` (no HTTP; or `response:validate` with a type), `bad_server_response` (damaged
---  framing; or `response:validate` with a status), `cannot_decode_content_data` (a damaged content coding or text),
---  `checksum_mismatch` (the option `checksum`, or a digest that the server sent with it),
---  `data_length_exceeds_maximum` (`max_body`), `http_too_many_redirects`, `redirect_to_nonexistent_location`,
---  `resource_unavailable` (nothing stored, or a body that was not kept);
---* resume data: `cannot_decode_raw_data` (damaged, or of a later version);
---* the script: `cancelled`; `unknown` for what has no name, with libcurl's own words in `underlying`.
---
---Files (a body, a part, a sink; `response:save` has the domain "file"): `file_does_not_exist`, `file_is_directory`,
---`no_permissions_to_read_file`, `cannot_open_file`, `cannot_create_file`, `cannot_write_to_file`, `cannot_move_file`.
---Domain "script": `handler_error` (a handler, reader, sink or progress function raised), `job_error` (the function of a
---job raised); `value` is what was raised. Domain "json": `syntax`, `premature_end`, `duplicate_key`,
---`number_out_of_range`, `invalid_utf8`, `depth`, `cycle`, `invalid_value`, `invalid_pointer`, `not_found`.
---@class http.error
---@field domain "url"|"file"|"json"|"html"|"xml"|"script"|"crawl"
---@field code string In domain "url" Apple's NSURLError names, as in `timed_out`, `cannot_find_host`, `cancelled`.
---@field message string
---@field url string|nil Without user and password.
---@field task http.task|nil
---@field underlying { source: string, code: integer, message: string }|nil libcurl's or the system's own number and text.
---@field response http.response|nil Where one had begun.
---@field resume_data string|nil What a download task can go on with that takes up where this one stopped. The bytes so far outlive the process once a script has looked at it.
---@field value any What a handler raised (domain "script").
---@field line integer|nil Where a JSON or XML text is wrong.
---@field column integer|nil
---@field position integer|nil In bytes, from 1.
