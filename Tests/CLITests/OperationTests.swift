import Synchronization
import TestSupport
import Testing

/// AFNetworking's layer: http.operation over servers that break off, change and refuse ranges.
@Suite struct OperationTests {
  private static let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

  /// The alphabet; a request without Range gets ten letters, and the rest when the connection is still there after the
  /// client has had them.
  static func server() throws -> ScriptedServer {
    let seen = Mutex<Set<String>>([])
    return try ScriptedServer { connection in
      while let request = try connection.readRequest() {
        let isNew = request["Range"] != nil || seen.withLock { $0.insert(request.path).inserted }
        let isSecondTry = !isNew && ["/other", "/liar", "/short", "/shrunk"].contains(request.path)
        if request["Range"] == nil, request.path != "/plain", !isSecondTry {
          let validator = request.path == "/none" ? "" : "ETag: \(request.path == "/weak" ? "W/" : "")\"v1\"\r\n"
          let length = request.path == "/whole" ? 10 : 26
          try connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\(validator)\r\n")
          try connection.send(String(letters.prefix(10)))
          if length == 10 { continue }
          connection.waitForClose()
          return
        }
        try connection.send(Self.answer(request))
      }
    }
  }

  private static func answer(_ request: ReceivedRequest) -> Reply {
    let tail = String(letters.dropFirst(10))
    switch request.path {
    case "/resume":
      return Reply(status: "206 Partial", fields: [("ETag", "\"v1\""), ("Content-Range", "bytes 10-25/26")], tail)
    // Another version, or a part of the rest.
    case "/liar" where request["Range"] != nil:
      return Reply(status: "206 Partial", fields: [("ETag", "\"v2\""), ("Content-Range", "bytes 10-25/26")], "wrong")
    case "/short" where request["Range"] != nil:
      return Reply(status: "206 Partial", fields: [("ETag", "\"v1\""), ("Content-Range", "bytes 10-14/26")], "KLMNO")
    case "/changed": return Reply(letters.lowercased())
    case "/other" where request["Range"] != nil:
      return Reply(status: "206 Partial", fields: [("Content-Range", "bytes 0-25/26")], letters)
    case "/other", "/liar", "/short": return Reply(letters)
    case "/shrunk" where request["Range"] == nil: return Reply(letters)
    case "/whole", "/shrunk":
      return Reply(status: "416 Range Not Satisfiable", fields: [("Content-Range", "bytes */10")], "<h1>no</h1>")
    default: return Reply("plain")
    }
  }

  /// Pauses after ten bytes, says so, and goes on.
  private static let pausing = """
    local operation = require "http.operation"
    local function ten_letters(path, options)
      options = options or {}
      local one, paused
      options.download_progress = function(read, total, expected)
        io.write(read, "/", total, "/", expected, " ")
        if total == 10 and not paused then
          paused = true
          one:pause()
        end
      end
      one = operation(base .. path, options)
      one:start()
      while not one.is_paused do http.sleep(0.005) end
      return one
    end

    """

