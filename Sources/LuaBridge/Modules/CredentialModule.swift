import SessionCore

/// `httpscript.credentials`: credential storages, for stdlib/http/credential_storage.lua.
///
/// A space is six values: host, port | nil, protocol | nil, realm | nil, authentication method | nil, is_proxy. A
/// credential is persistence, kind and texts, as `ChallengeArguments` takes it.
struct CredentialModule {
  static let name = "httpscript.credentials"
  static let storage = HostType<CredentialStorage>(.credentialStorage)

  let stores: StoreRegistry

  func make() -> NativeModule {
    NativeModule(
      Self.name,
      functions: [
        .init("storage", Self.make),
        .init("standard") { call in
          call.results.append(stores.credentials, Self.storage)
          return .returned
        },
        .init("problem") { call in
          guard let path = call.string(1) else { return call.wrongType(1, "string") }
          call.results.append(CredentialStorage.problem(withSecretFile: path))
          return .returned
        },
      ],
      types: [NativeModule.ObjectType("methods", Self.storage, methods: Self.methods)])
  }

  /// storage(path | nil, keyring, netrc | nil, user | nil, timeout | nil, words of the command...) -> storage.
  private static func make(_ call: HostCall) -> Outcome {
    var words: [String] = []
    for index in stride(from: 6, through: call.count, by: 1) { words.append(call.string(index) ?? "") }
    let command =
      words.isEmpty
      ? nil : CredentialCommand(arguments: words, user: call.string(4), timeout: call.number(5) ?? 30)
    let place: StorePlace = call.string(1).map { .file(CredentialStorage.file($0)) } ?? .memory
    let made = CredentialStorage(place, netrc: call.string(3), command: command, keyring: call.boolean(2))
    call.results.append(made, storage)
    return .returned
  }

  private static var methods: [NativeModule.Function] {
    [
      method("set", set), method("credentials", list), method("default", first), method("remove", remove),
      method("clear") { storage, _ in
        storage.removeAll()
        return .returned
      },
      method("uses_keyring") { storage, call in
        call.results.append(storage.usesKeyring)
        return .returned
      },
      method("path") { storage, call in
        call.results.append(storage.path)
        return .returned
      },
    ]
  }

  private static func method(
    _ name: String, _ body: @escaping (CredentialStorage, HostCall) -> Outcome
  ) -> NativeModule.Function {
    .init(name) { call in
      guard let storage = call.object(1, Self.storage) else { return call.wrongType(1, "credential storage") }
      return body(storage, call)
    }
  }

  private static func pattern(_ call: HostCall) -> SpacePattern? {
    call.string(2).map {
      SpacePattern(
        host: $0, port: call.integer(3), scheme: call.string(4), realm: call.octets(5), method: call.string(6),
        isProxy: call.boolean(7))
    }
  }

  /// set(space, is default, credential).
  private static func set(_ storage: CredentialStorage, _ call: HostCall) -> Outcome {
    guard let pattern = pattern(call) else { return call.wrongType(2, "space") }
    guard let credential = ChallengeArguments.credential(call, at: 9) else { return call.wrongType(9, "credential") }
    storage.set(credential, for: pattern, isDefault: call.boolean(8))
    return .returned
  }

  /// credentials(space) -> list of credentials' fields.
  private static func list(_ storage: CredentialStorage, _ call: HostCall) -> Outcome {
    guard let pattern = pattern(call) else { return call.wrongType(2, "space") }
    let found = storage.credentials(for: pattern)
    call.results.beginList(found.count)
    for credential in found { call.results.append(credential) }
    return .returned
  }

  /// default(space) -> a credential's fields | nil.
  private static func first(_ storage: CredentialStorage, _ call: HostCall) -> Outcome {
    guard let pattern = pattern(call) else { return call.wrongType(2, "space") }
    if let credential = storage.defaultCredential(for: pattern) {
      call.results.append(credential)
    } else {
      call.results.appendNil()
    }
    return .returned
  }

  /// remove(space, credential) -> whether it was there.
  private static func remove(_ storage: CredentialStorage, _ call: HostCall) -> Outcome {
    guard let pattern = pattern(call) else { return call.wrongType(2, "space") }
    guard let credential = ChallengeArguments.credential(call, at: 8) else { return call.wrongType(8, "credential") }
    call.results.append(storage.remove(credential, for: pattern))
    return .returned
  }
}
