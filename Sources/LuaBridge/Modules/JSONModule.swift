import CLuaShim

/// `httpscript.json`: what `json.lua` is built on.
///
/// - `decode(text, accepts_duplicates, big_integers)` → value, or nil and a table that describes the failure
/// - `encode(value, indent, sort_keys, ascii)` → text, or nil and such a table
enum JSONModule {
  static func make() -> NativeModule {
    NativeModule(
      "httpscript.json",
      functions: [
        .init("decode", decode),
        .init("encode", encode),
      ])
  }

  private static func decode(_ call: HostCall) -> Outcome {
    guard let text = call.bytes(1) else { return call.wrongType(1, "string") }
    var options = JSONDecodingOptions()
    options.acceptsDuplicates = call.boolean(2)
    options.bigIntegers = call.string(3).flatMap(JSONDecodingOptions.BigIntegers.init)
    do {
      clua_out_json(call.results.pointer, try JSONParser(options: options).parse(text))
    } catch {
      call.results.appendNil()
      call.results.append(error)
    }
    return .returned
  }

  private static func encode(_ call: HostCall) -> Outcome {
    var format = clua_json_format()
    format.indent = Int32(clamping: call.integer(2) ?? 0)
    format.sort_keys = call.boolean(3)
    format.ascii = call.boolean(4)
    format.write_real = writeReal
    var failure = clua_json_failure()
    let status = clua_json_encode(call.rawState, 1, &format, call.results.pointer, &failure)
    if status != CLUA_JSON_DONE {
      call.results.appendNil()
      call.results.append(JSONFailure(encoding: status, failure))
    }
    return .returned
  }
}

/// The fewest digits that read back as the same number; always with a point or an exponent, so that a float stays one.
private let writeReal: @convention(c) (Double, UnsafeMutablePointer<CChar>?) -> Int = { value, text in
  var digits = value.description
  return digits.withUTF8 { utf8 in
    guard let text, let start = utf8.baseAddress else { return 0 }
    UnsafeMutableRawPointer(text).copyMemory(from: start, byteCount: utf8.count)
    return utf8.count
  }
}
