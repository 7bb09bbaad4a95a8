-- Goes once through everything that crosses the borders between Lua, Swift and C. scripts/check --sanitize runs it
-- under valgrind, against httpbin.
--
-- Usage: httpscript sanitize.lua ORIGIN
-- Prints one line per part and "done"; any unexpected result is an error and exit status 1.

local crawl = require "http.crawl"
local html = require "http.html"
local http = require "http"
local json = require "json"
local robots = require "http.robots"
local url = require "http.url"
local xml = require "http.xml"

local origin = assert(arg[1], "usage: sanitize.lua ORIGIN")

-- Long enough for a server and a client that valgrind slows down.
local PATIENCE = 60

local function equal(actual, expected, what)
  if actual ~= expected then
    error(("%s: expected %s, got %s"):format(what, expected, actual), 2)
  end
end

local function fails(code, value, err)
  if value ~= nil then error("expected " .. code .. ", got a value", 2) end
  equal(err.code, code, tostring(err))
end

local function raises(pattern, fn, ...)
  local ok, message = pcall(fn, ...)
  if ok or not tostring(message):find(pattern) then error(("expected '%s', got %s"):format(pattern, message), 2) end
end

local scratch = {}
local function scratch_file(content)
  local name = os.tmpname()
  scratch[#scratch + 1] = name
  local file <close> = assert(io.open(name, "wb"))
  assert(file:write(content or ""))
  return name
end

local function content_of(path)
  local file <close> = assert(io.open(path, "rb"))
  return file:read("a")
end

local parts = {}
local function part(name, fn) parts[#parts + 1] = { name = name, fn = fn } end

-- One call -----------------------------------------------------------------------------------------------------------

part("bodies", function()
  local path = scratch_file(("file "):rep(20000))
  local pieces = { "a reader's ", "", "body" }
  local bodies = {
    { body = "text\0and more" }, { body = "" }, { body = { file = path } },
    { body = function() return table.remove(pieces, 1) end },
    { json = { list = { 1, 2.5, "ü", json.null }, empty = json.array {} } },
    { form = { { "a", "1" }, { "a", "ü & b" } } },
    { multipart = {
      { name = "plain", data = "in memory" }, { name = "disk", file = path, headers = { ["X-Part"] = "2" } },
    } },
    {},
  }
  for index, options in ipairs(bodies) do
    for _, method in ipairs { "post", "put", "patch" } do
      if method == "post" or not (options.body and type(options.body) == "function") then
        options.timeout = PATIENCE
        local response = assert(http[method](origin .. "/anything", options))
        equal(response.status, 200, "body " .. index)
        equal(assert(response:json()).method, method:upper(), "method of body " .. index)
      end
    end
  end
  equal(assert(http.get(origin .. "/get", { query = { q = { 1, "ü" } } }):json()).args.q[2], "ü", "query")
  equal(#assert(http.head(origin .. "/get")).body, 0, "HEAD")
  equal(assert(http.delete(origin .. "/delete")).status, 200, "DELETE")
end)

part("codings", function()
  for _, coding in ipairs { "gzip", "deflate", "brotli" } do
    assert(assert(http.get(origin .. "/" .. coding)):json())
    assert(#assert(http.get(origin .. "/" .. coding, { decompress = false })).body > 0)
  end
  equal(#assert(http.get(origin .. "/stream-bytes/70000", { query = { chunk_size = 999 } })).body, 70000, "chunks")
  local typed = assert(http.get(origin .. "/response-headers?Content-Type=text/x;charset%3Dlatin1"))
  equal(typed:text():sub(1, 1), "{", "text")
end)

part("authentication", function()
  equal(assert(http.get(origin .. "/basic-auth/u/p", { auth = { user = "u", password = "p" } })).status, 200, "Basic")
  local digest = { user = "u", password = "p", scheme = "digest" }
  equal(assert(http.get(origin .. "/digest-auth/auth/u/p", { auth = digest })).status, 200, "Digest")
  digest.password = "wrong"
  equal(assert(http.get(origin .. "/digest-auth/auth/u/p", { auth = digest })).status, 401, "wrong password")
  equal(assert(http.get(origin .. "/bearer", { auth = { bearer = "token" } })).status, 200, "bearer")
end)

part("redirects", function()
  local response = assert(http.get(origin .. "/redirect/3"))
  equal(#response.redirects, 3, "hops")
  equal(response.redirects[1].status, 302, "hop")
  local target = origin .. "/redirect-to?url=/anything&status_code="
  equal(assert(assert(http.post(target .. 307, { body = "kept" })):json()).data, "kept", "307")
  equal(assert(assert(http.post(target .. 303, { body = "dropped" })):json()).method, "GET", "303")
  equal(assert(http.get(origin .. "/redirect/1", { redirects = false })).status, 302, "not followed")
  fails("http_too_many_redirects", http.get(origin .. "/redirect/3", { redirects = 2 }))
  local pieces = { "once" }
  local again, err = http.post(target .. 307, { body = function() return table.remove(pieces) end })
  -- A server that answers before the body has begun leaves the reader whole.
  if again then
    equal(assert(again:json()).data, "once", "a reader that was not begun")
  else
    equal(err.code, "request_body_stream_exhausted", "a reader that cannot begin again")
  end
end)

part("files", function()
  local path = scratch_file("old")
  assert(http.get(origin .. "/bytes/50000", { sink = path, progress = function() end }))
  equal(#content_of(path), 50000, "sink file")
  equal(assert(http.get(origin .. "/status/404", { sink = path })).status, 404, "sink of an error page")
  equal(#content_of(path), 50000, "sink file after 404")
  local received = 0
  assert(http.get(origin .. "/bytes/50000", { sink = function(data)
    http.sleep(0)
    received = received + #data
  end }))
  equal(received, 50000, "sink function")
  assert(assert(http.get(origin .. "/bytes/10")):save(path))
  equal(#content_of(path), 10, "save")
  local _, err = http.get(origin .. "/get", { sink = "/nonexistent/directory/file" })
  assert(err and err.domain == "file" or err.code:find("file"), tostring(err))
  fails("file_does_not_exist", http.post(origin .. "/post", { body = { file = "/nonexistent" } }))
end)

part("errors", function()
  fails("cannot_connect_to_host", http.get("http://127.0.0.1:1/"))
  fails("unsupported_url", http.get("gopher://x/"))
  fails("bad_url", http.get("http://a b/"))
  fails("data_length_exceeds_maximum", http.get(origin .. "/bytes/5000", { max_body = 100 }))
  fails("timed_out", http.get(origin .. "/delay/9", { timeout = 0.3 }))
  fails("timed_out", http.get(origin .. "/drip?duration=9&numbytes=9&delay=0", { resource_timeout = 0.6 }))
  assert(http.get(origin .. "/status/503", { retry = { limit = 1, backoff = 0.01 } }).status == 503)
  raises("did you mean 'timeout'", http.get, origin, { timout = 1 })
  fails("bad_url", http.get(origin, { headers = { ["X-A"] = "b\r\nX-C: d" } }))
  raises("must be a URL, not nil", http.get)
  for index = 1, 200 do
    raises("sanitize", function() error("sanitize " .. index) end)
    raises("must be a URL, not table", http.get, {}, index)
  end
  assert(tostring(select(2, http.get("http://127.0.0.1:1/"))):find("127.0.0.1", 1, true))
end)

-- Concurrency --------------------------------------------------------------------------------------------------------

part("jobs", function()
  local numbers = {}
  for index = 1, 24 do
    numbers[index] = index
  end
  local squares = http.map(numbers, 6, function(number)
    assert(http.get(origin .. "/get", { timeout = PATIENCE }))
    return number * number
  end)
  equal(squares[24], 576, "map")
  local job = http.spawn(function() return http.get(origin .. "/delay/9") end)
  http.sleep(0.2)
  job:cancel()
  fails("cancelled", job:wait())
  fails("timed_out", http.with_timeout(0.3, function() return http.get(origin .. "/delay/9") end))
  local failing = http.spawn(function() error { reason = "mine" } end)
  local _, err = failing:wait()
  equal(err.value and err.value.reason or err.reason, "mine", "a job's error")
  local pages = coroutine.wrap(function()
    for _ = 1, 3 do
      coroutine.yield(assert(http.get(origin .. "/get")).status)
    end
  end)
  equal(pages() + pages() + pages(), 600, "generator")
  for _ = 1, 50 do
    -- Left in the middle, for the collector.
    coroutine.wrap(function()
      coroutine.yield(http.request(origin))
      error("never")
    end)()
  end
  raises("cannot wait here", table.sort, { 3, 2, 1 }, function() return http.get(origin .. "/get") ~= nil end)
end)

part("tasks and delegates", function()
  local calls = {}
  local function count(name)
    calls[name] = (calls[name] or 0) + 1
  end
  local session
  session = http.session(http.configuration.ephemeral { http_maximum_connections_per_host = 2 }, {
    did_create_task = function() count "create" end,
    will_perform_redirection = function(_, _, _, request)
      count "redirect"
      assert(http.get(origin .. "/get"))
      request.headers["X-Hop"] = "1"
      return request
    end,
    did_receive_response = function(_, task)
      count "response"
      http.sleep(0.01)
      return task.user_info == "stop" and "cancel" or "allow"
    end,
    did_receive_data = function(_, _, data)
      count "data"
      http.sleep(0.001)
      calls.bytes = (calls.bytes or 0) + #data
    end,
    did_send_body_data = function() count "sent" end,
    did_finish_collecting_metrics = function(_, _, metrics)
      count "metrics"
      assert(#metrics.transaction_metrics >= 1)
    end,
    did_complete = function() count "complete" end,
    did_become_invalid = function() count "invalid" end,
  })
  local task = session:data_task(origin .. "/redirect-to?url=/bytes/100000")
  task:resume()
  assert(task:wait())
  equal(calls.bytes, 100000, "bytes")
  local stopped = session:data_task(origin .. "/bytes/100000")
  stopped.user_info = "stop"
  stopped:resume()
  fails("cancelled", stopped:wait())
  local request = http.request { url = origin .. "/post", method = "POST", body = ("x"):rep(100000) }
  local upload = session:data_task(request:copy())
  upload:resume()
  assert(upload:wait())
  for index = 1, 8 do
    local cancelled = session:data_task(origin .. "/delay/9")
    if index % 2 == 0 then cancelled:resume() end
    http.sleep(0.02 * index)
    cancelled:cancel()
  end
  session:data_task(origin .. "/get", function(data, response, err)
    count(data and response.status == 200 and not err and "completion" or "wrong completion")
  end):resume()
  session:finish_tasks_and_invalidate()
  while not calls.invalid do
    http.sleep(0.01)
  end
  equal(calls.completion, 1, "completion")
  assert(calls.redirect == 1 and calls.sent >= 1 and calls.metrics >= 3 and calls.complete >= 3)
  local raising = http.session(http.configuration.ephemeral(), {
    did_receive_response = function() error("from a handler") end,
  })
  local bad = raising:data_task(origin .. "/get")
  bad:resume()
  fails("handler_error", bad:wait())
  raising:invalidate_and_cancel()
  raises("the session is invalidated", raising.data_task, raising, origin)
end)

-- Formats ------------------------------------------------------------------------------------------------------------

part("JSON", function()
  local text = '{"a":[1,-2.5e3,"\\u00fc\\u0000",null,{},[]],"b":9223372036854775807}'
  local value = assert(json.decode(text))
  assert(json.decode(assert(json.encode(value, { indent = 2, sort_keys = true, ascii = true }))))
  local broken = { "", "{", "[1,]", '"\xff"', ("["):rep(100000), '{"a":1}x', "1e999", "9223372036854775808" }
  for _, bad in ipairs(broken) do
    assert(not json.decode(bad))
  end
  local cycle = {}
  cycle.cycle = cycle
  for _, bad in ipairs { cycle, { 0 / 0 }, { "\xff" }, { [1] = 1, x = 2 }, { print } } do
    assert(not json.encode(bad))
  end
  local pieces, sum = { '{"n":1}\n{"n"', ':2}\n\n{"n":3}' }, 0
  for document in json.lines(function() return table.remove(pieces, 1) end) do
    sum = sum + document.n
  end
  equal(sum, 6, "lines")
end)

local function first_of(text, selector) return assert(html.parse(text)):css_first(selector) end

part("documents", function()
  local text = "<base href=/d/><title>T</title><div id=a><p class='x y'>one<p>two <a href=r>li<b>nk</b></a></div>"
  local document = assert(html.parse(text, { base = "http://h.test/" }))
  equal(document:links()[1].url, "http://h.test/d/r", "link")
  equal(#document:css("div > p:not(.z), p.x.y"), 2, "CSS")
  equal(#document:xpath("//p[@class]"), 1, "XPath")
  assert(not document:css("p:["))
  assert(not document:xpath("//p["))
  local node = document:css_first("#a")
  assert(node.html and node.inner_html and node.text and node.parent and #node.children == 2 and node.attributes.id)
  local orphan = first_of(text, "#a")
  collectgarbage()
  equal(orphan:css_first(":scope > p").text, "one", "a node outlives its document")
  assert(html.parse(("<div>"):rep(5000) .. "\0\xff"))
  local feed = assert(xml.parse("<f:feed xmlns:f='urn:f'><f:e a='1'>t</f:e></f:feed>"))
  assert(feed:xpath("//*"))
  assert(not xml.parse("<a><b></a>"))
  local page = assert(assert(http.get(origin .. "/html")):html())
  assert(page:css_first("h1").text:find("Moby", 1, true))
  assert(assert(http.get(origin .. "/xml")):xml():xpath("//slide"))
end)

part("URLs, dates and robots", function()
  local u = assert(url.parse("http://u:p@h.test:81/a/../b?q=1#f"))
  equal(u.port, 81, "port")
  equal(url.resolve("http://h/a/b", "../c?d"), "http://h/c?d", "resolve")
  assert(not url.parse("http://[::1"))
  equal(url.decode(url.encode("ü &/")), "ü &/", "encode")
  assert(url.decode_query(url.encode_query { a = { 1, 2 } }))
  equal(http.parse_date(http.format_date(784111777)), 784111777, "date")
  local rules = robots.parse("User-agent: *\nDisallow: /x\nCrawl-delay: 2\nSitemap: http://h/s")
  assert(not rules:allowed("bot", "http://h/x/y"))
end)

part("a crawl", function()
  local count = 0
  local crawler = crawl { start = origin .. "/links/6/0", concurrency = 3, max_pages = 6 }
  for page in crawler:pages() do
    assert(page.response and page.response.status == 200, page.url)
    count = count + 1
  end
  equal(count, 6, "pages")
  -- The rest of this one is left to the collector.
  assert(crawl { start = origin .. "/links/6/0", concurrency = 3 }:pages()())
end)

-- The run ------------------------------------------------------------------------------------------------------------

for _, one in ipairs(parts) do
  one.fn()
  collectgarbage()
  print(one.name)
end
for _, name in ipairs(scratch) do
  os.remove(name)
end
print("done")
