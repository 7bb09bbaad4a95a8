import Glibc
import SessionCore

/// `httpscript.text`: character sets and Base64, on byte strings.
///
/// - `convert(bytes, from, to, replace)` → bytes, or nil and a message. With `replace`, what is invalid or cannot be
///   said becomes U+FFFD (`?` where the target has no such character).
/// - `valid_utf8(bytes)` → boolean
/// - `base64(bytes)` → text (RFC 4648 §4, padded, one line)
/// - `unbase64(text)` → bytes, or nil and a message. White space is skipped, padding may be missing, and the alphabet
///   for URLs (§5) is understood.
enum TextModule {
  static func make() -> NativeModule {
    NativeModule(
      "httpscript.text",
      functions: [
        .init("convert", convert),
        .init("valid_utf8", validUTF8),
        .init("base64", base64),
        .init("unbase64", unbase64),
      ])
  }

  private static func convert(_ call: HostCall) -> Outcome {
    guard let bytes = call.bytes(1) else { return call.wrongType(1, "string") }
    guard let from = call.string(2) else { return call.wrongType(2, "string") }
    guard let to = call.string(3) else { return call.wrongType(3, "string") }
    if call.boolean(4), isUTF8Name(from), isUTF8Name(to) {
      // One U+FFFD for each cut-off sequence, as the Unicode standard advises; iconv would see single bytes.
      call.results.append(String(decoding: bytes, as: UTF8.self))
      return .returned
    }
    do {
      let converter = try CharsetConverter(from: from, to: to)
      let converted = try converter.convert(bytes, replacing: call.boolean(4))
      converted.withUnsafeBytes(call.results.append(copying:))
    } catch {
      call.results.appendNil()
      call.results.append(error.message)
    }
    return .returned
  }

  private static func isUTF8Name(_ name: String) -> Bool { ["UTF-8", "UTF8"].contains(name.uppercased()) }

  private static func validUTF8(_ call: HostCall) -> Outcome {
    guard let bytes = call.bytes(1) else { return call.wrongType(1, "string") }
    call.results.append(isUTF8(bytes))
    return .returned
  }

  private static func isUTF8(_ bytes: UnsafeRawBufferPointer) -> Bool {
    // Most text is ASCII, and no more than that needs to be known of it.
    guard let first = bytes.firstIndex(where: { $0 >= 0x80 }) else { return true }
    return String(validating: bytes[first...], as: UTF8.self) != nil
  }

  private static func base64(_ call: HostCall) -> Outcome {
    guard let bytes = call.bytes(1) else { return call.wrongType(1, "string") }
    Base64.encode(bytes).withUnsafeBytes(call.results.append(copying:))
    return .returned
  }

  private static func unbase64(_ call: HostCall) -> Outcome {
    guard let text = call.bytes(1) else { return call.wrongType(1, "string") }
    if let bytes = Base64.decode(text) {
      bytes.withUnsafeBytes(call.results.append(copying:))
    } else {
      call.results.appendNil()
      call.results.append("not Base64")
    }
    return .returned
  }
}
