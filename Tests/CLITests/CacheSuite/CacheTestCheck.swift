import Foundation
import TestSupport

/// Why a cache test did not pass.
struct CacheTestFailure: Error {
  /// What the test needs before it can say something did not happen.
  var isSetup: Bool
  var message: String
}

/// Compares what a client got, and what its server saw, with a test's description, as the suite's own client does.
struct CacheTestCheck {
  let test: JSONValue
  let answers: [JSONValue]
  let seen: [CacheTestRequest]

  private var requests: [JSONValue] { test["requests"].array }

  func run() throws(CacheTestFailure) {
    guard answers.count == requests.count else { throw CacheTestFailure(isSetup: true, message: "no answers") }
    for (index, request) in requests.enumerated() { try checkAnswer(index, request, CacheTestAnswer(answers[index])) }
    try checkRequests()
  }

  private func expect(
    _ request: JSONValue, _ member: String, _ condition: Bool, _ message: @autoclosure () -> String
  ) throws(CacheTestFailure) {
    if condition { return }
    let isSetup = request["setup"].isTrue || request["setup_tests"].array.contains(.string(member))
    throw CacheTestFailure(isSetup: isSetup, message: message())
  }

  // MARK: What the client got

  private func checkAnswer(_ index: Int, _ request: JSONValue, _ answer: CacheTestAnswer) throws(CacheTestFailure) {
    let number = index + 1
    if let error = answer.error {
      // A client without a proxy's 502: the error is the answer.
      let isWanted = request.object.keys.contains("expected_status") && request["expected_status"].isNull
      if isWanted { return }
      throw CacheTestFailure(isSetup: request["setup"].isTrue, message: "request \(number): \(error)")
    }
    let repeats = answer.first("Request-Numbers")?.split(separator: " ") ?? []
    try expect(["setup": .bool(true)].json, "", Set(repeats).count == repeats.count, "retry")
    try checkType(number, request, answer)
    try checkStatus(number, request, answer)
    try checkFields(number, request, answer)
    try checkInterim(number, request, answer)
    try checkBody(number, request, answer)
  }

  private func checkType(_ number: Int, _ request: JSONValue, _ answer: CacheTestAnswer) throws(CacheTestFailure) {
    let count = answer.first("Server-Request-Count").flatMap { Int($0) }
    switch request["expected_type"].string {
    case "cached":
      let isCached = answer.status == 304 && count == nil || count.map { $0 < number } ?? false
      try expect(request, "expected_type", isCached, "response \(number) does not come from the cache")
    case "not_cached":
      try expect(request, "expected_type", count == number, "response \(number) comes from the cache")
    default: break
    }
  }

  private func checkStatus(_ number: Int, _ request: JSONValue, _ answer: CacheTestAnswer) throws(CacheTestFailure) {
    var wanted = 200
    if request.object.keys.contains("expected_status") {
      guard let status = request["expected_status"].integer else { return }
      wanted = status
    } else if let status = request["response_status"][0].integer {
      wanted = status
    }
    try expect(request, "expected_status", answer.status == wanted, "response \(number) status is \(answer.status)")
  }

  private func checkFields(_ number: Int, _ request: JSONValue, _ answer: CacheTestAnswer) throws(CacheTestFailure) {
    for field in request["expected_response_headers"].array {
      let name = field.string ?? field[0].string ?? ""
      let value = answer.joined(name)
      let isRight: Bool
      if field.string != nil {
        isRight = value != nil
      } else if let limit = field[2].integer {
        isRight = value.flatMap { Int($0) }.map { $0 > limit } ?? false
      } else {
        isRight = value == answer.expected(field)
      }
      try expect(request, "expected_response_headers", isRight, "response \(number) \(name) is \(value ?? "absent")")
    }
    for field in request["expected_response_headers_missing"].array {
      let name = field.string ?? field[0].string ?? ""
      let value = answer.joined(name)
      let isMissing = field.string == nil ? value?.contains(field[1].string ?? "") != true : value == nil
      try expect(
        request, "expected_response_headers_missing", isMissing, "response \(number) has \(name): \(value ?? "")")
    }
  }

