import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

/// Whatever a server does, and whenever the process is killed: what there is in the end is one whole version of the file
/// that the server had, or an error.
@Suite("Killed at random moments, with a server that breaks, lies and changes the file")
struct KilledTests {
  /// How a file is fetched. Each prints "begun" once it is at it, and "whole" or "failed" at its end; `arg[2]` is where
  /// the file is to be.
  enum Way: String, CaseIterable {
    case background, resume, segments, resumeData

    var script: String {
      switch self {
      case .background:
        """
        local delegate = {}
        function delegate.did_finish_downloading(_, task, location)
          if task.response.status < 300 then assert(os.rename(location, arg[2])) end
        end
        function delegate.did_complete(_, task, err)
          say(not err and task.response.status < 300 and "whole" or "failed")
        end
        local configuration = http.configuration.background("killed", { shared_container = arg[2] .. ".d" })
        local session = assert(http.session(configuration, delegate))
        say("begun")
        if #session:all_tasks() == 0 then session:download_task(base) end
        for _, task in ipairs(session:all_tasks()) do task:resume() end
        """
      case .resume: fetch("resume = true")
      case .segments: fetch("segments = 3")
      case .resumeData:
        """
        local session = http.session(http.configuration.ephemeral { shared_container = arg[2] .. ".d" })
        local file = io.open(arg[2] .. ".blob", "rb")
        local blob = file and file:read("a")
        say("begun")
        for round = 1, 6 do
          local task = session:download_task(blob and { resume_data = blob } or base)
          task:resume()
          if round % 2 == 1 then http.sleep(0.02) blob = task:cancel_by_producing_resume_data() or blob end
          local r, err = task:wait()
          if r then return say(r.status < 300 and assert(r:save(arg[2])) and "whole" or "failed") end
          if not r and err.code ~= "cancelled" then blob = err.resume_data end
          if blob then
            assert(io.open(arg[2] .. ".new", "wb")):write(blob):close()
            assert(os.rename(arg[2] .. ".new", arg[2] .. ".blob"))
          end
        end
        say("failed")
        """
      }
    }

    private func fetch(_ option: String) -> String {
      """
      say("begun")
      local r = http.get(base, { sink = arg[2], \(option) })
      say(r and r.status < 300 and "whole" or "failed")
      """
    }
  }

  private static let opening = "local function say(text) print(text) io.flush() end\n"
  /// Files for each way; each is fetched by several processes, of which all but the last are killed.
  private static let files = ProcessInfo.processInfo.environment["HTTPSCRIPT_LONG"] != nil ? 100 : 8

  @Test("the file is right", arguments: Way.allCases)
  func killed(_ way: Way) async throws {
    var ends: [String: Int] = [:]
    for seed in 0..<Self.files {
      let end = try await Self.fetch(way, UInt64(seed) * 7 + UInt64(way.rawValue.count))
      ends[end, default: 0] += 1
    }
    // It must not be right by never succeeding.
    #expect(ends["whole", default: 0] * 3 >= Self.files, "\(ends)")
    print("KilledTests: \(way) \(ends)")
  }

  private static func fetch(_ way: Way, _ seed: UInt64) async throws -> String {
    let file = Mutex(LyingFile(seed: seed, size: 300_000))
    let server = try ScriptedServer { connection in
      while let request = try connection.readRequest() {
        let answer = file.withLock { $0.answer(range: request["Range"], condition: request["If-Range"]) }
        var rest = answer.bytes[...]
        while !rest.isEmpty {
          try connection.send(rest.prefix(16_384))
          rest = rest.dropFirst(16_384)
          try connection.pause(0.002)
        }
        if !answer.staysOpen { return }
      }
    }
    let directory = try TemporaryDirectory()
    try directory.write("out.d/.keep", "")
    var numbers = SeededNumbers(seed: seed)
    var run = Executable(.file(prelude + opening + way.script), arguments: [server.url, directory.path + "/out"])
    run.deadline = 60
    for _ in 0..<4 {
      let running = try run.start()
      #expect(await running.wrote("begun"))
      try await Task.sleep(for: .milliseconds(numbers.below(80)))
      running.signal(SIGKILL)
      let result = await running.finish()
      try Self.check(directory, file.withLock { $0.versions }, way, seed)
      if result.stdout.contains("whole") { return "whole" }
      // What is there of it is no better than before.
      if numbers.oneIn(6) { Self.damage(directory, &numbers) }
    }
    let last = try await run.run()
    #expect(last.ending == .exited(0), "\(way) \(seed): \(last)")
    try Self.check(directory, file.withLock { $0.versions }, way, seed)
    let isWhole = last.lines.contains("whole")
    #expect(!isWhole || directory.read("out") != nil)
    return isWhole ? "whole" : "failed"
  }

  private static func check(
    _ directory: TemporaryDirectory, _ versions: [LyingFile.Version], _ way: Way, _ seed: UInt64
  ) throws {
    guard let bytes = directory.read("out") else { return }
    let isWhole = versions.contains { $0.bytes == bytes }
    #expect(isWhole, "\(way), seed \(seed): \(bytes.count) bytes that the server never had")
  }

  /// Changes or cuts what an earlier run has left, whatever file it is.
  private static func damage(_ directory: TemporaryDirectory, _ numbers: inout SeededNumbers) {
    guard let paths = FileManager.default.subpaths(atPath: directory.path)?.sorted() else { return }
    for name in paths where name != "out" && !name.hasSuffix(".keep") && numbers.oneIn(2) {
      let descriptor = open(directory.path + "/" + name, O_RDWR)
      guard descriptor >= 0 else { continue }
      let length = max(1, Int(lseek(descriptor, 0, SEEK_END)))
      if numbers.oneIn(2) {
        ftruncate(descriptor, off_t(numbers.below(length)))
      } else {
        _ = "x".withCString { pwrite(descriptor, $0, 1, off_t(numbers.below(length))) }
      }
      close(descriptor)
    }
  }
}
