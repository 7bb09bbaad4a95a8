---@meta http.challenge

---What a challenge is answered with, made by `http.credential`. Its text shows no secret.
---@class http.credential
---@field user string|nil
---@field password string|nil
---@field token string|nil
---@field certificate string|nil A path.
---@field key string|nil A path.
---@field trust http.server_trust|nil
---@field persistence "none"|"for_session"|"permanent"

---Fields that make a credential: one of `user`, `token`, `certificate`, `trust`, and what belongs to it.
---@class http.credential.fields
---@field user? string For Basic, Digest, NTLM (bytes of any encoding, sent as they are; no control characters); for Negotiate, "" where the system's ticket is to be used.
---@field password? string Of the user (default ""; as the user), or of the key.
---@field token? string For Bearer, and for schemes of other names that take a token the same way. No control characters.
---@field certificate? string The path of a client certificate.
---@field key? string The path of its key.
---@field trust? http.server_trust The server's certificates, as a challenge showed them.
---@field persistence? "none"|"for_session"|"permanent" How long it may be kept (default "for_session").

---What credentials are for.
---@class http.protection_space
---@field host string
---@field port integer
---@field protocol "http"|"https" Of the proxy, where that asks.
---@field realm string|nil Bytes, as the server sent them.
---@field authentication_method string "basic", "digest", "ntlm", "negotiate", "bearer", "server_trust", "client_certificate" or the scheme's own name, in lower case.
---@field is_proxy boolean
---@field parameters table<string, string> The challenge's own, names in lower case; `token68` where it is one token.

---A question for credentials. The challenges of a response are asked about one by one, the strongest first: Negotiate,
---Digest (SHA-256 before MD5), NTLM, Bearer and schemes of other names, Basic.
---@class http.challenge
---@field protection_space http.protection_space
---@field proposed_credential http.credential|nil What would be used by default: never what has just been refused.
---@field previous_failure_count integer How often this task's credentials have been refused in this space: a handler's, the storage's, and those of its `auth`, its URL and the proxy's. (What the session was let in with before, and is not any more, does not count.)
---@field failure_response http.response|nil The 401 or 407, without its body; nil where a connection is challenged.
---@field error http.error|nil What the connection fails with unless the challenge is answered.

---A handler's word on a challenge. `use_credential` needs a credential; without one, or with the one that has just been
---refused, the response is delivered. One of a kind that the challenge does not take (Basic, Digest, NTLM and Negotiate
---take a user, Basic one without a colon, all other schemes of HTTP a token) is as `reject_protection_space` where
---another challenge of the response takes it, else a `handler_error`. `reject_protection_space` asks about the next
---challenge of the same response. `cancel_authentication_challenge` ends the task with `user_cancelled_authentication`.
---@alias http.disposition "use_credential"|"perform_default_handling"|"cancel_authentication_challenge"|"reject_protection_space"
