import Foundation
import TestSupport
import Testing

/// Never wrong bytes as a success: what sinks get of repeated calls, digests and limits of files fetched in parts, and
/// mirrors of which one is bad.
@Suite struct RightBytesTests {
  // MARK: Repeated calls

  /// "/breaks" breaks off the first time; "/busy" answers 503 twice; "/always" for ever.
  static func unsteadyServer() throws -> ScriptedServer {
    let counts = Counts()
    return try ScriptedServer { connection in
      while let request = try connection.readRequest() {
        let count = counts.next(request.path)
        switch request.path {
        case "/breaks":
          try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 300000\r\n\r\n")
          try connection.send([UInt8](repeating: 0x62, count: count == 0 ? 100_000 : 300_000))
          if count == 0 { return }
        case "/busy":
          try connection.send(count < 2 ? Reply(status: "503 Service Unavailable", "busy") : Reply("ready"))
        default: try connection.send(Reply(status: "503 Service Unavailable", "busy"))
        }
      }
    }
  }

  static let repeated = [
    ScriptCase(
      "a body that has begun to go to a function is not given to it again",
      """
      local count = 0
      local r, err = http.get(base .. "/breaks", {
        sink = function(data) count = count + #data end, retry = { limit = 1, backoff = 0 },
      })
      print(r, err.code, count > 0 and count <= 100000)
      """, prints: "nil\tnetwork_connection_lost\ttrue"),
    ScriptCase(
      "nor to an open file",
      """
      local file = assert(io.open(arg[2] .. "/out", "wb"))
      local r, err = http.get(base .. "/breaks", { sink = file, retry = { limit = 1, backoff = 0 } })
      print(r, err.code, file:seek("end") <= 100000)
      """, prints: "nil\tnetwork_connection_lost\ttrue"),
    ScriptCase(
      "nor to a device",
      """
      local r, err = http.get(base .. "/breaks", { sink = "/dev/null", retry = { limit = 1, backoff = 0 } })
      print(r, err.code)
      """, prints: "nil\tnetwork_connection_lost"),
    ScriptCase(
      "a file at a path is begun again",
      """
      local r = assert(http.get(base .. "/breaks", { sink = arg[2] .. "/out", retry = { limit = 1, backoff = 0 } }))
      print(r.status, #io.open(arg[2] .. "/out", "rb"):read("a"))
      """, prints: "200\t300000"),
    ScriptCase(
      "the body of an answer that is to be repeated goes to no sink",
      """
      local pieces = {}
      local function sink(data) pieces[#pieces + 1] = data end
      local r = assert(http.get(base .. "/busy", { sink = sink, retry = { limit = 3, backoff = 0 } }))
      print(r.status, r.body, table.concat(pieces))
      pieces = {}
      r = assert(http.get(base .. "/always", { sink = sink, retry = { limit = 1, backoff = 0 } }))
      print(r.status, r.body, #pieces)
      r = assert(http.get(base .. "/always", { sink = "/dev/null", retry = { limit = 1, backoff = 0 } }))
      print(r.status, r.body)
      """, prints: "200\tnil\tready", "503\tbusy\t0", "503\tbusy"),
  ]

  @Test(arguments: repeated)
  func repeatedCall(_ scriptCase: ScriptCase) async throws {
    let server = try Self.unsteadyServer()
    let directory = try TemporaryDirectory()
    try await expectScript(scriptCase.script, [server.url, directory.path], prints: scriptCase.prints)
  }

  // MARK: Files in parts

  /// Sends a digest field with every part.
  static func digestServer(_ field: String) throws -> ScriptedServer {
    try ScriptedServer { connection in
      while let request = try connection.readRequest() {
        try SegmentTests.answer(request, connection, fields: "Repr-Digest: \(field)\r\n")
      }
    }
  }

  static func base64(ofHexadecimal text: String) -> String {
    var bytes: [UInt8] = []
    var rest = text[...]
    while let byte = UInt8(rest.prefix(2), radix: 16) {
      bytes.append(byte)
      rest = rest.dropFirst(2)
    }
    return Data(bytes).base64EncodedString()
  }

  static let ways = ["resume = true", "segments = 3"]

