import SessionCore

/// `httpscript.file`: whole files written and moved as downloads are, for stdlib/http/response.lua; and what is in one,
/// for the storages.
enum FileModule {
  static let name = "httpscript.file"

  static func make() -> NativeModule {
    NativeModule(name, functions: [.init("write", write), .init("move", move), .init("is_foreign", isForeign)])
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

  /// is_foreign(path) -> whether something else is there than a storage could be.
  private static func isForeign(_ call: HostCall) -> Outcome {
    guard let path = call.string(1) else { return call.wrongType(1, "string") }
    call.results.append(DatabaseFile.isForeign(path))
    return .returned
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
