import SessionCore

/// `httpscript.background`: what background sessions remember between runs, for stdlib/http/background.lua.
enum BackgroundModule {
  static let name = "httpscript.background"
  private static let directory = HostType<BackgroundDirectory>(.backgroundDirectory)

  /// - `open(identifier [, container])` → directory | nil, error's fields
  /// - `absolute(path)` → path
  /// - `directory:records()` → list of numbers and records, by turns
  /// - `directory:highest()` → the highest number of a task
  /// - `directory:write(number, record)` → true | nil, error's fields
  /// - `directory:remove(number, keeping_file)`, `directory:set_aside(number)`, `directory:close()`
  /// - `directory:stem(number)` → text, for a task's option `background_stem`
  /// - `directory:file(number)` → path, length (nil: it is not there)
  /// - `directory:checkpoint(number)` → resume data | nil
  static func make() -> NativeModule {
    NativeModule(
      name, functions: [.init("open", open), .init("absolute", absolute)],
      types: [.init("Directory", directory, methods: recordMethods + fileMethods)])
  }

  private static var recordMethods: [NativeModule.Function] {
    [
      method("records") { call, directory in
        let records = directory.records()
        call.results.beginList(records.count * 2)
        for record in records {
          call.results.append(record.number)
          record.bytes.withUnsafeBytes { call.results.append(copying: $0) }
        }
        return .returned
      },
      method("write") { call, directory in
        guard let number = call.integer(2) else { return call.wrongType(2, "integer") }
        guard let record = call.bytes(3) else { return call.wrongType(3, "string") }
        return FileModule.answer(call, directory.write(number, record))
      },
      method("remove") { call, directory in
        guard let number = call.integer(2) else { return call.wrongType(2, "integer") }
        directory.remove(number, keepingFile: call.boolean(3))
        return .returned
      },
      method("set_aside") { call, directory in
        guard let number = call.integer(2) else { return call.wrongType(2, "integer") }
        directory.setAside(number)
        return .returned
      },
      method("highest") { call, directory in
        call.results.append(directory.highestNumber)
        return .returned
      },
      method("close") { _, directory in
        directory.close()
        return .returned
      },
    ]
  }

  private static var fileMethods: [NativeModule.Function] {
    [
      method("stem") { call, directory in
        guard let number = call.integer(2) else { return call.wrongType(2, "integer") }
        call.results.append(directory.stem(number))
        return .returned
      },
      method("file") { call, directory in
        guard let number = call.integer(2) else { return call.wrongType(2, "integer") }
        call.results.append(directory.file(number))
        if let length = directory.fileLength(number) { call.results.append(length) } else { call.results.appendNil() }
        return .returned
      },
      method("checkpoint") { call, directory in
        guard let number = call.integer(2) else { return call.wrongType(2, "integer") }
        if let note = directory.checkpoint(number) {
          note.withUnsafeBytes { call.results.append(copying: $0) }
        } else {
          call.results.appendNil()
        }
        return .returned
      },
    ]
  }

  private static func method(
    _ name: String, _ body: @escaping (HostCall, BackgroundDirectory) -> Outcome
  ) -> NativeModule.Function {
    .init(name) { call in
      guard let directory = call.object(1, directory) else { return call.wrongType(1, "directory") }
      return body(call, directory)
    }
  }

  private static func open(_ call: HostCall) -> Outcome {
    guard let identifier = call.string(1) else { return call.wrongType(1, "string") }
    switch BackgroundDirectory.open(identifier: identifier, container: call.string(2)) {
    case .success(let opened):
      call.results.append(opened, directory)
      return .returned
    case .failure(let problem): return FileModule.failed(call, problem)
    }
  }

  private static func absolute(_ call: HostCall) -> Outcome {
    guard let path = call.string(1) else { return call.wrongType(1, "string") }
    call.results.append(BackgroundDirectory.absolute(path))
    return .returned
  }
}
