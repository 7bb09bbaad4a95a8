import TestSupport
import Testing

/// A script given the origin of a server as its first argument, and the lines it must print.
struct ScriptCase: Sendable, CustomTestStringConvertible {
  let name: String
  let script: String
  let prints: [String]

  init(_ name: String, _ script: String, prints: String...) { self.init(name, script, prints: prints) }

  init(_ name: String, _ script: String, prints: [String]) {
    self.name = name
    self.script = script
    self.prints = prints
  }

  var testDescription: String { name }
}

/// What nearly every script begins with; on one line, so that a script's own lines count from 2.
let prelude = "local http, json, base = require 'http', require 'json', (...)\n"

/// Runs a script and expects exactly these lines on standard output and this exit status.
@discardableResult
func expectScript(
  _ script: String, _ arguments: [String] = [], prints lines: [String], status: Int32 = 0,
  sourceLocation: SourceLocation = #_sourceLocation, configure: (inout Executable) -> Void = { _ in }
) async throws -> RunResult {
  let result = try await runScript(script, arguments, configure: configure)
  #expect(result.lines == lines, "\(result)", sourceLocation: sourceLocation)
  #expect(result.ending == .exited(status), "\(result)", sourceLocation: sourceLocation)
  return result
}

/// Runs a script with the prelude in front of it.
func runScript(
  _ script: String, _ arguments: [String] = [], configure: (inout Executable) -> Void = { _ in }
) async throws -> RunResult {
  var run = Executable(.file(prelude + script), arguments: arguments)
  configure(&run)
  return try await run.run()
}

/// Runs a case against a server's origin.
func check(
  _ scriptCase: ScriptCase, _ origin: String, sourceLocation: SourceLocation = #_sourceLocation
) async throws {
  try await expectScript(
    scriptCase.script, [origin], prints: scriptCase.prints, sourceLocation: sourceLocation)
}
