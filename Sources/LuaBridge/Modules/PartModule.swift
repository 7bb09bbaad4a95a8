import SessionCore

/// `httpscript.part`: files that several transfers fill, for stdlib/http/segments.lua.
enum PartModule {
  static let name = "httpscript.part"
  static let part = HostType<PartFile>(.part)

  /// - `open(path)` → part | nil, error's fields
  /// - `journal_path(path)` → path
  /// - `is_stream(path)` → boolean: it is a device or a pipe
  /// - `digests(block)` → source, text, …: who says in a block of header fields what the whole file's digest is, and what
  /// - `validator(block)` → text | nil: the strong validator of a block of header fields
  /// - `part:path()`, `part:length()`, `part:allocate(length)` → true | nil, error's fields
  /// - `part:digest(algorithm, offset, count)` → hexadecimal | nil
  /// - `part:digest_whole(algorithm, step)` → hexadecimal | nil: more is to be read
  /// - `part:commit()` → true | nil, error's fields; `part:discard()`, `part:close()`
  static func make() -> NativeModule {
    NativeModule(
      name,
      functions: [
        .init("open", open), .init("journal_path", journalPath), .init("validator", validator),
        .init("is_stream", isStream), .init("digests", digests),
      ],
      types: [
        .init(
          "Part", part,
          methods: [
            method("path") { call, part in
              call.results.append(part.temporaryPath)
              return .returned
            },
            method("length") { call, part in
              call.results.append(part.length)
              return .returned
            },
            method("allocate") { call, part in
              guard let length = call.integer(2) else { return call.wrongType(2, "integer") }
              return FileModule.answer(call, part.allocate(length))
            },
            method("digest", digest),
            method("digest_whole", digestWhole),
            method("commit") { call, part in FileModule.answer(call, part.commit()) },
            method("discard") { _, part in
              part.discard()
              return .returned
            },
            method("close") { _, part in
              part.close()
              return .returned
            },
          ])
      ])
  }

  private static func method(
    _ name: String, _ body: @escaping (HostCall, PartFile) -> Outcome
  ) -> NativeModule.Function {
    .init(name) { call in
      guard let part = call.object(1, part) else { return call.wrongType(1, "part") }
      return body(call, part)
    }
  }

  private static func open(_ call: HostCall) -> Outcome {
    guard let path = call.string(1) else { return call.wrongType(1, "string") }
    switch PartFile.open(path) {
    case .success(let opened):
      call.results.append(opened, part)
      return .returned
    case .failure(let problem): return FileModule.answer(call, problem)
    }
  }

  private static func journalPath(_ call: HostCall) -> Outcome {
    guard let path = call.string(1) else { return call.wrongType(1, "string") }
    call.results.append(PartFile.journalPath(for: path))
    return .returned
  }

  private static func validator(_ call: HostCall) -> Outcome {
    guard let block = call.bytes(1) else { return call.wrongType(1, "string") }
    call.results.append(PartWindow.validator(ofHeaderBlock: Bytes(copying: block)))
    return .returned
  }

  private static func isStream(_ call: HostCall) -> Outcome {
    guard let path = call.string(1) else { return call.wrongType(1, "string") }
    call.results.append(PartFile.isStream(path))
    return .returned
  }

  private static func digests(_ call: HostCall) -> Outcome {
    guard let block = call.bytes(1) else { return call.wrongType(1, "string") }
    for (source, expected) in ExpectedDigest.ofRepresentation(inHeaderBlock: Bytes(copying: block)) {
      call.results.append(source)
      call.results.append(expected.text)
    }
    return .returned
  }

  private static func digest(_ call: HostCall, _ part: PartFile) -> Outcome {
    guard let algorithm = algorithm(call) else { return call.wrongType(2, "algorithm") }
    guard let offset = call.integer(3), let count = call.integer(4) else { return call.wrongType(3, "integer") }
    call.results.append(part.digest(algorithm, offset: offset, count: count))
    return .returned
  }

  private static func digestWhole(_ call: HostCall, _ part: PartFile) -> Outcome {
    guard let algorithm = algorithm(call) else { return call.wrongType(2, "algorithm") }
    guard let step = call.integer(3), step > 0 else { return call.wrongType(3, "integer") }
    call.results.append(part.digestWhole(algorithm, step: step))
    return .returned
  }

  private static func algorithm(_ call: HostCall) -> Hash? {
    call.string(2).flatMap(Hash.init(rawValue:))
  }
}
