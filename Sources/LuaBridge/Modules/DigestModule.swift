import SessionCore

/// `httpscript.digest`: digests and random bytes, on byte strings.
///
/// - `digest(algorithm, bytes)`, `hmac(algorithm, key, bytes)` → bytes, or nil where the TLS library refuses
/// - `random(count)` → bytes, or nil
enum DigestModule {
  static func make() -> NativeModule {
    NativeModule(
      "httpscript.digest",
      functions: [
        .init("digest") { call in
          guard let hash = call.string(1).flatMap(Hash.init) else { return call.wrongType(1, "algorithm") }
          guard let bytes = call.bytes(2) else { return call.wrongType(2, "string") }
          return give(hash.digest(bytes), call)
        },
        .init("hmac") { call in
          guard let hash = call.string(1).flatMap(Hash.init) else { return call.wrongType(1, "algorithm") }
          guard let key = call.bytes(2), key.count <= Int32.max else { return call.wrongType(2, "string") }
          guard let bytes = call.bytes(3) else { return call.wrongType(3, "string") }
          return give(hash.hmac(key: key, bytes), call)
        },
        .init("random") { call in
          guard let count = call.integer(1), (0...largestRandom).contains(count) else {
            return call.wrongType(1, "count")
          }
          return give(Hash.random(count), call)
        },
      ])
  }

  private static let largestRandom = 1 << 20

  private static func give(_ bytes: [UInt8]?, _ call: HostCall) -> Outcome {
    if let bytes { bytes.withUnsafeBytes(call.results.append(copying:)) } else { call.results.appendNil() }
    return .returned
  }
}
