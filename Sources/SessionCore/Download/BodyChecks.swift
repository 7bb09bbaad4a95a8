/// The digests that a body is checked with while it passes.
///
/// Content-Digest is about the content of one message as it was transferred. Repr-Digest and the old Digest are about the
/// whole of what was asked for, content coding included, and so can be checked with the same bytes, unless these are a
/// part. The `checksum` option is about what the caller gets: the bytes after content codings were undone.
final class BodyChecks {
  private struct Check {
    let digester: Digester
    let expected: ExpectedDigest
    /// Who says so.
    let source: String
  }

  /// Of the bytes as they are transferred.
  private var transferred: [Check] = []
  /// Of the bytes as they are stored.
  private var stored: [Check] = []

  var isEmpty: Bool { transferred.isEmpty && stored.isEmpty }

  func checkTransferred(_ expected: ExpectedDigest?, saidBy source: String) {
    if let check = Self.make(expected, source) { transferred.append(check) }
  }

  func checkStored(_ expected: ExpectedDigest?, saidBy source: String) {
    if let check = Self.make(expected, source) { stored.append(check) }
  }

  private static func make(_ expected: ExpectedDigest?, _ source: String) -> Check? {
    guard let expected, let digester = Digester(expected.algorithm) else { return nil }
    return Check(digester: digester, expected: expected, source: source)
  }

  func take(transferred bytes: UnsafeRawBufferPointer) {
    for check in transferred { check.digester.update(bytes) }
  }

  func take(stored bytes: UnsafeRawBufferPointer) {
    for check in stored { check.digester.update(bytes) }
  }

  /// What the stored bytes are read into where they have not all passed: those of a file that was there in part.
  var storedDigesters: [Digester] {
    for check in stored { check.digester.reset() }
    return stored.map(\.digester)
  }

  /// The error of a body that is not what it should be. `includingStored`: false where that is looked at later.
  func problem(includingStored: Bool = true) -> TaskError? {
    for check in includingStored ? transferred + stored : transferred {
      let value = check.digester.value
      guard value != check.expected.value else { continue }
      let name = check.expected.algorithm.rawValue
      return TaskError(
        .checksumMismatch,
        "the \(name) of what came is \(Hexadecimal.encode(value)), and not "
          + "\(Hexadecimal.encode(check.expected.value)) (\(check.source))")
    }
    return nil
  }
}
