import Foundation
import TestSupport
import Testing

/// Public suites for dates, URLs, links and multipart bodies.
@Suite struct ConformanceTests {
  @Test func dates() async throws {
    let rows = try Fixture.json("dates.json").array
    var score = Score("dates")
    for (row, answer) in zip(rows, try await conformance("dates", rows)) {
      score.record(
        "\(row["suite"].string ?? "") '\(row["input"].string ?? "")'",
        answer != .null && answer["raised"].isNull && answer["epoch"] == row["epoch"],
        "\(answer["epoch"].text), expected \(row["epoch"].text) \(answer["raised"].string ?? "")")
    }
    try score.hold(floor: 114)
  }

  @Test func resolve() async throws {
    let rows = try Fixture.json("url_resolve.json")["resolve"].array
    var score = Score("url_resolve")
    var hard = Score("url_resolve, RFC 3986 5.4")
    for (row, answer) in zip(rows, try await conformance("resolve", rows)) {
      let isRight = answer != .null && answer["url"] == row["expected"]
      let name = "'\(row["input"].string ?? "")' on \(row["base"].string ?? "")"
      let detail = "\(answer["url"].text), expected \(row["expected"].text) \(answer["raised"].string ?? "")"
      score.record(name, isRight, detail)
      if row["suite"].string?.hasPrefix("rfc3986") == true { hard.record(name, isRight, detail) }
    }
    try score.hold(floor: 46)
    try hard.hold(floor: hard.total)
  }

  @Test func normalise() async throws {
    let rows = try Fixture.json("url_resolve.json")["normalise"].array
    var score = Score("url_normalise")
    for (row, answer) in zip(rows, try await conformance("normalise", rows)) {
      score.record(
        row["input"].string ?? "", answer != .null && answer["raised"].isNull && answer["url"] == row["expected"],
        "\(answer["url"].text), expected \(row["expected"].text)")
    }
    try score.hold(floor: 41)
  }

  @Test func links() async throws {
    let rows = try Fixture.json("link.json").array.filter { $0.object.keys.contains("links") }
    let server = try rowServer(
      rows.map { row in
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\nLink: "
        return [Array((head + (row["header"].string ?? "") + "\r\n\r\n").utf8)]
      })
    var score = Score("link")
    for (row, answer) in zip(rows, try await conformance("link", rows, origin: server.url)) {
      let fault = Self.fault(row, answer)
      score.record("\(row["suite"].string ?? "") \(row["header"].text)", fault == nil, fault ?? "")
    }
    try score.hold(floor: 83)
  }

  /// Compares target, relations and parameters; some suites list links with a relation alone.
  private static func fault(_ row: JSONValue, _ answer: JSONValue) -> String? {
    if answer == .null || !answer["raised"].isNull { return answer["raised"].string ?? "no answer" }
    let onlyRelated = row["note"].string?.contains("only links with rel") == true
    let seen = answer["links"].array.filter { !onlyRelated || $0["rel"].string?.isEmpty == false }
    let wanted = row["links"].array
    if seen.count != wanted.count { return "\(seen.count) links, expected \(wanted.count): \(answer["links"].text)" }
    for (index, link) in seen.enumerated() {
      let expected = wanted[index]
      let relations = (link["rel"].string ?? "").lowercased().split(separator: " ").map(String.init)
      let target = answer["expected"][index].string ?? expected["uri"].string
      if link["url"].string != target { return "url \(link["url"].text), expected \(target ?? "")" }
      if relations != expected["rels"].array.compactMap({ $0.string?.lowercased() }) {
        return "rel \(link["rel"].text), expected \(expected["rels"].text)"
      }
      for (name, value) in expected["params"].object where link["params"][name] != value {
        return "parameter \(name) \(link["params"][name].text), expected \(value.text)"
      }
    }
    return nil
  }

  @Test func multipart() async throws {
    let all = try Fixture.json("multipart.json")["produce_wpt"].array
    var score = Score("multipart")
    let rows = all.filter { row in
      let rule = Self.multipartRule(row)
      if let rule { score.skip(row["description"].string ?? "", rule) }
      return rule == nil
    }
    let server = try ScriptedServer { _ in Reply("ok") }
    let answers = try await conformance("multipart", rows, origin: server.url)
    var requests = server.requests[...]
    for (row, answer) in zip(rows, answers) {
      let request = answer["raised"].isNull ? requests.popFirst() : nil
      let name = "\(row["enctype"].string ?? "") \(row["description"].string ?? "")"
      let seen = request.map { Self.produced($0, row) } ?? answer["raised"].text
      let expected = Self.expected(row)
      score.record(name, seen == expected, "\(seen), expected \(expected)")
    }
    try score.hold(floor: 29)
  }

  private static func multipartRule(_ row: JSONValue) -> String? {
    if row["form_encoding"].string != "utf-8" { return "a form in another encoding than UTF-8" }
    let text = [row["name"], row["value"]].compactMap(\.string).joined()
    let isURLEncodedFile = row["enctype"].string != "multipart/form-data" && row["file"] != .null
    let breaks = text + (isURLEncodedFile ? row["file"]["filename"].string ?? "" : "")
    let bare = breaks.replacingOccurrences(of: "\r\n", with: "")
    return bare.unicodeScalars.contains { $0 == "\r" || $0 == "\n" }
      ? "line breaks that a browser's form layer makes CR LF" : nil
  }

  private static func produced(_ request: ReceivedRequest, _ row: JSONValue) -> String {
    guard row["enctype"].string == "multipart/form-data" else { return request.bodyText }
    guard let part = MultipartReader.parts(of: request)?.first else { return "not well formed: \(request.bodyText)" }
    let values = [part.name ?? "", part.filename ?? "-", String(decoding: part.data, as: UTF8.self)]
    return values.joined(separator: "|")
  }

  private static func expected(_ row: JSONValue) -> String {
    if let text = row["expected"].string { return text }
    let values = [row["expected"]["name"], row["expected"]["filename"], row["expected"]["value"]]
    return values.map { value in
      value.string.map { String(decoding: latin1Bytes($0), as: UTF8.self) } ?? "-"
    }.joined(separator: "|")
  }
}
