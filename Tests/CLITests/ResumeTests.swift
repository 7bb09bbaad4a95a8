import Foundation
import TestSupport
import Testing

/// Downloads that go on where an earlier one stopped: what users reported (B16, B18), and each answer a server can give.
@Suite struct ResumeTests {
  static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8)

  /// The answers to `Range: bytes=10-` of a file whose first ten bytes are there.
  enum Variant: String, CaseIterable, Sendable {
    case rest, whole, earlier, everything, short, noRange, changed, weak, notModified, preconditionFailed
    case unsatisfied, unsatisfiedUnknown, coded, noValidator, gap, tooMuch, missing, breaksAgain

    /// What the file may be in the end; nil: an error is right too.
    var files: [String] {
      switch self {
      case .changed: ["zyxwvutsrqponmlkjihgfedcba"]
      case .missing: ["no such page"]
      default: ["ABCDEFGHIJKLMNOPQRSTUVWXYZ"]
      }
    }

    var mayFail: Bool { self == .tooMuch || self == .breaksAgain }
  }

  private static func head(_ status: String, _ tag: String, _ fields: [(String, String)] = []) -> [(String, String)] {
    [("ETag", tag), ("Accept-Ranges", "bytes")] + fields
  }

  /// The first request gets ten bytes of twenty-six; later ones what the variant says.
  static func server(_ variant: Variant) throws -> ScriptedServer {
    let count = RequestCounter()
    return try ScriptedServer { connection in
      while let request = try connection.readRequest() {
        if count.next() == 1 {
          let tag = variant == .weak ? "W/\"v1\"" : "\"v1\""
          try connection.send(
            "HTTP/1.1 200 OK\r\nETag: \(tag)\r\nAccept-Ranges: bytes\r\nContent-Length: 26\r\n\r\nABCDEFGHIJ")
          return
        }
        guard let range = request["Range"] else {
          let isChanged = variant == .changed
          try connection.send(
            Reply(fields: [("ETag", isChanged ? "\"v2\"" : "\"v1\"")], body: isChanged ? changed : letters))
          continue
        }
        if try !answer(variant, range, connection) { return }
      }
    }
  }

  static let changed = Array("zyxwvutsrqponmlkjihgfedcba".utf8)

  private static func part(_ range: String?, _ body: ArraySlice<UInt8>, _ more: [(String, String)] = []) -> Reply {
    let fields = [("ETag", "\"v1\"")] + (range.map { [("Content-Range", $0)] } ?? []) + more
    return Reply(status: "206 Partial Content", fields: fields, body: Array(body))
  }

  // swift-format-ignore
  private static func answer(_ variant: Variant, _ range: String, _ connection: Connection) throws -> Bool {
    let asked = Int(range.dropFirst("bytes=".count).prefix { $0 != "-" }) ?? 0
    func refuse(_ status: String, _ fields: [(String, String)] = []) throws {
      try connection.send(Reply(status: status, fields: fields, "<html>an error page</html>"))
    }
    switch variant {
    case .rest, .weak: try connection.send(part("bytes \(asked)-25/26", letters[asked...]))
    case .whole: try connection.send(Reply(fields: [("ETag", "\"v1\"")], body: letters))
    case .earlier: try connection.send(part("bytes 8-25/26", letters[8...]))
    case .everything: try connection.send(part("bytes 0-25/26", letters[0...]))
    case .short: try connection.send(part("bytes \(asked)-\(min(asked + 4, 25))/26", letters[asked...min(asked + 4, 25)]))
    case .noRange: try connection.send(part(nil, letters[asked...]))
    case .changed:
      try connection.send(Reply(
        status: "206 Partial Content", fields: [("ETag", "\"v2\""), ("Content-Range", "bytes \(asked)-25/26")],
        body: Array(changed[asked...])))
    case .notModified: try connection.send("HTTP/1.1 304 Not Modified\r\nETag: \"v1\"\r\n\r\n")
    case .preconditionFailed: try refuse("412 Precondition Failed")
    case .unsatisfied: try refuse("416 Range Not Satisfiable", [("Content-Range", "bytes */26")])
    case .unsatisfiedUnknown: try refuse("416 Range Not Satisfiable")
    case .coded: try connection.send(part("bytes \(asked)-25/26", letters[asked...], [("Content-Encoding", "gzip")]))
    case .noValidator:
      try connection.send(Reply(
        status: "206 Partial Content", fields: [("Content-Range", "bytes \(asked)-25/26")], body: Array(letters[asked...])))
    case .gap: try connection.send(part("bytes 12-25/26", letters[12...]))
    case .tooMuch:
      try connection.send("HTTP/1.1 206 P\r\nETag: \"v1\"\r\nContent-Range: bytes \(asked)-25/26\r\nTransfer-Encoding: chunked\r\n\r\n")
      try connection.send(chunked([Array(letters[asked...]), Array("AND MORE".utf8)]))
    case .missing: try connection.send(Reply(status: "404 Not Found", "no such page"))
    case .breaksAgain:
      try connection.send("HTTP/1.1 206 P\r\nETag: \"v1\"\r\nContent-Range: bytes \(asked)-25/26\r\nContent-Length: \(26 - asked)\r\n\r\n")
      try connection.send(letters[asked..<min(asked + 3, 26)])
      return false
    }
    return true
  }

  /// Fails once, and goes on with what that left: here, or (with a second argument) in the process that reads the blob.
  static let script = """
    local session = http.session(http.configuration.ephemeral { shared_container = arg[2] }, {
      did_resume_at_offset = function(_, _, offset, expected) print("resumed", offset, expected) end,
      did_write_data = function(_, _, written, total, expected)
        assert(written > 0 and (expected < 0 or total <= expected), total .. "/" .. expected)
      end,
    })
    local function run(given)
      local task = session:download_task(given)
      task:resume()
      return task:wait()
    end
    local step, blob_path = arg[3], arg[2] .. "/blob"
    local blob
    if step ~= "second" then
      local r, err = run(base .. "/file")
      assert(not r and err.code == "network_connection_lost", tostring(err))
      blob = err.resume_data
      if not blob then print("no resume data") blob = nil end
    else
      blob = assert(io.open(blob_path, "rb")):read("a")
    end
    if step == "first" then
      if blob then assert(io.open(blob_path, "wb")):write(blob):close() end
      return
    end
    if not blob then return end
    for _ = 1, 20 do
      local r, err = run { resume_data = blob }
      if r then
        print(r.status, assert(io.open(r.location, "rb")):read("a"))
        return
      end
      if not err.resume_data then return print("failed", err.code) end
      blob = err.resume_data
    end
    print("gave up")
    """

  @Test("B16: every answer to a request for the rest", arguments: Variant.allCases, [false, true])
  func answers(variant: Variant, inNewProcess: Bool) async throws {
    let server = try Self.server(variant)
    let directory = try TemporaryDirectory()
    var lines: [String] = []
    for step in inNewProcess ? ["first", "second"] : ["both"] {
      if step == "second", variant == .weak { break }
      let result = try await runScript(Self.script, [server.url, directory.path, step])
      #expect(result.status == 0, "\(result)")
      lines += result.lines
    }
    if variant == .weak {
      #expect(lines == ["no resume data"])
      return
    }
    let last = lines.last ?? ""
    let isRight = variant.files.contains { last.hasSuffix("\t" + $0) && last.split(separator: "\t").count == 2 }
    #expect(isRight || variant.mayFail && last.hasPrefix("failed"), "\(lines)")
    if variant == .breaksAgain { #expect(lines.filter { $0.hasPrefix("resumed") }.count > 1, "\(lines)") }
    #expect(server.requests.dropFirst().first?["Range"] == "bytes=10-")
    #expect(server.requests.dropFirst().first?["If-Range"] == "\"v1\"")
    #expect(server.requests.allSatisfy { $0["Accept-Encoding"] == "identity" })
    #expect(!directory.names.contains { $0.hasSuffix(".download") })
  }

  @Test("B18: 416 to a request for the rest of a hundred bytes", arguments: ["bytes */100", "bytes */60", ""])
  func rangeNotSatisfiable(contentRange: String) async throws {
    let count = RequestCounter()
    let whole = Array(repeating: UInt8(ascii: "x"), count: contentRange == "bytes */60" ? 60 : 100)
    let server = try ScriptedServer { connection in
      while let request = try connection.readRequest() {
        if count.next() == 1 {
          // Chunked and cut, so that the length is not known.
          try connection.send("HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nTransfer-Encoding: chunked\r\n\r\n")
          try connection.send(chunked([Array(repeating: UInt8(ascii: "x"), count: 100)]).dropLast(5))
          return
        }
        guard request["Range"] == nil else {
          let fields = contentRange.isEmpty ? [] : [("Content-Range", contentRange)]
          let tag = contentRange == "bytes */100" ? [("ETag", "\"v1\"")] : []
          try connection.send(
            Reply(
              status: "416 Range Not Satisfiable", fields: fields + tag,
              body: Array(repeating: UInt8(ascii: "<"), count: 200)))
          continue
        }
        try connection.send(Reply(fields: [("ETag", "\"v2\"")], body: whole))
      }
    }
    let directory = try TemporaryDirectory()
    let result = try await runScript(Self.script, [server.url, directory.path, "both"])
    #expect(result.lines.last == "200\t" + String(decoding: whole, as: UTF8.self), "\(result)")
    #expect(server.requests.count == 3)
  }

  @Test(
    "a file that was cut, grown, replaced, locked or removed meanwhile gives the right bytes",
    arguments: ["cut", "grown", "replaced", "removed", "directory", "link"])
  func tampering(how: String) async throws {
    let server = try Self.server(.rest)
    let directory = try TemporaryDirectory()
    let first = try await runScript(Self.script, [server.url, directory.path, "first"])
    #expect(first.status == 0, "\(first)")
    let part = try #require(directory.names.first { $0.hasSuffix(".resume") })
    let path = directory.path + "/" + part
    #expect(directory.read(part) == Array(Self.letters[..<10]))
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    #expect(attributes[.posixPermissions] as? Int == 0o600)
    switch how {
    case "cut": try directory.write(part, "ABCDEFG")
    case "grown": try directory.write(part, "ABCDEFGHIJand more")
    case "replaced": try directory.write(part, "ABCDEFGHIX")
    case "removed": try FileManager.default.removeItem(atPath: path)
    case "directory":
      try FileManager.default.removeItem(atPath: path)
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    default:
      try directory.write("other", "ABCDEFGHIJ")
      try FileManager.default.removeItem(atPath: path)
      try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: directory.path + "/other")
    }
    // A blob may be used more than once.
    for _ in 0..<2 {
      let second = try await runScript(Self.script, [server.url, directory.path, "second"])
      #expect(second.lines.last?.hasSuffix("\tABCDEFGHIJKLMNOPQRSTUVWXYZ") == true, "\(second)")
    }
    #expect(server.requests[1]["Range"] == (how == "grown" ? "bytes=10-" : nil))
    if how == "link" { #expect(directory.read("other") == Array("ABCDEFGHIJ".utf8)) }
  }

  @Test("damaged resume data is an error when the task is waited for", arguments: ["cut", "changed", "none"])
  func damagedBlob(how: String) async throws {
    let server = try Self.server(.rest)
    let directory = try TemporaryDirectory()
    _ = try await runScript(Self.script, [server.url, directory.path, "first"])
    var blob = try #require(directory.read("blob"))
    switch how {
    case "cut": blob.removeLast()
    case "changed": blob[blob.count / 2] ^= 1
    default: blob = []
    }
    try directory.write("blob", blob)
    let second = try await runScript(Self.script, [server.url, directory.path, "second"])
    #expect(second.lines == ["failed\tcannot_decode_raw_data"], "\(second)")
    #expect(server.requests.count == 1)
  }

  static let cancelling = [
    ScriptCase(
      "cancel_by_producing_resume_data, with and without a function",
      """
      local session = http.session(http.configuration.ephemeral { shared_container = arg[2] }, {
        did_complete = function(_, _, err) print("complete", err and err.code) end,
      })
      local function start(given)
        local task = session:download_task(given)
        task:resume()
        while task.count_of_bytes_received < 10 do http.sleep(0.01) end
        return task
      end
      local blob = assert(start(base .. "/hang"):cancel_by_producing_resume_data())
      local again
      local task = start { resume_data = blob }
      task:cancel_by_producing_resume_data(function(data) again = data end)
      print(task.state)
      local r, err = task:wait()
      while not again do http.sleep(0.01) end
      print(r, err.code, again == err.resume_data)
      local last = session:download_task { resume_data = again, headers = { ["X-Rest"] = "yes" } }
      last:resume()
      print(assert(io.open(assert(last:wait()).location)):read("a"))
      print(last:cancel_by_producing_resume_data())
      """,
      prints: "complete\tcancelled", "canceling", "complete\tcancelled", "nil\tcancelled\ttrue", "complete\tnil",
      "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "nil"),
    ScriptCase(
      "there is none before anything has come, nor for other tasks, nor after a plain cancel",
      """
      local session = http.session(http.configuration.ephemeral { shared_container = arg[2] })
      print(session:download_task(base .. "/hang"):cancel_by_producing_resume_data())
      local task = session:download_task(base .. "/silent")
      task:resume()
      http.sleep(0.1)
      print(task:cancel_by_producing_resume_data())
      task = session:download_task(base .. "/hang")
      task:resume()
      while task.count_of_bytes_received < 10 do http.sleep(0.01) end
      task:cancel()
      print(select(2, task:wait()).resume_data)
      local ok, message = pcall(function() session:data_task(base):cancel_by_producing_resume_data() end)
      print(ok, message:match("only a download task can produce resume data"))
      """, prints: "nil", "nil", "nil", "false\tonly a download task can produce resume data"),
    ScriptCase(
      "what nobody looks at goes with the error, what somebody looked at stays",
      """
      local session = http.session(http.configuration.ephemeral { shared_container = arg[2] })
      local function parts() return io.popen("find " .. arg[2] .. " -name '*.download' -o -name '*.resume' | wc -l"):read("n") end
      local function fail()
        local task = session:download_task(base .. "/cut")
        task:resume()
        local _, err = task:wait()
        return err
      end
      do local err = fail() print(parts(), err.code) end
      collectgarbage() collectgarbage()
      print(parts())
      do local blob = fail().resume_data print(#blob > 50, parts()) end
      collectgarbage() collectgarbage()
      print(parts())
      """, prints: "1\tnetwork_connection_lost", "0", "true\t1", "1"),
  ]

  @Test(arguments: cancelling)
  func cancels(_ scriptCase: ScriptCase) async throws {
    let server = try ScriptedServer { connection in
      while let request = try connection.readRequest() {
        if request.path == "/silent" { return connection.waitForClose() }
        if request["X-Rest"] != nil, request["Range"] == "bytes=10-" {
          try connection.send(Self.part("bytes 10-25/26", Self.letters[10...]))
          continue
        }
        if request["Range"] != nil {
          try connection.send(
            "HTTP/1.1 206 P\r\nETag: \"v1\"\r\nContent-Range: bytes 10-25/26\r\nContent-Length: 16\r\n\r\n")
        } else {
          try connection.send("HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nContent-Length: 26\r\n\r\nABCDEFGHIJ")
        }
        if request.path == "/cut" { return }
        connection.waitForClose()
      }
    }
    let directory = try TemporaryDirectory()
    try await expectScript(scriptCase.script, [server.url, directory.path], prints: scriptCase.prints)
    #expect(!directory.names.contains { !$0.hasSuffix(".resume") })
  }

  @Test("a signal keeps resume data for the completion that looks at it")
  func signal() async throws {
    let server = try ScriptedServer { connection in
      guard try connection.readRequest() != nil else { return }
      try connection.send("HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nContent-Length: 26\r\n\r\nABCDEFGHIJ")
      connection.waitForClose()
    }
    let directory = try TemporaryDirectory()
    let script = """
      local session = http.session(http.configuration.ephemeral { shared_container = arg[2] })
      for index = 1, 2 do
        session:download_task(base .. "/" .. index, function(_, _, err)
          print(index, err.code, index == 1 and #err.resume_data > 0)
        end):resume()
      end
      http.sleep(0.5)
      print("ready")
      io.flush()
      http.sleep(30)
      """
    let running = try Executable(.file(prelude + script), arguments: [server.url, directory.path]).start()
    #expect(await running.wrote("ready"))
    running.signal(SIGTERM)
    let result = await running.finish()
    #expect(result.ending == .exited(128 + SIGTERM), "\(result)")
    #expect(result.lines.sorted() == ["1\tcancelled\ttrue", "2\tcancelled\tfalse", "ready"], "\(result)")
    #expect(directory.names.count == 1 && directory.names[0].hasSuffix(".resume"), "\(directory.names)")
  }
}

/// Counts from several threads.
final class RequestCounter: @unchecked Sendable {
  private let lock = NSLock()
  private var count = 0

  func next() -> Int {
    lock.withLock {
      count += 1
      return count
    }
  }
}
