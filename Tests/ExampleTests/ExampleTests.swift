import Foundation
import TestSupport
import Testing

/// Every script in examples/ against real servers: what it prints, how it ends, what it sends.
@Suite struct ExampleTests {
  static let cases =
    getCases + formCases + multipartCases + mapCases + redirectCases + offlineCases + progressCases + retryCases
    + crawlCases + loginCases + trustCases + streamCases + styleCases + backgroundCases

  static let scripts = ((try? FileManager.default.contentsOfDirectory(atPath: Example.folder)) ?? []).sorted()

  @Test(arguments: cases)
  func example(_ one: ExampleCase) async throws {
    try await one.check(try Example(one.script))
  }

  @Test func everyScriptIsCovered() {
    #expect(Set(Self.cases.map(\.script)).sorted() == Self.scripts)
  }

  @Test("without arguments a script says how it is used", arguments: scripts)
  func usage(_ script: String) async throws {
    let example = try Example(script)
    try await example.expectFailure(saying: "usage: \(script) ", status: 2)
    #expect(example.directory.names == [])
  }

  @Test("a script's first comment says what it does and how it is used", arguments: scripts)
  func comment(_ script: String) throws {
    let text = try String(contentsOfFile: Example.folder + "/" + script, encoding: .utf8)
    let comment = text.components(separatedBy: "\n").prefix { $0.hasPrefix("--") }
    #expect(comment.contains { $0.hasPrefix("-- Usage: httpscript \(script) ") })
  }
}