  static let cases = [
    ScriptCase(
      "goes on with a range where the server can",
      pausing + """
        local one = ten_letters "/resume"
        print(one.response_data, one.state)
        one:resume()
        assert(one:wait())
        print(one.response_data, one.response.status, one.state)
        """, prints: "10/10/26 ABCDEFGHIJ\tpaused", "16/26/26 \(letters)\t200\tfinished"),
    ScriptCase(
      "begins again where the entity has changed",
      pausing + """
        local one = ten_letters "/changed"
        one:resume()
        assert(one:wait())
        print(one.response_data, one.response.status)
        """, prints: "10/10/26 26/26/26 \(letters.lowercased())\t200"),
    ScriptCase(
      "asks for nothing more when all is there",
      pausing + """
        local one = ten_letters "/whole"
        one:resume()
        assert(one:wait())
        print(one.response_data, one.response.status)
        """, prints: "10/10/10 ABCDEFGHIJ\t200"),
    ScriptCase(
      "asks for the whole when another part comes, another version, less than the rest, or another length",
      pausing + """
        for _, path in ipairs { "/other", "/liar", "/short", "/shrunk" } do
          local one = ten_letters(path)
          one:resume()
          assert(one:wait())
          print(one.response_data, one.response.status)
        end
        """, prints: Array(repeating: "10/10/26 26/26/26 \(letters)\t200", count: 4)),
    ScriptCase(
      "without a strong validator it does not ask for a range",
      pausing + """
        for _, path in ipairs { "/weak", "/none" } do
          local one = ten_letters(path)
          one:resume()
          while #one.response_data < 10 do http.sleep(0.005) end
          one:cancel()
          local _, err = one:wait()
          print(one.response_data, err.code, one.is_cancelled)
        end
        """, prints: "10/10/26 10/10/26 ABCDEFGHIJ\tcancelled\ttrue", "10/10/26 10/10/26 ABCDEFGHIJ\tcancelled\ttrue"),
    ScriptCase(
      "an output stream goes on, and is not written to twice",
      pausing + """
        local out = {}
        local one = ten_letters("/resume", { output_stream = function(data) out[#out + 1] = data end })
        one:resume()
        assert(one:wait())
        print(table.concat(out), one.response_data)
        local other = ten_letters("/changed", { output_stream = { write = function(self) return self end } })
        other:resume()
        print((tostring(select(2, other:wait())):gsub(base, "BASE")))
        """,
      prints: "10/10/26 16/26/26 \(letters)\tnil",
      "10/10/26 cannot_restart: the transfer must begin again, and an output stream cannot (BASE/changed)"),
    ScriptCase(
      "a stored operation goes on in another one",
      pausing + """
        local one = ten_letters "/resume"
        local blob = assert(one:encode())
        local again = assert(operation.decode(blob))
        print(again.state, again.response_data, again.response.headers.etag)
        again:resume()
        assert(again:wait())
        print(again.response_data)
        for cut = 0, #blob - 1 do
          local none, err = operation.decode(blob:sub(1, cut))
          assert(none == nil and err.code == "cannot_decode")
          local changed = blob:sub(1, cut) .. string.char(blob:byte(cut + 1) ~ 1) .. blob:sub(cut + 2)
          assert(operation.decode(changed) == nil)
        end
        """, prints: "10/10/26 paused\tABCDEFGHIJ\t\"v1\"", letters),
    ScriptCase(
      "a stored operation keeps no secret",
      """
      local operation = require "http.operation"
      local one = operation(http.request {
        url = base:gsub("//", "//user:geheim@") .. "/plain",
        headers = {
          Authorization = "Bearer geheim", Cookie = "c=geheim", ["X-Api-Key"] = "geheim", ["Private-Token"] = "geheim",
          ["x-auth-token"] = "geheim", ["X-A"] = "kept",
        },
        method = "POST", body = "b",
      })
      local blob = assert(one:encode())
      local again = assert(operation.decode(blob))
      print(blob:find("geheim", 1, true), again.state, again.request.headers["X-A"], again.request.body)
      local streamed = operation(base .. "/plain", { input_stream = function() end })
      print(streamed:encode())
      """,
      prints: "nil\tready\tkept\tb", "nil\tcannot_encode: an operation with a streamed body cannot be stored"),
    ScriptCase(
      "a batch runs so many at once and tells how far it is",
      """
      local operation = require "http.operation"
      local running, most, list = 0, 0, {}
      http.on("operation_did_start", function() running = running + 1 most = math.max(most, running) end)
      for i = 1, 6 do
        list[i] = operation(base .. "/plain", { completion = function() running = running - 1 end })
      end
      local batch = operation.batch(list, {
        limit = 2, progress = function(finished, total) io.write(finished, "/", total, " ") end,
        completion = function(all) print(#all, all[1].response_data) end,
      })
      print(#assert(batch:wait()), most <= 2)
      print(#operation.batch({}):wait())
      """, prints: "1/6 2/6 3/6 4/6 5/6 6/6 6\tplain", "6\ttrue", "0"),
    ScriptCase(
      "observers hear of every task, calls included, until they stop",
      """
      local heard = {}
      local stops = {}
      for _, name in ipairs { "task_did_start", "task_did_finish" } do
        stops[#stops + 1] = http.on(name, function(task, what) heard[#heard + 1] = what .. task.state end)
      end
      assert(http.get(base .. "/plain"))
      http.sleep(0)
      for _, stop in ipairs(stops) do stop() end
      assert(http.get(base .. "/plain"))
      http.sleep(0)
      print(table.concat(heard, " "))
      print((select(2, pcall(http.on, "task_did_finnish", print)):gsub("^.-:%d+: ", "")))
      """,
      prints: "task_did_startrunning task_did_finishcompleted",
      "unknown notification 'task_did_finnish' (did you mean 'task_did_finish'?)"),
    ScriptCase(
      "a serializer's error is the operation's",
      """
      local operation, serializer = require "http.operation", require "http.serializer"
      local one = operation(base .. "/plain", { response_serializer = serializer.json() })
      one:start()
      print(select(2, one:wait()).code, one.response.status, one.response_object)
      print((select(2, pcall(operation, base, { response_serializer = {} })):gsub("^.-:%d+: ", "")))
      """,
      prints: "cannot_parse_response\t200\tnil",
      "option 'response_serializer' must be a serializer of http.serializer"),
  ]

  @Test("operations", arguments: cases)
  func operation(_ scriptCase: ScriptCase) async throws {
    let server = try Self.server()
    try await check(scriptCase, server.url)
  }
}
