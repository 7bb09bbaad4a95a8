import SessionCore

/// `httpscript.file`: whole files written as downloads are, for stdlib/http/response.lua.
enum FileModule {
  static let name = "httpscript.file"

  static func make() -> NativeModule {
    NativeModule(name, functions: [.init("write", write)])
  }

  /// write(path, bytes [, private]) -> true | nil, error's fields.
  private static func write(_ call: HostCall) -> Outcome {
    guard let path = call.string(1) else { return call.wrongType(1, "string") }
    guard let bytes = call.bytes(2) else { return call.wrongType(2, "string") }
    if var error = WholeFile.write(bytes, to: path, isPrivate: call.boolean(3)) {
      // No URL has part in it.
      error.domain = .file
      call.results.appendNil()
      call.results.append(error)
    } else {
      call.results.append(true)
    }
    return .returned
  }
}
