---@meta http.digest

---Digests, keyed digests and random bytes, for schemes that sign requests. Digests are bytes; `hex` and `base64` make text
---of them.
local digest = {}

---MD5, for what still asks for it; not for anything that must hold against an attacker.
---@param bytes string
---@return string digest 16 bytes.
function digest.md5(bytes) end

---SHA-1, for what still asks for it; not for anything that must hold against an attacker.
---@param bytes string
---@return string digest 20 bytes.
function digest.sha1(bytes) end

---SHA-256.
---@param bytes string
---@return string digest 32 bytes.
function digest.sha256(bytes) end

---SHA-384.
---@param bytes string
---@return string digest 48 bytes.
function digest.sha384(bytes) end

---SHA-512.
---@param bytes string
---@return string digest 64 bytes.
function digest.sha512(bytes) end

---A keyed digest (HMAC, RFC 2104).
---@param algorithm "md5"|"sha1"|"sha256"|"sha384"|"sha512"
---@param key string
---@param bytes string
---@return string code As long as the algorithm's digest.
function digest.hmac(algorithm, key, bytes) end

---Bytes in hexadecimal, in lower case.
---@param bytes string
---@return string
function digest.hex(bytes) end

---The bytes of a hexadecimal text.
---@param text string
---@return string|nil bytes nil when it is none.
function digest.unhex(text) end

---Bytes in Base64 (RFC 4648), padded, on one line.
---@param bytes string
---@return string
function digest.base64(bytes) end

---The bytes of a Base64 text. Padding may be missing, and the alphabet for URLs is understood.
---@param text string
---@return string|nil bytes nil when it is none.
function digest.unbase64(text) end

---Bytes that nobody can foretell.
---@param count integer 0 to 1048576.
---@return string
function digest.random(count) end

---Compares two secrets in a time that does not tell where they differ.
---@param a string
---@param b string
---@return boolean
function digest.equal(a, b) end

return digest
