import Foundation
import Synchronization
import TestSupport
import Testing

/// curl's own HTTP tests, translated and replayed.
@Suite struct CurlSuiteTests {
  /// What a curl exit code means in our words; codes not listed mean any error.
  static let codes = [
    3: "bad_url", 18: "network_connection_lost", 47: "http_too_many_redirects", 52: "network_connection_lost",
    63: "data_length_exceeds_maximum",
  ]

  /// A case with its server and its translation.
  struct Prepared: Sendable {
    let replay: CurlReplay
    let one: CurlCase
    let steps: [JSONValue]
    let cookies: JSONValue?
  }

  @Test(.timeLimit(.minutes(3)))
  func replay() async throws {
    let directory = try TemporaryDirectory()
    var score = Score("curl_http_tests")
    var prepared: [Prepared] = []
    for json in try Fixture.json("curl_http_tests.json")["tests"].array {
      let replies = Replies()
      let replay = try CurlReplay { replies.value }
      let one = CurlCase(json, port: replay.port, directory: directory.path)
      replies.value = one.reply
      do {
        let translation = CurlTranslation(one: one)
        prepared.append(
          Prepared(replay: replay, one: one, steps: try translation.steps(), cookies: try translation.cookies()))
      } catch let skip as CurlTranslation.Skip {
        score.skip("\(one.number)", skip.rule)
      }
    }
    for (environment, group) in Dictionary(grouping: prepared, by: \.one.environment) {
      let answers = try await Self.play(group, environment)
      for case_ in group.sorted(by: { $0.one.number < $1.one.number }) {
        let fault = Self.fault(of: case_, answers["\(case_.one.number)"] ?? .null)
        score.record("\(case_.one.number) \(case_.one.name)", fault == nil, fault ?? "")
      }
    }
    try score.hold(floor: 229)
  }

  /// Runs the driver on a group of cases; the answers by test number.
  static func play(_ group: [Prepared], _ environment: [String: String]) async throws -> [String: JSONValue] {
    let directory = try TemporaryDirectory()
    let list = JSONValue.array(
      group.map {
        .object([
          "name": .string("\($0.one.number)"), "steps": .array($0.steps), "cookies": $0.cookies ?? .bool(false),
        ])
      })
    let file = try directory.write("cases.json", list.text)
    var run = Executable(.none, arguments: [Fixture.directory + "/drivers/curl.lua", file])
    run.environment = environment
    run.deadline = 120
    let result = try await run.run()
    if result.status != 0 { print("curl driver: \(result.ending)\n\(result.stderr)") }
    let rows = result.output.split(separator: 10).compactMap { try? JSONValue(parsing: Array($0)) }
    return Dictionary(rows.map { ($0["name"].string ?? "", $0["results"]) }, uniquingKeysWith: { $1 })
  }

  /// What is wrong with a case, nil when nothing is.
  static func fault(of prepared: Prepared, _ results: JSONValue) -> String? {
    let one = prepared.one
    guard results.array.count == prepared.steps.count, let last = results.array.last else {
      return "no answer: \(results.text)"
    }
    if let wanted = one.protocolText {
      let comparison = CurlComparison(patterns: one.stripPatterns)
      let (seen, expected) = (comparison.normal(latin1(prepared.replay.wire)), comparison.normal(wanted))
      if seen != expected {
        return "requests differ\n    seen     \(seen)\n    expected \(expected) \(last.text.prefix(200))"
      }
    }
    // A server that ignores the range makes curl fail; here its answer is one like any other.
    if one.errorCode == 33 {
      return last["status"].integer.map { $0 == 200 || $0 == 404 } == true ? nil : "status \(last["status"].text)"
    }
    if let code = one.errorCode { return wrongError(code, last) }
    if let failed = results.array.first(where: { !$0["error"].isNull }) { return "error: \(failed.text)" }
    return wrongBody(one, prepared.steps, last)
  }

  private static func wrongError(_ code: Int, _ last: JSONValue) -> String? {
    if code == 22 { return (last["status"].integer ?? 0) >= 400 ? nil : "expected a status of 400 or more" }
    guard let error = last["error"].string, error != "raised" else {
      return "expected an error: \(last.text.prefix(200))"
    }
    guard let wanted = codes[code] else { return nil }
    return error == wanted ? nil : "error \(error), expected \(wanted)"
  }

  private static func wrongBody(_ one: CurlCase, _ steps: [JSONValue], _ last: JSONValue) -> String? {
    // Where curl goes on with a file it takes but the rest of a whole one that comes in its place.
    if one.command.contains(" -C "), last["status"].integer == 200 { return nil }
    guard steps.count == 1, steps[0]["if_modified_since"].isNull, let wanted = one.expectedBody else { return nil }
    let expected = latin1Bytes(wanted).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    let seen = last["body"].string ?? ""
    return seen == expected ? nil : "body \(seen.prefix(120)), expected \(expected.prefix(120))"
  }
}

/// The replies of one server, set once its port is known.
private final class Replies: Sendable {
  private let replies = Mutex<[String: String]>([:])

  var value: [String: String] {
    get { replies.withLock { $0 } }
    set { replies.withLock { $0 = newValue } }
  }
}
