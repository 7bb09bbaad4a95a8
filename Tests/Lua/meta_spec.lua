-- Every public name is documented, every documented name exists, and the reference is made of these definitions.

return function(t)
  local it, host_it, expect = t.it, t.host_it, t.expect
  package.path = t.root .. "/scripts/?.lua;" .. package.path
  local meta = require "meta_reader"

  local MODULES = {
    "http", "json", "url", "html", "xml", "crawl", "robots", "css", "links", "mime", "filename", "charset", "retry",
    "multipart", "terminal", "metalink", "auth", "digest", "progress", "operation",
    "serializer",
  }

  local function definitions(name) return meta.read(("%s/stdlib/meta/%s.lua"):format(t.root, name)) end

  local function class_of(file, name)
    for _, class in ipairs(definitions(file).classes) do
      if class.name == name then return class end
    end
    error("no class " .. name)
  end

  -- Names in the first list that are not in the second.
  local function missing(from, among)
    local list = {}
    for name in pairs(from) do
      if not among[name] then list[#list + 1] = name end
    end
    table.sort(list)
    return table.concat(list, " ")
  end

  local function documented_in(definition)
    local names = {}
    for _, list in ipairs { definition.functions, definition.values or {} } do
      for _, one in ipairs(list) do
        names[one.key] = true
      end
    end
    return names
  end

  local function public_names(from)
    local names = {}
    for name in pairs(from) do
      if type(name) == "string" and not name:find("^_") then names[name] = true end
    end
    return names
  end

  -- The functions among the members of a class.
  local function methods_of(from)
    local methods = {}
    for name, value in pairs(from) do
      if type(value) == "function" then methods[name] = value end
    end
    return methods
  end

  for _, name in ipairs(MODULES) do
    host_it("documents the module " .. name, function()
      local definition = definitions(name)
      local module, documented = require(definition.name), documented_in(definition)
      expect(missing(public_names(module), documented)):equals("")
      expect(missing(documented, public_names(module))):equals("")
    end)
  end

  -- Documented methods of an object exist in it; those of its class (where it is a table) are documented.
  local function check_class(file, name, object, methods)
    local documented = documented_in(class_of(file, name))
    for method in pairs(documented) do
      if type(object[method]) ~= "function" then error(("%s:%s() does not exist"):format(name, method)) end
    end
    if type(methods) == "table" then expect(missing(public_names(methods), documented)):equals("") end
  end

  host_it("documents the methods of objects", function()
    local http = require "http"
    local request = http.request("http://127.0.0.1/")
    local session = http.session(http.configuration.ephemeral())
    local task = session:data_task(request)
    local crawler = require("http.crawl") { start = "http://127.0.0.1/" }
    local rules = require("http.robots").parse("")
    check_class("request", "http.request", request, methods_of(getmetatable(request).__index))
    check_class("request", "http.headers", request.headers)
    check_class("session", "http.session", session, require("http.session").methods)
    check_class("session", "http.task", task)
    local stream = session:stream_task("127.0.0.1", 1)
    check_class("stream", "http.stream_task", stream, methods_of(getmetatable(stream).__index))
    local web_socket = session:web_socket_task("ws://127.0.0.1/")
    check_class("stream", "http.web_socket_task", web_socket, methods_of(getmetatable(web_socket).__index))
    check_class("stream", "http.stream_input", require("http.stream").input, require("http.stream").input)
    check_class("stream", "http.stream_output", require("http.stream").output, require("http.stream").output)
    check_class("crawl", "http.crawler", crawler, getmetatable(crawler).__index)
    local operation = require "http.operation"
    check_class("operation", "http.operation", operation(request), getmetatable(operation(request))._methods)
    local serializer = require "http.serializer"
    check_class("serializer", "http.serializer.response", serializer.json(), getmetatable(serializer.json()).__index)
    check_class("serializer", "http.serializer.request", serializer.json_request(),
      getmetatable(serializer.json_request()).__index)
    check_class("robots", "http.robots", rules, getmetatable(rules).__index)
    check_class("http", "http.job", http.spawn(function() end), nil)
    local answer = require("http.response").make(200, "OK", "1.1", "http://127.0.0.1/", "", 0, "")
    check_class("response", "http.response", answer)
    local storage = http.cookie_storage()
    check_class("cookies", "http.cookie_storage", storage, require("http.cookies").methods)
    check_class("credential_storage", "http.credential_storage", http.credential_storage(),
      require("http.credential_storage").methods)
    local document = assert(require("http.html").parse("<p>x</p>"))
    check_class("html", "html.document", document)
    check_class("html", "html.node", document:css_first("p"))
  end)

  host_it("documents the options that are accepted", function()
    local http = require "http"
    local configuration = http.configuration.default()
    for _, field in ipairs(class_of("session", "http.configuration").fields) do
      local ok, message = pcall(function() configuration[field.name] = nil end)
      if not ok then error(field.name .. ": " .. message) end
    end
    -- An unknown option is refused with a hint; a known one of the wrong type with its name.
    for _, field in ipairs(class_of("http", "http.options").fields) do
      local ok, message = pcall(http.send, { url = "http://127.0.0.1/", [field.name] = coroutine.create(print) })
      expect(ok):equals(false)
      expect(tostring(message):find("unknown option", 1, true)):equals(nil)
    end
    for _, field in ipairs(class_of("crawl", "http.crawl.options").fields) do
      local _, message = pcall(require("http.crawl").new, { [field.name] = coroutine.create(print) })
      expect(tostring(message):find("unknown option", 1, true)):equals(nil)
    end
    for _, field in ipairs(class_of("retry", "http.retry.options").fields) do
      local _, message = pcall(require("http.retry").new, { [field.name] = coroutine.create(print) })
      expect(tostring(message):find("unknown option", 1, true)):equals(nil)
    end
  end)

  it("describes every function's arguments, and has text for every name", function()
    for _, file in ipairs {
      "http", "request", "response", "session", "stream", "cookies", "credential_storage", table.unpack(MODULES, 2),
    } do
      local definition = definitions(file)
      local lists = { definition.functions, definition.values, definition.classes, definition.aliases }
      for _, class in ipairs(definition.classes) do
        lists[#lists + 1] = class.functions
      end
      for _, list in ipairs(lists) do
        for _, one in ipairs(list) do
          if one.text == "" then error(one.name .. " has no description") end
        end
      end
    end
  end)

  it("describes what stands at the end of a file", function()
    expect(#class_of("response", "http.error").fields > 5):equals(true)
    expect(#class_of("session", "http.delegate").fields > 5):equals(true)
  end)

  host_it("knows each handler of a delegate", function()
    for _, field in ipairs(class_of("session", "http.delegate").fields) do
      local name = field.name:gsub("%?$", "")
      local function make() return require("http").session(nil, { [name] = true }) end
      expect(make):raises("'" .. name .. "' must be a function")
    end
  end)

  it("is what the reference was made of", function()
    local ok = os.execute(("lua5.4 '%s/scripts/gendocs' --check"):format(t.root))
    expect(ok):equals(true)
  end)
end
