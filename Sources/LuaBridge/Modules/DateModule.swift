import SessionCore

/// `httpscript.date`: the core's reading and writing of dates, for stdlib/http/dates.lua and http/retry.lua.
enum DateModule {
  static let name = "httpscript.date"

  static func make() -> NativeModule {
    NativeModule(
      name,
      functions: [.init("parse", parse), .init("format", format), .init("retry_after", retryAfter)])
  }

  /// parse(text) -> seconds | nil.
  private static func parse(_ call: HostCall) -> Outcome {
    guard let text = call.string(1) else { return call.wrongType(1, "string") }
    if let seconds = HTTPDate.parse(text) { call.results.append(Int(seconds)) } else { call.results.appendNil() }
    return .returned
  }

  /// format(seconds) -> text.
  private static func format(_ call: HostCall) -> Outcome {
    guard let seconds = call.number(1) else { return call.wrongType(1, "number") }
    guard seconds.isFinite, abs(seconds) < 1e14 else { return call.raise("the date is out of range") }
    call.results.append(HTTPDate.format(seconds))
    return .returned
  }

  /// retry_after(value, now) -> seconds | nil.
  private static func retryAfter(_ call: HostCall) -> Outcome {
    guard let value = call.string(1) else { return call.wrongType(1, "string") }
    guard let now = call.number(2) else { return call.wrongType(2, "number") }
    if let seconds = RetryAfter.parse(value, now: now) {
      call.results.append(seconds)
    } else {
      call.results.appendNil()
    }
    return .returned
  }
}
