import SessionCore

/// `httpscript.url`: the house's one URL parser (libcurl's, through SessionCore) for stdlib/http/url.lua.
enum URLModule {
  static let name = "httpscript.url"

  static func make() -> NativeModule {
    NativeModule(
      name,
      functions: [
        .init("parse", parse), .init("build", build), .init("resolve", resolve), .init("normalize", normalize),
        .init("encode", encode), .init("decode", decode), .init("is_address", isAddress),
      ])
  }

  /// parse(text) -> scheme, user, password, host, port, path, query, fragment | nil, message.
  private static func parse(_ call: HostCall) -> Outcome {
    guard let text = call.string(1) else { return call.wrongType(1, "string") }
    return call.finish(URLParts.parse(text)) { parts in
      call.results.append(parts.scheme)
      call.results.append(parts.user)
      call.results.append(parts.password)
      call.results.append(parts.host)
      if let port = parts.port { call.results.append(port) } else { call.results.appendNil() }
      call.results.append(parts.path)
      call.results.append(parts.query)
      call.results.append(parts.fragment)
    }
  }

  /// build(scheme, user, password, host, port, path, query, fragment) -> text | nil, message.
  private static func build(_ call: HostCall) -> Outcome {
    let parts = URLParts(
      scheme: call.string(1) ?? "", user: call.string(2), password: call.string(3), host: call.string(4),
      port: call.integer(5), path: call.string(6) ?? "", query: call.string(7), fragment: call.string(8))
    return call.finish(parts.text) { call.results.append($0) }
  }

  /// resolve(base, reference) -> text | nil, message.
  private static func resolve(_ call: HostCall) -> Outcome {
    guard let base = call.string(1) else { return call.wrongType(1, "string") }
    guard let reference = call.string(2) else { return call.wrongType(2, "string") }
    return call.finish(URLParts.resolve(reference, against: base)) { call.results.append($0) }
  }

  private static func normalize(_ call: HostCall) -> Outcome {
    guard let text = call.string(1) else { return call.wrongType(1, "string") }
    return call.finish(URLParts.normalize(text)) { call.results.append($0) }
  }

  private static func encode(_ call: HostCall) -> Outcome {
    guard let bytes = call.bytes(1) else { return call.wrongType(1, "string") }
    call.results.append(PercentEncoding.encode(bytes))
    return .returned
  }

  /// is_address(text) -> whether it is an IPv4 or IPv6 address, without brackets.
  private static func isAddress(_ call: HostCall) -> Outcome {
    guard let text = call.string(1) else { return call.wrongType(1, "string") }
    call.results.append(HostName.isNumericAddress(text))
    return .returned
  }

  /// decode(text [, plus_is_space]) -> bytes.
  private static func decode(_ call: HostCall) -> Outcome {
    guard let bytes = call.bytes(1) else { return call.wrongType(1, "string") }
    call.results.append(PercentEncoding.decode(bytes, plusIsSpace: call.boolean(2)))
    return .returned
  }
}

extension HostCall {
  /// Returns what `append` adds on success, nil and the message on failure.
  func finish<Value>(_ result: Result<Value, URLParts.Failure>, _ append: (Value) -> Void) -> Outcome {
    switch result {
    case .success(let value):
      append(value)
    case .failure(let failure):
      results.appendNil()
      results.append(failure.message)
    }
    return .returned
  }
}
