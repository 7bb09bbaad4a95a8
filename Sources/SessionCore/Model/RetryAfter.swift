/// The Retry-After field (RFC 9110 §10.2.3).
public enum RetryAfter {
  /// Seconds to wait from `now` (Unix seconds): a number of seconds, or what is left until a date, never less than 0.
  /// Nil where the value is neither.
  public static func parse(_ value: String, now: Double) -> Double? {
    let text = value.drop { $0 == " " || $0 == "\t" }
    let trimmed = String(text.reversed().drop { $0 == " " || $0 == "\t" }.reversed())
    if !trimmed.isEmpty, trimmed.utf8.allSatisfy({ HeaderText.digit($0) != nil }) { return Double(trimmed) }
    return HTTPDate.parse(trimmed).map { max(0, $0 - now) }
  }
}
