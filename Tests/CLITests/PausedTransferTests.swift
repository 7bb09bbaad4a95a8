import Foundation
import TestSupport
import Testing

/// What a transfer costs whose handler takes its time, however much the server sends.
@Suite struct PausedTransferTests {
  /// Counts what the process has written to, which nobody else's load can change; `fill(n)` has so many more tasks wait
  /// in their handler, of a body after the first `later` bytes.
  private static let gauge = """
    local handler, address, waiting, later = arg[2], base, 0, 0
    local function memory()
      local file <close> = assert(io.open("/proc/self/smaps_rollup"))
      return tonumber(file:read("a"):match("Private_Dirty:%s+(%d+)"))
    end
    local delegate = { did_complete = function() end }
    delegate[handler] = function(_, task)
      if not task.user_info or task.count_of_bytes_received < later then return end
      waiting = waiting + 1
      http.sleep(600)
    end
    local function open(limit)
      return http.session({
        cache = false, ca_file = arg[3], http_version = arg[4], http_maximum_connections_per_host = limit,
      }, delegate)
    end
    local function fill(session, n)
      local target = waiting + n
      for _ = 1, n do
        local task = session:data_task(address)
        task.user_info = true
        task:resume()
      end
      while waiting < target do http.sleep(0.01) end
      -- What may still come.
      http.sleep(0.5)
      collectgarbage()
      return memory()
    end
    -- KiB of each of n more: the least of three times, since the heap may once have to grow for what is made at the same
    -- time, and keeps what it got.
    local function cost(session, n)
      local least, before = math.huge, memory()
      for _ = 1, 3 do
        local after = fill(session, n)
        least, before = math.min(least, (after - before) / n), after
      end
      return least
    end

    """

  @Test("A hundred of them", arguments: ["did_receive_response", "did_receive_data"])
  func hundred(handler: String) async throws {
    let server = try ScriptedServer { connection in
      guard try connection.readRequest() != nil else { return }
      try connection.send("HTTP/1.1 200 OK\r\n\r\n")
      let piece = [UInt8](repeating: 0x78, count: 65536)
      while true { try connection.send(piece) }
    }
    let script =
      Self.gauge + """
        local session = open(1000)
        -- What is made once.
        fill(session, 20)
        local each = cost(session, 100)
        print(each < 100 or each)
        session:invalidate_and_cancel()
        """
    try await expectScript(script, [server.url, handler], prints: ["true"]) { $0.weight = 2 }
  }

  /// An nginx with a file of many megabytes, and its directory.
  private static func site() throws -> (Nginx, TemporaryDirectory) {
    let directory = try TemporaryDirectory()
    let file = try directory.write("large", [0x78])
    let handle = try #require(FileHandle(forWritingAtPath: file))
    try handle.truncate(atOffset: 200_000_000)
    try handle.close()
    return (try Nginx(root: directory.path, secure: true), directory)
  }

  @Test("Streams of one HTTP/2 connection", arguments: ["did_receive_response", "did_receive_data"])
  func streams(handler: String) async throws {
    let (nginx, directory) = try Self.site()
    defer { withExtendedLifetime(directory) {} }
    let script =
      Self.gauge + """
        address = base .. "/large"
        local session = open(1)
        print(assert(session:get(base .. "/-/ok")).http_version)
        -- (The server allows 128 streams.)
        fill(session, 10)
        local each = cost(session, 30)
        print(each < 100 or each)
        session:invalidate_and_cancel()
        """
    let arguments = [nginx.secureURL, handler, nginx.certificate]
    try await expectScript(script, arguments, prints: ["2", "true"]) { $0.weight = 2 }
  }

  /// What is paused in which handler, after how much of its body.
  struct Case: Sendable, CustomTestStringConvertible {
    var version = "1.1"
    var isSecure = true
    var isCoded = false
    var handler = "did_receive_data"
    var later = 0
    var limit = 100

    var testDescription: String {
      "HTTP/\(version)\(isSecure ? ", TLS" : "")\(isCoded ? ", gzip" : ""), \(handler) after \(later)"
    }
  }

  @Test(
    "With TLS, and with a coding",
    arguments: [
      Case(handler: "did_receive_response"),
      Case(),
      Case(later: 200_000),
      Case(isSecure: false, isCoded: true, handler: "did_receive_response"),
      Case(isSecure: false, isCoded: true),
      Case(isSecure: false, isCoded: true, later: 200_000),
      Case(isCoded: true, handler: "did_receive_response"),
      Case(isCoded: true, limit: 110),
      Case(isCoded: true, later: 200_000, limit: 130),
      Case(version: "2", isCoded: true, handler: "did_receive_response"),
      Case(version: "2", isCoded: true, limit: 110),
      Case(version: "2", isCoded: true, later: 200_000, limit: 130),
    ])
  func secured(_ wanted: Case) async throws {
    let (nginx, directory) = try Self.site()
    defer { withExtendedLifetime(directory) {} }
    if wanted.isCoded { try Self.code(in: directory) }
    let script =
      Self.gauge + """
        address, later = base .. "\(wanted.isCoded ? "/gzip/large" : "/large")", \(wanted.later)
        local session = open(\(wanted.version == "2" ? 1 : 1000))
        print(assert(session:get(base .. "/-/ok")).http_version)
        fill(session, 20)
        local each = cost(session, 30)
        print(each < \(wanted.limit) or each)
        session:invalidate_and_cancel()
        """
    let arguments = [
      wanted.isSecure ? nginx.secureURL : nginx.url, wanted.handler, nginx.certificate, wanted.version,
    ]
    try await expectScript(script, arguments, prints: [wanted.version, "true"]) { $0.weight = 2 }
  }

  /// A body that gzip makes about half as long, which nginx has under `/gzip/large`.
  private static func code(in directory: TemporaryDirectory) throws {
    let command = Process()
    command.executableURL = URL(fileURLWithPath: "/bin/sh")
    command.arguments = ["-c", "mkdir gzip && od -An -v -tx1 -N 6000000 /dev/urandom | gzip -1 > gzip/large.gz"]
    command.currentDirectoryURL = URL(fileURLWithPath: directory.path)
    try command.run()
    command.waitUntilExit()
    try #require(command.terminationStatus == 0)
  }

  @Test("Others on the connection go on, and what they read keeps nothing of those that wait")
  func others() async throws {
    let (nginx, directory) = try Self.site()
    defer { withExtendedLifetime(directory) {} }
    let script =
      Self.gauge + """
        address = base .. "/large"
        local session = open(1)
        assert(session:get(base .. "/-/ok"))
        local before = fill(session, 20)
        local received = 0
        for _, sink in ipairs { function(data) received = received + #data end, "/dev/null" } do
          assert(session:get(address, { sink = sink }))
        end
        for _ = 1, 100 do assert(session:get(base .. "/-/ok")) end
        collectgarbage()
        local each = (memory() - before) / 20
        print(received, each < 100 or each)
        session:invalidate_and_cancel()
        """
    let arguments = [nginx.secureURL, "did_receive_data", nginx.certificate]
    try await expectScript(script, arguments, prints: ["200000000\ttrue"]) { $0.weight = 2 }
  }
}
