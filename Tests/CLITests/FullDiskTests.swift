import TestSupport
import Testing

/// A disk that takes no more: an error that names the file, and what was there before is still there.
@Suite struct FullDiskTests {
  static let cases = [
    ScriptCase(
      "a call's file",
      """
      local r, err = http.get(base, { sink = "out.bin" })
      print(r, err.code, err.message:find("out.bin", 1, true) ~= nil, err.underlying.source)
      """, prints: "nil\tcannot_write_to_file\ttrue\terrno"),
    ScriptCase(
      "a response that is saved",
      """
      local r, err = assert(http.get(base)):save("out.bin")
      print(r, err.code, err.message:find("out.bin", 1, true) ~= nil)
      """, prints: "nil\tcannot_write_to_file\ttrue"),
    ScriptCase(
      "a download task's file",
      """
      local task = http.session(http.configuration.ephemeral { shared_container = "." }):download_task(base)
      task:resume()
      print(select(2, task:wait()).code)
      """, prints: "cannot_write_to_file"),
    ScriptCase(
      "a file in several parts",
      """
      local r, err = http.get(base, { sink = "out.bin", segments = 2 })
      print(r, err.code)
      """, prints: "nil\tcannot_write_to_file"),
  ]

  @Test("nothing is lost when the disk is full", arguments: cases)
  func full(_ scriptCase: ScriptCase) async throws {
    let server = try ScriptedServer { _ in Reply(fields: [("ETag", "\"1\"")], body: Array(repeating: 7, count: 500_000))
    }
    let directory = try TemporaryDirectory()
    try directory.write("out.bin", "old")
    let script = try directory.write("script.lua", prelude + scriptCase.script)
    // Whatever is written beyond this is refused, as by a full disk.
    let limited = "ulimit -f 8; trap '' XFSZ; exec \"$@\""
    var launch = Launch(
      program: "/bin/sh", arguments: ["-c", limited, "sh", Executable.path, script, server.url],
      environment: ["HOME": "/nonexistent"], directory: directory.path)
    launch.input = []
    let result = try await RunningProcess(launch, deadline: 30).finish()
    #expect(result.lines == scriptCase.prints && result.ending == .exited(0), "\(result)")
    #expect(directory.read("out.bin") == Array("old".utf8))
  }
}