  @Test("the digest that a server sends is verified", arguments: ways)
  func digest(way: String) async throws {
    let right = Self.base64(ofHexadecimal: try await SegmentTests.sha256(SegmentTests.content))
    let script = """
      local r, err = http.get(base .. "/file", { sink = arg[2] .. "/out", \(way) })
      print(r and r.status, err and err.code, err and err.message:match("%(Repr%-Digest%)"))
      """
    for (value, prints) in [(right, "200\tnil\tnil"), (IntegrityTests.wrong, "nil\tchecksum_mismatch\t(Repr-Digest)")] {
      let server = try Self.digestServer("sha-256=:\(value):;x=\"1,2\"")
      let directory = try TemporaryDirectory()
      try await expectScript(script, [server.url, directory.path], prints: [prints])
      #expect(directory.names == (value == right ? ["out"] : []))
    }
  }

  @Test("max_body holds", arguments: ways)
  func limit(way: String) async throws {
    let server = try SegmentTests.server()
    let directory = try TemporaryDirectory()
    let script = """
      local given = { sink = arg[2] .. "/out", max_body = 2999999, \(way) }
      local r, err = http.get(base .. "/file", given)
      print(r, err.code)
      """
    try await expectScript(script, [server.url, directory.path], prints: ["nil\tdata_length_exceeds_maximum"])
    #expect(directory.names == [])
    try await expectScript(
      "print(assert(http.get(base .. '/file', { sink = arg[2] .. '/out', max_body = 3000000, \(way) })).status)",
      [server.url, directory.path], prints: ["200"])
  }

  @Test("a device is written in one stream", arguments: ways)
  func device(way: String) async throws {
    let server = try SegmentTests.server()
    let script = """
      local sum = "sha256:" .. arg[2]
      print(assert(http.get(base .. "/file", { sink = "/dev/null", checksum = sum, \(way) })).status)
      """
    try await expectScript(script, [server.url, try await SegmentTests.sha256(SegmentTests.content)], prints: ["200"])
    #expect(server.requests.count == 1)
  }

  // MARK: Mirrors

  static func badServer(tag: String) throws -> ScriptedServer {
    try ScriptedServer { connection in
      while let request = try connection.readRequest() {
        try SegmentTests.answer(request, connection, content: SegmentTests.other, tag: tag)
      }
    }
  }

  @Test(
    "a mirror with wrong bytes is passed over", arguments: ["", "segments = 3,"], [#""v1""#, #""v2""#])
  func badMirror(way: String, tag: String) async throws {
    let (good, bad) = (try SegmentTests.server(), try Self.badServer(tag: tag))
    let sum = try await SegmentTests.sha256(SegmentTests.content)
    for (first, second) in [(bad, good), (good, bad)] {
      let directory = try TemporaryDirectory()
      let script = """
        print(assert(http.get(base .. "/file", {
          sink = arg[2] .. "/out", \(way) checksum = "sha256:\(sum)", mirrors = { "\(second.url)/file" },
        })).status)
        """
      try await expectScript(script, [first.url, directory.path], prints: ["200"])
      #expect(directory.read("out") == SegmentTests.content)
      #expect(directory.names == ["out"])
    }
    let directory = try TemporaryDirectory()
    let script = """
      local r, err = http.get(base .. "/file", {
        sink = arg[2] .. "/out", \(way) checksum = "sha256:\(sum)",
        mirrors = { base .. "/other", "\(good.url)/missing" },
      })
      print(r, err.code, err.message:match("%(the option checksum%)"))
      """
    try await expectScript(
      script, [bad.url, directory.path], prints: ["nil\tchecksum_mismatch\t(the option checksum)"])
    #expect(directory.names == [])
  }

  @Test("so is one of a Metalink document, which an error names")
  func metalink() async throws {
    let (good, bad) = (try SegmentTests.server(), try Self.badServer(tag: "\"v1\""))
    let directory = try TemporaryDirectory()
    let sum = try await SegmentTests.sha256(SegmentTests.content)
    let script = """
      local metalink = require "http.metalink"
      local function download(...)
        local urls = {}
        for _, url in ipairs { ... } do urls[#urls + 1] = "<url>" .. url .. "/file</url>" end
        local document = assert(metalink.parse('<metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="out">'
          .. '<hash type="sha-256">\(sum)</hash>' .. table.concat(urls) .. "</file></metalink>"))
        return metalink.download(document, { directory = arg[2] })
      end
      local paths, err = download(base)
      print(paths, err.code, err.message:match("%(the Metalink document%)"))
      print(#assert(download(base, "\(good.url)")))
      """
    try await expectScript(
      script, [bad.url, directory.path], prints: ["nil\tchecksum_mismatch\t(the Metalink document)", "1"])
    #expect(directory.read("out") == SegmentTests.content)
  }
}
