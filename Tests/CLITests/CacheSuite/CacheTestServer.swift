import Foundation
import TestSupport

/// A request of a cache test as the server saw it, and the fields it answered with that the client must have got.
struct CacheTestRequest: Sendable {
  var number: Int
  var request: ReceivedRequest
  var answered: [(name: String, value: String)]
}

/// Plays the servers of http-tests/cache-tests: the n-th request of a test gets the n-th answer of its description.
final class CacheTestServer: @unchecked Sendable {
  private let tests: [String: JSONValue]
  private let lock = NSLock()
  private var seen: [String: [CacheTestRequest]] = [:]

  init(_ tests: [JSONValue]) {
    self.tests = Dictionary(tests.map { ($0["uuid"].string ?? "", $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// What came for a test, in order.
  func requests(_ uuid: String) -> [CacheTestRequest] { lock.withLock { seen[uuid] ?? [] } }

  func start() throws -> ScriptedServer {
    try ScriptedServer { connection in
      while let request = try connection.readRequest() {
        guard try self.answer(request, connection) else { return }
      }
    }
  }

  /// False: the connection is closed.
  private func answer(_ request: ReceivedRequest, _ connection: Connection) throws -> Bool {
    let id = request.path.split(separator: "/").dropFirst().first.map(String.init) ?? ""
    let number = request["Req-Num"].flatMap { Int($0) } ?? 0
    guard let test = tests[id], number > 0, test["requests"].array.count >= number else {
      try connection.send(Reply(status: "409 Conflict", "no such request"), to: request)
      return true
    }
    let configuration = test["requests"][number - 1]
    if let pause = configuration["response_pause"].integer { try connection.pause(Double(pause)) }
    var reply = CacheTestReply(configuration, request, now: Date())
    if number > 1 { reply.validate(against: test["requests"][number - 2]) }
    let numbers = lock.withLock {
      seen[id, default: []].append(CacheTestRequest(number: number, request: request, answered: reply.saved))
      return seen[id, default: []].map { String($0.number) }
    }
    if configuration["disconnect"].isTrue { return false }
    try connection.send(reply.bytes(numbers: numbers, defaultBody: id))
    return !reply.endsByClosing
  }
}

/// An answer of the test server.
private struct CacheTestReply {
  private let configuration: JSONValue
  private let request: ReceivedRequest
  private let now: Date
  private var status: (Int, String)
  private var fields: [(name: String, value: String)] = []
  /// Those the client must have got as they are.
  private(set) var saved: [(name: String, value: String)] = []

  init(_ configuration: JSONValue, _ request: ReceivedRequest, now: Date) {
    self.configuration = configuration
    self.request = request
    self.now = now
    let given = configuration["response_status"]
    status = given.isNull ? (200, "OK") : (given[0].integer ?? 200, given[1].string ?? "")
    for field in configuration["response_headers"].array {
      let value = Self.value(field, base: request.target, now: now, hasMagic: configuration["magic_locations"].isTrue)
      let name = field[0].string ?? ""
      fields.append((name, value))
      if field[2].isNull || field[2].isTrue { saved.append((name, value)) }
    }
  }

  /// A number is a date so many seconds from now; a location is beneath the request's URL.
  static func value(_ field: JSONValue, base: String, now: Date, hasMagic: Bool) -> String {
    if let seconds = field[1].integer { return cacheTestDate(now.addingTimeInterval(Double(seconds))) }
    let value = field[1].string ?? ""
    let name = (field[0].string ?? "").lowercased()
    guard hasMagic, ["location", "content-location"].contains(name) else { return value }
    return value.isEmpty ? base : "\(base)/\(value)"
  }

  /// 304 where the request has the validators of the answer before; 999 says that it should have had them.
  mutating func validate(against before: JSONValue) {
    guard configuration["expected_type"].string?.hasSuffix("validated") == true else { return }
    status = (999, "304 Not Generated")
    for (field, condition) in [("last-modified", "If-Modified-Since"), ("etag", "If-None-Match")] {
      let known = before["response_headers"].array.first { $0[0].string?.lowercased() == field }
      guard let known, let asked = request[condition] else { continue }
      // A date was counted from another now; the client can only have it from there.
      if known[1].integer != nil || known[1].string == asked { status = (304, "Not Modified") }
    }
  }

  var endsByClosing: Bool { fields.contains { $0.name.lowercased() == "transfer-encoding" } }

  func bytes(numbers: [String], defaultBody: String) -> [UInt8] {
    var text = interimText
    text += "HTTP/1.1 \(status.0) \(status.1)\r\nServer-Base-Url: \(request.target)\r\n"
    text += "Server-Request-Count: \(numbers.count)\r\nClient-Request-Count: \(request["Req-Num"] ?? "")\r\n"
    text +=
      "Server-Now: \(Int(now.timeIntervalSince1970 * 1000))\r\nRequest-Numbers: \(numbers.joined(separator: " "))\r\n"
    for field in fields { text += "\(field.name): \(field.value)\r\n" }
    if !has("content-type") { text += "Content-Type: text/plain\r\n" }
    if !has("date") { text += "Date: \(cacheTestDate(now))\r\n" }
    let hasBody = ![204, 304].contains(status.0) && request.method != "HEAD"
    let body = hasBody ? configuration["response_body"].string ?? defaultBody : ""
    if hasBody, !has("content-length"), !endsByClosing { text += "Content-Length: \(body.utf8.count)\r\n" }
    return latin1Bytes(text + "\r\n" + body)
  }

  private var interimText: String {
    configuration["interim_responses"].array.reduce(into: "") { text, response in
      text += "HTTP/1.1 \(response[0].integer ?? 0) Interim\r\n"
      for field in response[1].array { text += "\(field[0].string ?? ""): \(field[1].string ?? "")\r\n" }
      text += "\r\n"
    }
  }

  private func has(_ name: String) -> Bool { fields.contains { $0.name.lowercased() == name } }
}

/// A date as HTTP writes it.
func cacheTestDate(_ date: Date) -> String {
  var seconds = time_t(date.timeIntervalSince1970.rounded(.down))
  var parts = tm()
  gmtime_r(&seconds, &parts)
  var text = [CChar](repeating: 0, count: 64)
  strftime(&text, text.count, "%a, %d %b %Y %H:%M:%S GMT", &parts)
  return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}
