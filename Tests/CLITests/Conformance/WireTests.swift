import Foundation
import TestSupport
import Testing

/// Chromium's tables for what comes over the wire.
@Suite struct WireTests {
  @Test func chunkedDecoding() async throws {
    let rows = try Fixture.json("http_wire.json")["chunked_decoder"].array
    let head = Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".utf8)
    let server = try rowServer(
      rows.map { row in [head] + row["inputs"].array.map { latin1Bytes($0.string ?? "") } })
    var score = Score("http_wire, chunked")
    for (row, answer) in zip(rows, try await conformance("wire", rows, origin: server.url)) {
      let isWhole = row["expect"].string == "body" && row["reached_eof"].isTrue
      let isRight = isWhole ? answer["body"] == row["body"] : answer["error"].string != nil
      score.record(row["name"].string ?? "", isRight, answer.text)
    }
    try score.hold(floor: 18)
  }

  static func rows(_ table: String) throws -> [[String]] {
    try Fixture.json("http_wire.json")["chromium_http_util"][table]["rows"].array.map { row in
      row.array.map { $0.string ?? "" }
    }
  }

  @Test func rawHeaders() async throws {
    // In rows with a bar of their own, the bar that stands for NUL in the result says nothing.
    let rows = try Self.rows("AssembleRawHeaders").filter { !$0[0].contains("|") }
    let server = try rowServer(rows.map { [latin1Bytes($0[0])] })
    let answers = try await conformance("wire", rows.map { .array($0.map(JSONValue.string)) }, origin: server.url)
    var score = Score("http_wire, raw headers")
    for (row, answer) in zip(rows, answers) {
      let lines = row[1].components(separatedBy: "|").dropFirst().filter { $0.first.map(Self.beginsName) == true }
      let expected = lines.filter { $0.contains(":") }.map(Self.normal)
      let seen = answer["fields"].array.compactMap(\.string).map(Self.normal)
      score.record(
        JSONValue.string(row[0]).text, answer["error"].isNull && answer != .null && seen == expected,
        "\(seen) \(answer["error"].text), expected \(expected)")
    }
    try score.hold(floor: 13)
  }

  private static func beginsName(_ character: Character) -> Bool {
    character.isASCII && (character.isLetter || character.isNumber)
  }

  private static func normal(_ line: String) -> String {
    guard let colon = line.firstIndex(of: ":") else { return line }
    return line[..<colon] + ": " + line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
  }

  @Test func contentTypes() async throws {
    let rows = try Self.rows("ParseContentType")
    let server = try rowServer(
      rows.map { row in
        [latin1Bytes("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\nContent-Type: \(row[0])\r\n\r\n")]
      })
    let answers = try await conformance("wire", rows.map { .array($0.map(JSONValue.string)) }, origin: server.url)
    var score = Score("http_wire, content types")
    for (row, answer) in zip(rows, answers) {
      let seen = [answer["mime"].string ?? "", (answer["charset"].string ?? "").lowercased()]
      let expected = [row[1], row[2].lowercased()]
      score.record(row[0], answer != .null && seen == expected, "\(seen), expected \(expected)")
    }
    try score.hold(floor: 28)
  }
}
