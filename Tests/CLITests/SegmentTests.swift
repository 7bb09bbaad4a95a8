import Foundation
import Glibc
import TestSupport
import Testing

/// Files fetched in parts: at once, from several mirrors, over several runs, and from real servers.
@Suite struct SegmentTests {
  static let size = 3_000_000
  static let content = (0..<size).map { UInt8(truncatingIfNeeded: ($0 &* 2_654_435_761) >> 13) }
  static let other = content.map { $0 ^ 0xFF }

  /// Answers ranges of a file under a validator; each piece slowly where it says so.
  static func answer(
    _ request: ReceivedRequest, _ connection: Connection, content: [UInt8] = content, tag: String = "\"v1\"",
    fields: String = "", pause: Double = 0
  ) throws {
    let range = request["Range"].map { $0.dropFirst("bytes=".count).split(separator: "-").compactMap { Int($0) } }
    var body = content[...]
    var head = "HTTP/1.1 200 OK\r\n"
    if let range, let first = range.first, request["If-Range"] ?? tag == tag {
      let last = range.count > 1 ? min(range[1], content.count - 1) : content.count - 1
      body = content[first...last]
      head = "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes \(first)-\(last)/\(content.count)\r\n"
    }
    try connection.send("\(head)ETag: \(tag)\r\n\(fields)Content-Length: \(body.count)\r\n\r\n")
    while !body.isEmpty {
      try connection.send(body.prefix(65_536))
      body = body.dropFirst(65_536)
      if pause > 0 { try connection.pause(pause) }
    }
  }

  static func server(pause: Double = 0) throws -> ScriptedServer {
    try ScriptedServer { connection in
      while let request = try connection.readRequest() {
        switch request.path {
        case "/whole":
          try connection.send(Reply(fields: [("ETag", "\"v1\"")], body: content))
        case "/weak":
          try answer(request, connection, tag: "W/\"v1\"")
        case "/missing": try connection.send(Reply(status: "404 Not Found", "no such page"))
        default: try answer(request, connection, pause: pause)
        }
      }
    }
  }

  static let digest = """
    local function digest(path) return io.popen("sha256sum " .. path):read("a"):match("^%x+") end

    """

  static func sha256(_ bytes: [UInt8]) async throws -> String {
    let directory = try TemporaryDirectory()
    let path = try directory.write("file", bytes)
    let launch = Launch(program: "/usr/bin/sha256sum", arguments: [path], environment: [:], directory: directory.path)
    return String(try await RunningProcess(launch, deadline: 30).finish().stdout.prefix(64))
  }

  @Test("one file in several parts at once, with progress and a checksum")
  func parts() async throws {
    let server = try Self.server()
    let directory = try TemporaryDirectory()
    let script = """
      local last, steps = 0, 0
      local r = assert(http.get(base .. "/file", {
        sink = arg[2] .. "/out", segments = 4, checksum = "sha256:" .. arg[3],
        progress = function(received, expected)
          assert(received >= last and received <= expected)
          last, steps = received, steps + 1
        end,
      }))
      print(r.status, last, steps > 4, r.headers["Content-Length"], r.headers["Content-Range"], r.expected_content_length)
      """
    try await expectScript(
      script, [server.url, directory.path, try await Self.sha256(Self.content)],
      prints: ["200\t3000000\ttrue\t3000000\tnil\t3000000"])
    #expect(directory.names == ["out"])
    #expect(directory.read("out") == Self.content)
    #expect(server.peakConnections > 1)
    #expect(server.requests.count > 8)
    let ranged = server.requests.dropFirst()
    #expect(ranged.allSatisfy { $0["If-Range"] == "\"v1\"" && $0["Accept-Encoding"] == "identity" })
  }

