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

  private static func server() throws -> ScriptedServer {
    try ScriptedServer { _ in Reply(fields: [("ETag", "\"1\"")], body: Array(repeating: 7, count: 500_000)) }
  }

  /// Runs a script within a shell script that limits it (`"$@"`).
  private static func run(_ limits: String, _ script: String, _ arguments: [String]) async throws -> RunResult {
    let directory = try TemporaryDirectory()
    let file = try directory.write("script.lua", prelude + script)
    var launch = Launch(
      program: "/bin/sh", arguments: ["-ec", limits, "sh", Executable.path, file] + arguments,
      environment: ["HOME": directory.path, "PATH": "/usr/bin:/bin:/usr/sbin:/sbin"], directory: directory.path)
    launch.input = []
    return try await RunningProcess(launch, deadline: 30).finish()
  }

  @Test("nothing is lost when the disk is full", arguments: cases)
  func full(_ scriptCase: ScriptCase) async throws {
    let server = try Self.server()
    // Whatever is written beyond this is refused, as by a full disk.
    let limits = "echo old >out.bin; ulimit -f 8; trap '' XFSZ; \"$@\"; cat out.bin"
    let result = try await Self.run(limits, scriptCase.script, [server.url])
    #expect(result.lines == scriptCase.prints + ["old"] && result.ending == .exited(0), "\(result)")
  }

  /// A file system of its own with room for little, which an ordinary user may have where the kernel lets it have
  /// namespaces.
  private static let small = """
    mkdir small; mount -t tmpfs -o size=128k none small; cd small; echo old >out.bin; "$@"; cat out.bin
    """

  /// Why there is none; nil where there is.
  private static func noSmallDisk() async throws -> String? {
    let result = try await run("unshare -Urm sh -ec '\(small)' sh true", "", [])
    return result.lines.last == "old" ? nil : result.stderr
  }

  @Test("the same on a disk that is really full (ENOSPC)", arguments: cases)
  func noSpace(_ scriptCase: ScriptCase) async throws {
    if let reason = try await Self.noSmallDisk() {
      print("FullDiskTests: no small file system is to be had here, so ENOSPC is not tried: \(reason)")
      return
    }
    let server = try Self.server()
    let result = try await Self.run(
      "exec unshare -Urm sh -ec '\(Self.small)' sh \"$@\"", scriptCase.script, [server.url])
    #expect(result.lines == scriptCase.prints + ["old"] && result.ending == .exited(0), "\(result)")
  }
}
