---@meta http.security

---How servers' certificates are judged beyond the usual verification, made by `http.security_policy`. A configuration
---takes a plain table of these fields too. Files are read when a session first speaks to a host; one that cannot be read
---fails its tasks.
---@class http.security_policy
---@field pinning? "none"|"public_key"|"certificate" What a certificate of the server's chain must have in common with one of `certificates` (default "none").
---@field certificates? string[] What is pinned, each as the path of a file (PEM or DER), PEM text, or "sha256//" and the Base64 of a SHA-256: of the public key as in RFC 7469, of the whole certificate where certificates are pinned.
---@field allow_invalid_certificates? boolean Certificates that are expired, revoked or of unknown authorities will do; with `pinning`, those that are pinned (default false).
---@field validates_domain_name? boolean The certificate must be for the host (default true).
---@field hosts? table<string, http.security_policy> Other policies for some hosts, by name, or by "*." and a domain for all below it; the longest pattern counts.

---What may be asked for in clear text (App Transport Security), of each hop of a redirect too. What may not fails with
---`app_transport_security_requires_secure_connection`, and nothing is sent.
---@class http.transport_security
---@field allows_arbitrary_loads? boolean Hosts without an exception may be asked in clear text (default true).
---@field exceptions? table<string, http.transport_security.exception> By host: what holds there in place of the rest.
---@field minimum_tls? "1.0"|"1.1"|"1.2"|"1.3" The least TLS; where https is required, "1.2" unless said.

---A host that has an exception is asked by https unless that says otherwise.
---@class http.transport_security.exception
---@field include_subdomains? boolean It holds for all hosts below as well (default false).
---@field allows_insecure_http_loads? boolean Clear text is allowed (default false).
---@field minimum_tls? "1.0"|"1.1"|"1.2"|"1.3"

---A certificate of our own, shown to servers that ask for one.
---@class http.client_certificate
---@field certificate string A path: PEM, with further certificates of the chain if need be, or PKCS#12.
---@field key? string The path of the key, where it is not in the same file.
---@field password? string Of the key, or of the PKCS#12 file.

---A server's certificates, and the verdict on them. In a challenge about a server that is trusted anyway, `error` of the
---challenge is nil.
---@class http.server_trust
---@field host string
---@field port integer
---@field certificates http.certificate[] The chain, the server's own first.
---@field verdict http.server_trust.verdict

---What verification and the session's policy say.
---@class http.server_trust.verdict
---@field trusted boolean
---@field code integer OpenSSL's number for what is wrong first; 0 where nothing is.
---@field text string OpenSSL's words for it.
---@field error string|nil The code of the error that it comes to.
---@field problems { code: integer, depth: integer, text: string, error: string }[] All that the verifier found wrong, with the place in the chain (0: the server's own).
---@field revocation "good"|"revoked"|"not_known" What the stapled OCSP response says: "not_known" too where it is out of date or, without a time of the next one, older than ten days.
---@field revoked_at number|nil Unix seconds.

---An X.509 certificate.
---@class http.certificate
---@field subject string As in RFC 4514: "CN=example.org,O=Example".
---@field issuer string
---@field not_before number Unix seconds.
---@field not_after number Unix seconds.
---@field serial string In hexadecimal.
---@field sha256 string Of the certificate, in hexadecimal.
---@field public_key_sha256 string Of the public key, in hexadecimal.
---@field public_key_pin string The same as a pin: "sha256//" and Base64.
---@field pem string
---@field subject_alternative_names string[] "DNS:example.org", "IP:127.0.0.1", "email:…", "URI:…".
