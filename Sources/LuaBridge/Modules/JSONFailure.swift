import CJansson
import CLuaShim

/// Why a text is not JSON, or a value cannot become JSON; the fields of Lua's error object.
struct JSONFailure: Error, Equatable {
  enum Code: String {
    case syntax
    case prematureEnd = "premature_end"
    case depth
    case duplicateKey = "duplicate_key"
    case invalidUTF8 = "invalid_utf8"
    case numberOutOfRange = "number_out_of_range"
    case cycle
    case invalidValue = "invalid_value"
    case outOfMemory = "out_of_memory"
  }

  /// A place in a text. The position is the 1-based index of the byte at which reading stopped: the last one of what
  /// is wrong. The column counts characters.
  struct Place: Equatable {
    var line: Int
    var column: Int
    var position: Int
  }

  let code: Code
  let message: String
  var place: Place?
  /// Where in the value, as Lua would write it: `items[3].name`.
  var path: String?
}

extension JSONFailure {
  /// What jansson says of a text.
  init(parsing error: json_error_t) {
    let text = withUnsafeBytes(of: error.text) { $0.prefix { $0 != 0 }.map { $0 < 0x20 ? UInt8(ascii: "?") : $0 } }
    let reason = String(decoding: text, as: UTF8.self)
    let janssonCode = withUnsafeBytes(of: error.text) { UInt32($0[$0.count - 1]) }
    var place = Place(line: Int(error.line), column: Int(error.column), position: Int(error.position))
    code = Code(jansson: janssonCode)
    // In these cases jansson has not yet counted the byte that it complains of.
    if code == .invalidUTF8 || reason.hasPrefix("control character") || reason.hasPrefix("unexpected newline") {
      place.column += 1
      place.position += 1
    }
    self.place = place
    message = code == .depth ? "nested more than \(CLUA_JSON_MAX_DEPTH) levels deep" : reason
  }

  /// What stopped the shim's encoder.
  init(encoding status: clua_json_status, _ failure: clua_json_failure) {
    let path = withUnsafeBytes(of: failure.path) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    let detail = failure.detail.map { String(cString: $0) } ?? ""
    let reason: String
    (code, reason) = JSONFailure.describe(status, detail)
    message = path.isEmpty ? reason : "\(reason) (at \(path))"
    self.path = path
  }

  private static func describe(_ status: clua_json_status, _ detail: String) -> (Code, String) {
    switch status {
    case CLUA_JSON_TYPE where detail == "nil": (.invalidValue, "JSON has no way to say nil; json.null is its null")
    case CLUA_JSON_TYPE: (.invalidValue, "JSON has no way to say a \(detail)")
    case CLUA_JSON_NUMBER: (.numberOutOfRange, "JSON has no number that is \(detail)")
    case CLUA_JSON_UTF8: (.invalidUTF8, "the \(detail) is not UTF-8")
    case CLUA_JSON_CYCLE: (.cycle, "the table contains itself")
    case CLUA_JSON_DEPTH: (.depth, "nested more than \(CLUA_JSON_MAX_DEPTH) levels deep")
    case CLUA_JSON_KEY: (.invalidValue, "an object's keys are strings, not of type \(detail)")
    case CLUA_JSON_MIXED: (.invalidValue, "an array's keys are integers from 1 on, not of type \(detail)")
    case CLUA_JSON_HOLE: (.invalidValue, "the array has a hole here; json.null can fill it")
    default: (.outOfMemory, "not enough memory")
    }
  }
}

extension JSONFailure.Code {
  fileprivate init(jansson code: UInt32) {
    switch code {
    case json_error_out_of_memory.rawValue: self = .outOfMemory
    case json_error_stack_overflow.rawValue: self = .depth
    case json_error_invalid_utf8.rawValue: self = .invalidUTF8
    case json_error_premature_end_of_input.rawValue: self = .prematureEnd
    case json_error_duplicate_key.rawValue: self = .duplicateKey
    case json_error_numeric_overflow.rawValue: self = .numberOutOfRange
    default: self = .syntax
    }
  }
}

extension Outbox {
  /// A table with the failure's fields.
  func append(_ failure: JSONFailure) {
    beginRecord(2 + (failure.place == nil ? 0 : 3) + (failure.path == nil ? 0 : 1))
    append("code")
    append(failure.code.rawValue)
    append("message")
    append(failure.message)
    if let place = failure.place {
      append("line")
      append(place.line)
      append("column")
      append(place.column)
      append("position")
      append(place.position)
    }
    if let path = failure.path {
      append("path")
      append(path)
    }
  }
}
