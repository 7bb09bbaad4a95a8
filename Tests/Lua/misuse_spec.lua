-- What only a wrong program does is an error at its line that names what is wrong, and nothing is left behind.

return function(t)
  if not t.is_host then return t.host_it("misuse", function() end) end
  local http = require "http"
  local session, request = http.session(), http.request("http://h.test/")
  local task, job = session:data_task("http://h.test/"), http.spawn(function() end)
  local mutable = http.request("http://h.test/")
  mutable.url = nil
  local bad_index = setmetatable({}, { __index = { timeout = "x" } })
  local response = setmetatable({ status = 200 }, getmetatable(http.request("x")))

  local function post(options) return http.post("http://h.test/", options) end
  local function get(options) return http.get("http://h.test/", options) end

  local cases = {
    { "a method with a dot", function() session.get("u", "y") end, "session:get must be called on an object" },
    { "a session's method", function() session.all_tasks() end, "session:all_tasks must be called" },
    { "a task's method", function() task.wait() end, "task:wait must be called" },
    { "a task's number", function() task.cancel(5) end, "task:cancel must be called on an object .*, not on number" },
    { "a job's method", function() job.wait() end, "job:wait must be called" },
    { "a request's method", function() request.copy(5) end, "request:copy must be called" },
    { "a foreign object", function() request.headers.get_all(response, "a") end, "headers:get_all must be called" },
    { "a header's name", function() request.headers:get_all(5) end, "argument #1 of headers:get_all must be string" },
    { "a request without URL", function() mutable:curl() end, "a request's 'url' must be string, not nil" },
    { "an inherited option", function() get(bad_index) end, "option 'timeout' must be number" },
    { "a map in a query", function() get({ query = { a = { b = 1 } } }) end,
      "'query' field 'a' must be a list" },
    { "a map in a form", function() post({ form = { a = { b = 1 } } }) end,
      "'form' field 'a' must be a list" },
    { "a number as a name", function() get({ query = { [10] = "x" } }) end,
      "'query' has a key that is not a name: 10" },
    { "a list item of the wrong type", function()
      http.session { connection_proxy = { url = "x", no_proxy = { {} } } }
    end,
      "an item of 'connection_proxy.no_proxy' must be string" },
    { "a line break in user_agent", function() http.session { user_agent = "a\r\nX: y" } end,
      "'user_agent' has a line break" },
    { "another library's name for the query", function() get({ params = { a = 1 } }) end,
      "unknown option 'params' %(here it is 'query'%)" },
    { "another library's name for the body", function() post({ data = "a" }) end,
      "unknown option 'data' %(here it is 'body', 'form' or 'json'%)" },
    { "a verb's method", function() get({ method = "POST" }) end, "'method' %(here it is an option of http.send%)" },
    { "another library's name for the sink", function() get({ on_data = print }) end, "%(here it is 'sink'%)" },
    { "the same of another one", function() http.send { url = "http://h.test/", stream = true } end,
      "%(here it is 'sink'%)" },
    { "a call's proxy", function() get({ proxy = "http://p.test/" }) end,
      "%(here it is 'connection_proxy' of the session%)" },
    { "a call's trust", function() get({ verify = false }) end, "%(here it is 'security_policy' of the session%)" },
    { "a call's cookies", function() get({ cookies = {} }) end, "%(here it is 'cookie_storage' of the session" },
    { "an empty sink", function() get({ sink = "" }) end, "'sink' must not be an empty path" },
    { "a checksum without digits", function() get({ checksum = "sha256:" }) end,
      "after 'sha256:' there must be 64 hexadecimal digits" },
    { "NUL in a request's main document", function()
      http.send(http.request { url = "http://h.test/", main_document_url = "a\0b" })
    end, "a request's 'main_document_url' must not contain control characters" },
    { "a line break in a task's main document", function()
      session:data_task(http.request { url = "http://h.test/", main_document_url = "http://a/\r\nb" }):resume()
    end, "a request's 'main_document_url' must not contain control characters" },
    { "NUL in an identifier", function() http.configuration.background("a\0b") end,
      "'identifier' must not contain NUL" },
    { "NUL in no_proxy", function() http.session { connection_proxy = { url = "x", no_proxy = "a\0b" } } end,
      "'connection_proxy.no_proxy' must not contain NUL" },
    { "NUL in an item of no_proxy", function()
      http.session { connection_proxy = { url = "x", no_proxy = { "a\0b" } } }
    end, "an item of 'connection_proxy.no_proxy' must not contain NUL" },
    { "NUL in a space's host", function() http.protection_space { host = "a\0b" } end,
      "'host' must not contain control characters" },
    { "NUL in a sink", function() get({ sink = "/tmp/a\0b" }) end, "'sink' must not contain NUL" },
    { "NUL in a body's file", function() post({ body = { file = "a\0b" } }) end,
      "'file' must not contain NUL" },
    { "NUL in a part's file", function()
      post({ multipart = { { name = "a", file = "a\0b" } } })
    end, "option 'file' must be UTF%-8 without NUL" },
    { "a misspelt field of a task", function() task.priorty = 1 end,
      "a task has no field 'priorty' %(did you mean 'priority'%?%)" },
    { "a task's method as a field", function() task.resume = print end, "a task's 'resume' cannot be set" },
    { "a task's metrics", function() task.metrics = {} end, "a task's 'metrics' cannot be set" },
    { "a task's response", function() task.response = {} end, "a task's 'response' cannot be set" },
    { "a task's error", function() task.error = "x" end, "a task's 'error' cannot be set" },
    { "a task's count of bytes", function() task.count_of_bytes_sent = 1 end,
      "a task's 'count_of_bytes_sent' cannot be set" },
    { "an address that is a name", function() http.session { resolve = { ["host:80"] = "notanip" } } end,
      "resolve%['host:80'%] must be an address %(\"192.0.2.1\", .*not \"notanip\"" },
    { "no address", function() http.configuration.default { resolve = { ["host:80"] = "" } } end,
      "resolve%['host:80'%] must be an address" },
    { "addresses one of which is none", function()
      http.session().configuration.resolve = { ["host:80"] = "127.0.0.1,::1,::g" }
    end, "resolve%['host:80'%] must be an address" },
    { "a host to resolve without a port", function() http.session { resolve = { host = "127.0.0.1" } } end,
      "a key of 'resolve' must be \"host:port\"" },
    { "a port beyond the last", function() http.session { resolve = { ["host:65536"] = "::1" } } end,
      "a key of 'resolve' must be \"host:port\"" },
    { "an address that is set later", function()
      local configuration = http.configuration.default { resolve = { ["host:80"] = "[::1]" } }
      configuration.resolve["host:80"] = "1.2.3"
      http.session(configuration)
    end, "resolve%['host:80'%] must be an address" },
    { "a task's description", function() task.description = 5 end, "a task's 'description' must be string" },
    { "a described task's description", function()
      task.description = "first"
      task.description = {}
    end, "a task's 'description' must be string, not table" },
    { "a misspelt field of a session", function() session.descripton = "x" end,
      "a session has no field 'descripton' %(did you mean 'description'%?%)" },
    { "a session's method as a field", function() session.get = print end, "a session's 'get' cannot be set" },
    { "a session's configuration", function() session.configuration = {} end,
      "a session's configuration cannot be changed" },
    { "a session's delegate in place of another one", function() http.session(nil, {}).delegate = 5 end,
      "a session's 'delegate' must be table or userdata, not number" },
    { "a misspelt handler", function() http.session(nil, { did_recieve_response = print }) end,
      "a delegate has no handler 'did_recieve_response' %(did you mean 'did_receive_response'%?%)" },
    { "a handler that cannot be called", function() session.delegate = { did_complete = true } end,
      "the delegate's 'did_complete' must be a function, not boolean" },
    { "a session's description", function() session.description = 5 end, "a session's 'description' must be string" },
    { "a path that is no text", function() get({ sink = "/tmp/\xff" }) end, "'sink' must be UTF%-8" },
  }
  for _, case in ipairs(cases) do
    t.it(case[1], function() t.expect(case[2]):raises("misuse_spec.lua:%d+: .*" .. case[3]) end)
  end

  t.it("what a completed task tells cannot be set", function()
    local done = session:data_task("data:,text")
    done:resume()
    t.expect(assert(done:wait()).body):equals("text")
    for _, name in ipairs { "metrics", "count_of_bytes_received", "count_of_bytes_expected_to_send", "error" } do
      local before = done[name]
      t.expect(function() done[name] = 5 end):raises("misuse_spec.lua:%d+: a task's '" .. name .. "' cannot be set")
      t.expect(done[name]):equals(before)
    end
    done.user_info, done.priority, done.description, done.own = 1, 0.25, "text", "mine"
    t.expect(done.user_info .. done.priority .. done.description .. done.own):equals("10.25textmine")
  end)

  t.it("the position is the script's in jobs and coroutines too", function()
    local _, err = http.spawn(function() http.sleep("x") end):wait()
    t.expect(err.message):matches("^[^\n]*misuse_spec.lua:%d+: argument #1 of http.sleep")
    local ok, message = pcall(coroutine.wrap(function() http.sleep("x") end))
    t.expect(ok):equals(false)
    t.expect(message):matches("misuse_spec.lua:%d+: argument #1 of http.sleep")
  end)

  t.it("a refused call is not counted as one under way", function()
    local ended = 0
    for _, delegate in ipairs { {}, false } do
      local one
      one = http.session(nil, delegate or { did_become_invalid = function() ended = ended + 1 end })
      t.expect(function() one:get("http://h.test/", { auth = { scheme = "x" } }) end):raises("auth.scheme")
      t.expect(function() one:get("http://h.test/", { body = {} }) end):raises("'body' must be")
      t.expect(#one:all_tasks()):equals(0)
      one:finish_tasks_and_invalidate()
    end
    http.sleep(0)
    http.sleep(0)
    t.expect(ended):equals(1)
  end)

  t.it("a task that cannot be begun stays as it was", function()
    local wrong = session:data_task { url = "http://h.test/", body = {} }
    t.expect(function() wrong:resume() end):raises("misuse_spec.lua:%d+: a request's 'body' must be")
    t.expect(wrong.state):equals("suspended")
  end)
end
