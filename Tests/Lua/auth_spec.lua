local reader = require "json_reader"

return function(t)
  local it, expect = t.it, t.expect
  local http = require "http"
  local auth = require "http.auth"
  local digest = require "http.digest"

  -- A vector's request as method, target, fields and body.
  local function request_of(row)
    if row.parsed then
      local fields = {}
      for i, pair in ipairs(row.parsed.headers) do fields[i] = { pair[1], pair[2] } end
      return row.parsed.method, row.parsed.target, fields, row.parsed.body
    end
    local head, body = row.req:match("^(.-)\n\n(.*)$")
    head = head or row.req
    local method, target = head:match("^(%u+) (.-) HTTP")
    local fields = {}
    for line in head:gsub("^[^\n]*\n?", ""):gmatch("[^\n]+") do
      local name, value = line:match("^([^:%s]+):(.*)$")
      if name then
        fields[#fields + 1] = { name, value }
      else
        fields[#fields][2] = fields[#fields][2] .. " " .. line
      end
    end
    return method, target, fields, body
  end

  local function seconds(timestamp)
    local year, month, day, hour, minute, second = timestamp:match("(%d+)-(%d+)-(%d+)T(%d+):(%d+):(%d+)")
    return http.parse_date(("%s, %s %s %s %s:%s:%s GMT"):format("Sun", day, ({ "Jan", "Feb", "Mar", "Apr", "May", "Jun",
      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" })[tonumber(month)], year, hour, minute, second))
  end

  -- Those that sign in the query are another thing, and dot segments never reach the wire.
  local rows = {}
  for _, row in ipairs(reader.read(t.fixtures .. "sigv4.json")) do
    local _, target = request_of(row)
    local is_dotted = target:find("/%.") and row.context.normalize == false
    if not is_dotted and (row.header_signature or row.authz) then rows[#rows + 1] = row end
  end

  t.suite("AWS Signature Version 4", rows, #rows, function(row)
    local method, target, fields, body = request_of(row)
    local request = http.request { url = "http://example.amazonaws.com/", method = method, headers = fields }
    request.url = "http://example.amazonaws.com" .. target
    if body and body ~= "" then request.body = body end
    local context = row.context
    local signer = auth.aws_sigv4 {
      access_key = context.credentials.access_key_id, secret_key = context.credentials.secret_access_key,
      session_token = context.credentials.token
        or (row.creq or ""):match("security%-token:(%S+)"), region = context.region, service = context.service,
      sign_body = context.sign_body == true, normalize_path = context.normalize ~= false,
      now = function() return seconds(context.timestamp) end,
    }
    local _, err = signer:prepare(nil, request)
    if err then return false end
    local signature = request.headers["Authorization"]:match("Signature=(%x+)")
    return signature == (row.header_signature or row.authz:match("Signature=(%x+)"))
  end)

  it("makes digests of bytes", function()
    expect(digest.hex(digest.md5 "")):equals("d41d8cd98f00b204e9800998ecf8427e")
    expect(digest.hex(digest.sha1 "abc")):equals("a9993e364706816aba3e25717850c26c9cd0d89d")
    expect(digest.hex(digest.sha256 "\0")):equals("6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d")
    expect(#digest.sha384 ""):equals(48)
    expect(#digest.sha512 ""):equals(64)
    expect(digest.hex(digest.hmac("sha256", "Jefe", "what do ya want for nothing?"))):equals(
      "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
    expect(digest.hex(digest.hmac("md5", "", ""))):equals("74e6f7298a9c2d168935f58c001bad88")
  end)

  it("writes bytes as text and back", function()
    expect(digest.hex "\0\255"):equals("00ff")
    expect(digest.unhex "00fF"):equals("\0\255")
    expect(digest.unhex "0"):equals(nil)
    expect(digest.unhex "0g"):equals(nil)
    expect(digest.base64 "a\0"):equals("YQA=")
    expect(digest.unbase64 "YQA"):equals("a\0")
    expect(digest.unbase64 "*"):equals(nil)
  end)

  it("has random bytes, and compares without telling where", function()
    expect(#digest.random(0)):equals(0)
    expect(#digest.random(32)):equals(32)
    expect(digest.random(16) == digest.random(16)):equals(false)
    expect(digest.equal("abc", "abc")):equals(true)
    expect(digest.equal("abc", "abd")):equals(false)
    expect(digest.equal("abc", "ab")):equals(false)
  end)

  it("names what is wrong", function()
    local function message(fn, ...) return select(2, pcall(fn, ...)):gsub("^[^:]*:%d+: ", "") end
    expect(message(digest.sha256, 1)):equals("argument #1 of digest.sha256 must be string, not number")
    expect(message(digest.hmac, "sha265", "", "")):equals("unknown algorithm 'sha265' (did you mean 'sha256'?)")
    expect(message(digest.random, -1)):equals("argument #1 of digest.random must be from 0 to 1048576")
    expect(message(auth.token, {})):equals("auth.token needs a 'fetch' or a 'token'")
    expect(message(auth.aws_sigv4, { access_key = "a" })):equals("aws_sigv4 needs a 'secret_key'")
  end)

  it("shows no secret", function()
    expect(tostring(auth.token { token = "secret" })):equals("http.auth.token: Bearer ***")
    expect(tostring(auth.aws_sigv4 { access_key = "a", secret_key = "b", region = "r", service = "s" }))
      :equals("http.auth.aws_sigv4: s in r")
  end)

  it("knows an authenticator", function()
    expect(auth.is(auth.token { token = "t" })):equals(true)
    expect(auth.is(auth.signer(print))):equals(true)
    expect(auth.is { user = "u", password = "p" }):equals(false)
    expect(auth.is(nil)):equals(false)
  end)

  it("runs one flight at a time", function()
    local runs = 0
    local fly = auth.single_flight(function(value)
      runs = runs + 1
      http.sleep(0.01)
      return value, runs
    end)
    local results = http.map({ 1, 2, 3, 4 }, 4, function(value) return (fly(value)) end)
    expect(table.concat(results, " ")):equals("1 1 1 1")
    expect(runs):equals(1)
    expect(fly(5)):equals(5)
  end)

  it("lets the next one fly when a flight fails", function()
    local runs = 0
    local fly = auth.single_flight(function()
      runs = runs + 1
      http.sleep(0.01)
      if runs == 1 then error("down", 0) end
      return runs
    end)
    local jobs = {}
    for i = 1, 3 do jobs[i] = http.spawn(function() return pcall(fly) end) end
    local outcomes = {}
    for i = 1, 3 do
      local ok, value = jobs[i]:wait()
      outcomes[i] = ("%s %s"):format(ok, value)
    end
    expect(table.concat(outcomes, ", ")):equals("false down, true 2, true 2")
  end)
end
