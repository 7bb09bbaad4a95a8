-- Digests, keyed digests and random bytes, for schemes that sign requests. Everything is bytes; `hex` and `base64` make
-- text of them.

local native = require "httpscript.digest"
local options = require "http.options"
local text = require "httpscript.text"

local digest = {}

local ALGORITHMS = { md5 = true, sha1 = true, sha256 = true, sha384 = true, sha512 = true }

local function refused(algorithm) error("the TLS library refuses " .. algorithm, 0) end

for algorithm in pairs(ALGORITHMS) do
  digest[algorithm] = function(bytes)
    options.expect(bytes, "string", "argument #1 of digest." .. algorithm)
    return native.digest(algorithm, bytes) or refused(algorithm)
  end
end

-- digest.hmac(algorithm, key, bytes) -> bytes (RFC 2104).
function digest.hmac(algorithm, key, bytes)
  options.expect_word(algorithm, ALGORITHMS, "algorithm")
  options.expect(key, "string", "argument #2 of digest.hmac (the key)")
  options.expect(bytes, "string", "argument #3 of digest.hmac")
  return native.hmac(algorithm, key, bytes) or refused(algorithm)
end

-- digest.hex(bytes) -> text in lower case.
function digest.hex(bytes)
  options.expect(bytes, "string", "argument #1 of digest.hex")
  return (bytes:gsub(".", function(byte) return ("%02x"):format(byte:byte()) end))
end

-- digest.unhex(text) -> bytes | nil when it is none.
function digest.unhex(given)
  options.expect(given, "string", "argument #1 of digest.unhex")
  if #given % 2 ~= 0 or given:find("%X") then return nil end
  return (given:gsub("..", function(pair) return string.char(tonumber(pair, 16)) end))
end

-- digest.base64(bytes) -> text, padded, on one line.
function digest.base64(bytes)
  options.expect(bytes, "string", "argument #1 of digest.base64")
  return text.base64(bytes)
end

-- digest.unbase64(text) -> bytes | nil when it is none.
function digest.unbase64(given)
  options.expect(given, "string", "argument #1 of digest.unbase64")
  return (text.unbase64(given))
end

-- digest.random(count) -> so many bytes nobody can foretell.
function digest.random(count)
  options.expect(count, "integer", "argument #1 of digest.random")
  if count < 0 or count > 1 << 20 then options.misuse("argument #1 of digest.random must be from 0 to 1048576") end
  return native.random(count) or error("the system has no random bytes", 0)
end

-- digest.equal(a, b): compares in a time that does not tell where they differ.
function digest.equal(a, b)
  options.expect(a, "string", "argument #1 of digest.equal")
  options.expect(b, "string", "argument #2 of digest.equal")
  if #a ~= #b then return false end
  local difference = 0
  for i = 1, #a do difference = difference | (a:byte(i) ~ b:byte(i)) end
  return difference == 0
end

return digest