  private func checkInterim(_ number: Int, _ request: JSONValue, _ answer: CacheTestAnswer) throws(CacheTestFailure) {
    let wanted = request["expected_interim_responses"].array
    guard !wanted.isEmpty else { return }
    let isRight = zip(wanted, answer.interim).allSatisfy { one, other in
      one[0] == other[0]
        && one[1].array.allSatisfy { field in
          other[1].array.contains { $0[0].string?.lowercased() == field[0].string && $0[1] == field[1] }
        }
    }
    try expect(
      request, "expected_interim_responses", isRight && wanted.count == answer.interim.count,
      "interim responses of \(number): \(answer.interim)")
  }

  private func checkBody(_ number: Int, _ request: JSONValue, _ answer: CacheTestAnswer) throws(CacheTestFailure) {
    if request["check_body"] == .bool(false) { return }
    var wanted = test["uuid"].string ?? ""
    if request.object.keys.contains("expected_response_text") {
      guard let text = request["expected_response_text"].string else { return }
      wanted = text
    } else if let body = request["response_body"].string {
      wanted = body
    } else if [204, 304].contains(answer.status) || request["request_method"].string == "HEAD" {
      return
    }
    try expect(request, "expected_response_text", answer.body == wanted, "response \(number) body is \(answer.body)")
  }

  // MARK: What the server saw

  private func checkRequests() throws(CacheTestFailure) {
    var position = 0
    for (index, request) in requests.enumerated() {
      let type = request["expected_type"].string
      if type == "cached" { continue }
      let one = seen.indices.contains(position) ? seen[position] : nil
      position += 1
      try checkRequest(index + 1, request, type, one)
      guard let one, CacheTestAnswer(answers[index]).error == nil else { continue }
      try checkReceived(index + 1, one, CacheTestAnswer(answers[index]))
    }
  }

  private func checkRequest(
    _ number: Int, _ request: JSONValue, _ type: String?, _ one: CacheTestRequest?
  ) throws(CacheTestFailure) {
    if type == "not_cached" {
      try expect(request, "expected_type", one?.number == number, "response \(number) comes from the cache")
    }
    let condition = ["etag_validated": "If-None-Match", "lm_validated": "If-Modified-Since"][type ?? ""]
    if let condition {
      try expect(request, "expected_type", one?.request[condition] != nil, "request \(number) has no \(condition)")
    }
    for field in request["expected_request_headers"].array {
      let value = one?.request[field[0].string ?? field.string ?? ""]
      let isRight = field.string != nil ? value != nil : value == field[1].string
      try expect(
        request, "expected_request_headers", isRight,
        "request \(number) \(field[0].string ?? "") is \(value ?? "absent")")
    }
    if let method = request["expected_method"].string {
      try expect(request, "expected_method", one?.request.method == method, "request \(number) was not \(method)")
    }
  }

  /// The fields that went out arrived.
  private func checkReceived(
    _ number: Int, _ one: CacheTestRequest, _ answer: CacheTestAnswer
  ) throws(CacheTestFailure) {
    for name in Set(one.answered.map { $0.name.lowercased() })
    where !["date", "set-cookie", "set-cookie2"].contains(name) {
      let sent = one.answered.filter { $0.name.lowercased() == name }.map(\.value).joined(separator: ", ")
      let got = answer.joined(name) ?? "absent"
      if got != sent {
        throw CacheTestFailure(isSetup: true, message: "response \(number) \(name) is \(got), not \(sent)")
      }
    }
  }
}

/// A response as the driver prints it.
struct CacheTestAnswer {
  private let json: JSONValue

  init(_ json: JSONValue) { self.json = json }

  var error: String? { json["error"].string }
  var status: Int { json["status"].integer ?? 0 }
  var body: String { json["body"].string ?? "" }
  var interim: [JSONValue] { json["interim"].array }

  /// The values of a field, joined.
  func joined(_ name: String) -> String? {
    let values = json["headers"].array.filter { $0[0].string?.lowercased() == name.lowercased() }
      .compactMap { $0[1].string }
    return values.isEmpty ? nil : values.joined(separator: ", ")
  }

  func first(_ name: String) -> String? {
    json["headers"].array.first { $0[0].string?.lowercased() == name.lowercased() }?[1].string
  }

  /// The value a description means; dates are counted from the server's now.
  func expected(_ field: JSONValue) -> String? {
    guard let seconds = field[1].integer else { return field[1].string }
    guard let now = joined("Server-Now").flatMap({ Double($0) }) else { return nil }
    return cacheTestDate(Date(timeIntervalSince1970: now / 1000 + Double(seconds)))
  }
}

extension [String: JSONValue] {
  fileprivate var json: JSONValue { .object(self) }
}
