import SessionCore

/// `httpscript.file`: whole files written and moved as downloads are, for stdlib/http/response.lua.
enum FileModule {
  static let name = "httpscript.file"

  static func make() -> NativeModule {
    NativeModule(name, functions: [.init("write", write), .init("move", move)])
  }

  /// write(path, bytes [, private]) -> true | nil, error's fields.
  private static func write(_ call: HostCall) -> Outcome {
    guard let path = call.string(1) else { return call.wrongType(1, "string") }
    guard let bytes = call.bytes(2) else { return call.wrongType(2, "string") }
    return answer(call, WholeFile.write(bytes, to: path, isPrivate: call.boolean(3)))
  }

  /// move(from, to) -> true | nil, error's fields.
  private static func move(_ call: HostCall) -> Outcome {
    guard let source = call.string(1) else { return call.wrongType(1, "string") }
    guard let path = call.string(2) else { return call.wrongType(2, "string") }
    return answer(call, WholeFile.move(source, to: path))
  }

  static func answer(_ call: HostCall, _ problem: TaskError?) -> Outcome {
    guard var error = problem else {
      call.results.append(true)
      return .returned
    }
    // No URL has part in it.
    error.domain = .file
    return failed(call, error)
  }

  /// nil, error's fields.
  static func failed(_ call: HostCall, _ error: TaskError) -> Outcome {
    call.results.appendNil()
    call.results.append(error)
    return .returned
  }
}
