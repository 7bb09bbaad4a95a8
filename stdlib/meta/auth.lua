---@meta http.auth

---Authenticators: what the option `auth` of a call takes besides a name and password.
---
---    local auth = require "http.auth"
---    local token = auth.token { fetch = function(session) return fetch_token(session) end }
---    local r = assert(http.get(url, { auth = token }))
local auth = {}

---What the option `auth` takes: a table with one of these methods, or both. They may wait.
---@class http.authenticator
---@field prepare? fun(self: http.authenticator, session: http.session, request: http.request): nil, http.error? Called before each request is sent, which it may change; with an error the call fails.
---@field challenge? fun(self: http.authenticator, session: http.session, task: http.task, challenge: http.challenge): http.disposition|http.request|nil, http.credential? Answers challenges; where it returns nothing, the delegate is asked. A 401 that names no scheme comes as a challenge of the method "default".

---Options of `auth.token`.
---@class http.auth.token.options
---@field fetch? fun(session: http.session, challenge: http.challenge|nil): string|nil, number|http.error|string|nil Gets a token, and for how many seconds it is good; or nil and why not. The challenge is the one that made it necessary.
---@field token? string The first token.
---@field scheme? string The scheme's name (default "Bearer").
---@field early? boolean Fetch before the first request is sent, instead of waiting for a challenge (default false).

---Options of `auth.aws_sigv4`.
---@class http.auth.aws_sigv4.options
---@field access_key string
---@field secret_key string
---@field session_token? string
---@field region string
---@field service string
---@field sign_body? boolean Also says the body's digest in a field, as S3 asks for (default: for the service "s3").
---@field now? fun(): number Unix seconds (default: the system's clock).
---@field normalize_path? boolean Undo dot segments and double slashes in the path that is signed (default: not for the service "s3").

---Whether a value is an authenticator.
---@param value any
---@return boolean
function auth.is(value) end

---An authenticator for tokens. The token goes along with each request; one that is refused or too old is replaced by a
---new one. However many calls need it at once, it is fetched once.
---@param options http.auth.token.options
---@return http.authenticator
function auth.token(options) end

---An authenticator that calls a function before each request is sent, to sign it. The function may return nil and an
---error.
---@param fn fun(request: http.request): nil, http.error?
---@return http.authenticator
function auth.signer(fn) end

---An authenticator that signs requests with the AWS Signature Version 4.
---@param options http.auth.aws_sigv4.options
---@return http.authenticator
function auth.aws_sigv4(options) end

---Makes a function of one: calls that come while it runs wait for its results instead of running it again.
---@param fn fun(...: any): any
---@return fun(...: any): any
function auth.single_flight(fn) end

return auth
