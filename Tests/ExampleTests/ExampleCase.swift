import TestSupport
import Testing

/// One run, or a few, of a script in examples/, and what must come of it.
struct ExampleCase: Sendable, CustomTestStringConvertible {
  /// The script's name in examples/; no other can be run.
  let script: String
  let name: String
  let check: @Sendable (Example) async throws -> Void

  init(_ script: String, _ name: String, check: @escaping @Sendable (Example) async throws -> Void) {
    self.script = script
    self.name = name
    self.check = check
  }

  var testDescription: String { "\(script): \(name)" }
}

/// A script in examples/, run with a directory of its own as the working directory.
struct Example: Sendable {
  let script: String
  /// The working directory, empty at first.
  let directory: TemporaryDirectory

  init(_ script: String) throws {
    self.script = script
    directory = try TemporaryDirectory()
  }

  /// The directory of all the examples.
  static let folder = Fixture.package + "/examples"

  /// Runs it to the end.
  func run(_ arguments: [String]) async throws -> RunResult {
    var run = Executable(.none, arguments: [Example.folder + "/" + script] + arguments)
    run.directory = directory.path
    return try await run.run()
  }

  /// Runs it and expects exactly these lines on standard output, and on standard error one with this text, or nothing.
  func expect(
    _ arguments: String..., prints lines: [String], reporting report: String? = nil, status: Int32 = 0,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let result = try await run(arguments)
    #expect(result.lines == lines, "\(result)", sourceLocation: sourceLocation)
    #expect(result.ending == .exited(status), "\(result)", sourceLocation: sourceLocation)
    guard let report else {
      #expect(result.stderr.isEmpty, "\(result)", sourceLocation: sourceLocation)
      return
    }
    #expect(result.stderr.hasPrefix(report), "\(result)", sourceLocation: sourceLocation)
    #expect(result.stderr.count { $0 == "\n" } == 1, "\(result)", sourceLocation: sourceLocation)
  }

  /// Runs it and expects that it prints nothing, fails with this status and says why on standard error.
  func expectFailure(
    _ arguments: String..., saying text: String, status: Int32 = 1, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let result = try await run(arguments)
    #expect(result.stdout.isEmpty, "\(result)", sourceLocation: sourceLocation)
    #expect(result.ending == .exited(status), "\(result)", sourceLocation: sourceLocation)
    #expect(result.stderr.contains(text), "\(result)", sourceLocation: sourceLocation)
  }
}