  static let fallbacks = [
    ScriptCase(
      "a server that does not send parts is asked for the whole, and an error page is a response",
      """
      for _, name in ipairs { "whole", "weak" } do
        local r = assert(http.get(base .. "/" .. name, { sink = arg[2] .. "/" .. name, segments = 4 }))
        print(name, r.status, #io.open(arg[2] .. "/" .. name, "rb"):read("a"))
      end
      local r = assert(http.get(base .. "/missing", { sink = arg[2] .. "/missing", segments = 4 }))
      print(r.status, r.body)
      """, prints: "whole\t200\t3000000", "weak\t200\t3000000", "404\tno such page"),
    ScriptCase(
      "a wrong checksum leaves no file; wrong use is told",
      """
      local r, err = http.get(base .. "/file", { sink = arg[2] .. "/bad", segments = 2, checksum = "md5:" .. ("0"):rep(32) })
      print(r, err.code)
      for _, given in ipairs { { segments = 2 }, { segments = 0, sink = "x" }, { resume = true, sink = print } } do
        local ok, message = pcall(http.get, base, given)
        print(ok, (message:gsub("^.-: ", "")))
      end
      print(pcall(http.post, base, { resume = true, sink = arg[2] .. "/x", body = "x" }) == false)
      """,
      prints: "nil\tchecksum_mismatch",
      "false\toptions 'segments', 'mirrors' and 'resume' need a 'sink' that is a path",
      "false\toption 'segments' must be at least 1",
      "false\toptions 'segments', 'mirrors' and 'resume' need a 'sink' that is a path", "true"),
    ScriptCase(
      "two runs to one place: the second is told that the first is at it",
      """
      local job = http.spawn(function()
        return http.get(base .. "/file", { sink = arg[2] .. "/one", segments = 2, rate_limit = 3000000 })
      end)
      http.sleep(0.2)
      local r, err = http.get(base .. "/file", { sink = arg[2] .. "/one", segments = 2 })
      print(r, err.code, err.message:match("another task or process is writing it"))
      print(err.domain, err.url == base .. "/file")
      local plain = select(2, http.get(base .. "/file", { sink = arg[2] .. "/one" }))
      print(plain.code, plain.message == err.message, plain.domain, plain.url == err.url)
      print(assert(job:wait()).status, #io.open(arg[2] .. "/one", "rb"):read("a"))
      """,
      prints: "nil\tcannot_create_file\tanother task or process is writing it", "url\ttrue",
      "cannot_create_file\ttrue\turl\ttrue", "200\t3000000"),
  ]

  @Test(arguments: fallbacks)
  func behaviour(_ scriptCase: ScriptCase) async throws {
    let server = try Self.server()
    let directory = try TemporaryDirectory()
    try await expectScript(scriptCase.script, [server.url, directory.path], prints: scriptCase.prints)
    #expect(!directory.names.contains { $0.hasPrefix(".") }, "\(directory.names)")
  }

  @Test("a file that changes on the way is one version or the other")
  func changes() async throws {
    let count = RequestCounter()
    let server = try ScriptedServer { connection in
      while let request = try connection.readRequest() {
        let isOld = count.next() < 6
        try Self.answer(
          request, connection, content: isOld ? Self.content : Self.other, tag: isOld ? "\"v1\"" : "\"v2\"")
      }
    }
    let directory = try TemporaryDirectory()
    try await expectScript(
      "print(assert(http.get(base, { sink = arg[2], segments = 3 })).status)", [server.url, directory.path + "/out"],
      prints: ["200"])
    #expect(directory.read("out") == Self.other)
    #expect(directory.names == ["out"])
  }

  @Test("several mirrors, of which one is dead, one has another file and one is good")
  func mirrors() async throws {
    let good = try Self.server()
    let bad = try ScriptedServer { connection in
      while let request = try connection.readRequest() {
        try Self.answer(request, connection, content: Array(Self.other.dropLast()))
      }
    }
    let directory = try TemporaryDirectory()
    let script = """
      local r = assert(http.get("http://127.0.0.1:\(Listener.deafPort)/file", {
        sink = arg[2], segments = 3, checksum = "sha256:" .. arg[3], mirrors = { base .. "/file", "\(bad.url)/file" },
      }))
      print(r.status)
      """
    try await expectScript(
      script, [good.url, directory.path + "/out", try await Self.sha256(Self.content)], prints: ["200"])
    #expect(directory.read("out") == Self.content)
    #expect(directory.names == ["out"])
  }

