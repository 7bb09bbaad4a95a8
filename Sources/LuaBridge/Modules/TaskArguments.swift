import SessionCore

/// The flat arguments of `core.start` as a `TaskRequest`.
///
/// A request is: method, url, fields (each name and value ended by NUL) or nil, body kind, body value, then (for parts)
/// pairs of kind and value at the end of the arguments.
enum TaskArguments {
  /// Positions after task and session.
  private enum At {
    static let method = 3
    static let url = 4
    static let interest = 8
    static let destination = 9
    static let destinationPath = 10
    static let requestTimeout = 11
    static let resourceTimeout = 12
    static let scheme = 13
    static let user = 14
    static let secret = 15
    static let redirects = 16
    static let expect = 17
    static let decompress = 18
    static let maximumBody = 19
    static let priority = 20
    /// What is seldom given: pairs of name and value, each ended by NUL (`TaskOptions`).
    static let options = 21
    static let parts = 22
  }

  static func read(_ call: HostCall) -> TaskRequest? {
    if call.count == At.url, let method = method(call), let url = url(call, At.url) {
      return TaskRequest(Request(method: method, url: url))
    }
    guard let method = method(call),
      let request = request(call, method: method, at: At.url, parts: At.parts),
      let destination = destination(call)
    else { return nil }
    let task = TaskRequest(request)
    task.interest = Interest(rawValue: call.integer(At.interest) ?? 0)
    task.destination = destination
    // A task that has nothing but a URL and a delegate.
    guard call.count > At.destinationPath else { return task }
    task.requestTimeout = call.number(At.requestTimeout)
    task.resourceTimeout = call.number(At.resourceTimeout)
    task.authentication = authentication(call)
    if !call.isNil(At.redirects) { task.redirectLimit = call.integer(At.redirects) }
    task.expectContinue = expectation(call)
    task.decompress = call.isNil(At.decompress) || call.boolean(At.decompress)
    task.maximumBody = call.integer(At.maximumBody)
    task.priority = call.number(At.priority) ?? 0.5
    guard let options = call.bytes(At.options) else { return task }
    return TaskOptions.apply(options, to: task) ? task : nil
  }

  private static func method(_ call: HostCall) -> String? {
    guard let text = call.bytes(At.method) else { return nil }
    let isGet =
      text.count == 3 && text[0] == UInt8(ascii: "G") && text[1] == UInt8(ascii: "E") && text[2] == UInt8(ascii: "T")
    return isGet ? "GET" : String(decoding: text, as: UTF8.self)
  }

  private static func url(_ call: HostCall, _ index: Int) -> String? { call.bytes(index).map(PercentEncoding.text) }

  /// A request whose URL stands at `index`, followed by fields, body kind and body value.
  static func request(_ call: HostCall, method: String, at index: Int, parts: Int? = nil) -> Request? {
    guard let url = url(call, index) else { return nil }
    guard let body = body(call, at: index + 2, parts: parts) else { return nil }
    return Request(method: method, url: url, headers: fields(call.bytes(index + 1)), body: body)
  }

  /// A body: its kind at `index` and its value behind it.
  static func body(_ call: HostCall, at index: Int, parts: Int? = nil) -> RequestBody? {
    guard let kind = call.string(index) else { return call.isNil(index) ? RequestBody.none : nil }
    switch kind {
    case "data": return call.bytes(index + 1).map { .data(Bytes(copying: $0)) }
    case "file": return call.string(index + 1).map { .file(path: $0) }
    case "stream": return .stream
    case "reader": return .reader(length: call.integer(index + 1))
    case "parts": return parts.flatMap { pieces(call, from: $0) }.map { .parts($0) }
    default: return nil
    }
  }

  private static func pieces(_ call: HostCall, from start: Int) -> [BodyPart]? {
    var parts: [BodyPart] = []
    var index = start
    let count = call.count
    while index < count {
      guard let kind = call.string(index), let value = call.bytes(index + 1) else { return nil }
      let text = { String(decoding: value, as: UTF8.self) }
      parts.append(kind == "file" ? .file(path: text()) : .data(Bytes(copying: value)))
      index += 2
    }
    return parts
  }

  /// What `fields` reads: each name and value ended by NUL.
  static func flat(_ fields: [HeaderField]) -> [UInt8] {
    fields.reduce(into: []) { $0 += Array($1.name.utf8) + [0] + $1.value + [0] }
  }

  static func fields(_ block: UnsafeRawBufferPointer?) -> [HeaderField] {
    guard let block, !block.isEmpty else { return [] }
    let texts = block.split(separator: 0, omittingEmptySubsequences: false)
    var fields: [HeaderField] = []
    fields.reserveCapacity(texts.count / 2)
    for index in stride(from: 0, to: texts.count - 1, by: 2) {
      fields.append(HeaderField(String(decoding: texts[index], as: UTF8.self), bytes: Array(texts[index + 1])))
    }
    return fields
  }

  private static func destination(_ call: HostCall) -> Destination? {
    guard let kind = call.integer(At.destination) else { return .memory }
    switch kind {
    case 1: return .consumer
    case 2: return call.string(At.destinationPath).map { .file(path: $0) }
    case 3: return .download(resuming: call.bytes(At.destinationPath).map(Bytes.init(copying:)))
    default: return nil
    }
  }

  private static func authentication(_ call: HostCall) -> Authentication {
    guard let scheme = call.string(At.scheme) else { return .none }
    let user = call.octets(At.user) ?? ""
    let secret = call.octets(At.secret) ?? ""
    switch scheme {
    case "bearer": return .bearer(token: secret)
    case "any": return .any(user: user, password: secret)
    case "basic": return .basic(user: user, password: secret)
    default: return AuthScheme(name: scheme).map { .scheme($0, user: user, password: secret) } ?? .none
    }
  }

  private static func expectation(_ call: HostCall) -> ExpectContinue {
    guard !call.isNil(At.expect) else { return .automatic }
    return call.boolean(At.expect) ? .always : .never
  }
}