  @Test("a Metalink document with mirrors, sizes and pieces")
  func metalink() async throws {
    let server = try Self.server()
    let directory = try TemporaryDirectory()
    var pieces = ""
    for offset in stride(from: 0, to: Self.size, by: 1_000_000) {
      pieces += "<hash>\(try await Self.sha256(Array(Self.content[offset..<(offset + 1_000_000)])))</hash>"
    }
    let whole = try await Self.sha256(Self.content)
    let document = """
      <?xml version="1.0" encoding="UTF-8"?>
      <metalink xmlns="urn:ietf:params:xml:ns:metalink">
        <file name="../up/file.bin">
          <size>\(Self.size)</size>
          <hash type="sha-256">\(whole)</hash>
          <pieces length="1000000" type="sha-256">\(pieces)</pieces>
          <url priority="2">http://127.0.0.1:\(Listener.deafPort)/file</url>
          <url location="de" priority="1">\(server.url)/file</url>
          <url>ftp://127.0.0.1/file</url>
        </file>
      </metalink>
      """
    try directory.write("file.meta4", document)
    let script = """
      local metalink = require "http.metalink"
      local text = io.open(arg[2] .. "/file.meta4"):read("a")
      local document = assert(metalink.parse(text))
      local file = document.files[1]
      print(#document.files, file.name, file.size, #file.urls, file.urls[1].location, file.urls[1].priority)
      print(#file.pieces.digests, file.pieces.length, file.pieces.algorithm, #file.hashes.sha256)
      local paths = assert(metalink.download(document, { directory = arg[2] }))
      print(#paths, paths[1] == arg[2] .. "/file.bin")
      print(select(2, metalink.parse("<html/>")).code, select(2, metalink.parse("<")).domain)
      print(select(2, metalink.download(document, { name = "none" })).message)
      """
    try await expectScript(
      script, [server.url, directory.path],
      prints: [
        "1\tfile.bin\t3000000\t2\tde\t1", "3\t1000000\tsha256\t64", "1\ttrue", "syntax\txml",
        "the document has no such file",
      ])
    #expect(directory.read("file.bin") == Self.content)
  }

  @Test("killed at random moments, and gone on with by the next process", arguments: 0..<6)
  func killed(seed: Int) async throws {
    let server = try Self.server(pause: 0.02)
    let directory = try TemporaryDirectory()
    var numbers = SystemRandomNumberGenerator()
    let segments = seed % 2 == 0 ? "segments = 3" : "resume = true"
    let script = """
      print("begun")
      io.flush()
      local r = assert(http.get(base .. "/file", { sink = arg[2], \(segments) }))
      print("whole", r.status)
      """
    var run = Executable(.file(prelude + script), arguments: [server.url, directory.path + "/out"])
    run.deadline = 120
    for _ in 0..<3 {
      let running = try run.start()
      #expect(await running.wrote("begun"))
      try await Task.sleep(for: .microseconds(Int.random(in: 50_000...600_000, using: &numbers)))
      running.signal(SIGKILL)
      _ = await running.finish()
      #expect(directory.read("out").map { $0 == Self.content } ?? true)
      if Int.random(in: 0..<4, using: &numbers) == 0 { damage(directory) }
    }
    let last = try await run.run()
    #expect(last.lines == ["begun", "whole\t200"], "\(last)")
    #expect(directory.read("out") == Self.content)
    #expect(directory.names == ["out"])
  }

  /// Spoils what is on disk, as a full disk or a power failure may.
  private func damage(_ directory: TemporaryDirectory) {
    let path = directory.path + "/.out.httpscript-part"
    let descriptor = open(path, O_RDWR)
    guard descriptor >= 0 else { return }
    _ = "damage".withCString { pwrite(descriptor, $0, 6, off_t(Int.random(in: 0..<Self.size - 6))) }
    close(descriptor)
  }

  @Test("a download task killed at random moments, and gone on with from its resume data", arguments: 0..<4)
  func killedWithResumeData(seed: Int) async throws {
    let server = try Self.server(pause: 0.02)
    let directory = try TemporaryDirectory()
    let script = """
      print("begun")
      io.flush()
      local session = http.session(http.configuration.ephemeral { shared_container = arg[2] })
      local saved = arg[2] .. "/saved"
      local file = io.open(saved, "rb")
      local blob = file and file:read("a")
      local round = 0
      while true do
        round = round + 1
        local task = session:download_task(blob and { resume_data = blob } or base .. "/file")
        task:resume()
        if round < 4 then
          http.sleep(0.15)
          local fresh = task:cancel_by_producing_resume_data()
          if fresh then
            blob = fresh
            local out = assert(io.open(saved .. ".new", "wb"))
            out:write(blob)
            out:close()
            assert(os.rename(saved .. ".new", saved))
          end
        end
        local r = task:wait()
        if r then
          assert(r:save(arg[2] .. "/out"))
          print("whole")
          return
        end
      end
      """
    var run = Executable(.file(prelude + script), arguments: [server.url, directory.path])
    run.deadline = 120
    var numbers = SystemRandomNumberGenerator()
    for _ in 0..<2 {
      let running = try run.start()
      #expect(await running.wrote("begun"))
      try await Task.sleep(for: .microseconds(Int.random(in: 50_000...700_000, using: &numbers)))
      running.signal(SIGKILL)
      _ = await running.finish()
      #expect(directory.read("out").map { $0 == Self.content } ?? true)
    }
    let last = try await run.run()
    #expect(last.lines == ["begun", "whole"], "\(last)")
    #expect(directory.read("out") == Self.content)
  }
}
