import Synchronization
import TestSupport

/// Files by the first part of their path, each with a seed of its own.
final class LyingFiles: Sendable {
  private let files = Mutex<[String: LyingFile]>([:])

  func add(_ name: String, seed: UInt64) -> LyingFile {
    let file = LyingFile(seed: seed)
    files.withLock { $0["/" + name] = file }
    return file
  }

  /// What the server had until now.
  func versions(_ file: LyingFile) -> [[UInt8]] { files.withLock { _ in file.versions.map(\.bytes) } }

  func serve(_ peer: Peer) {
    while let request = peer.readRequest() {
      let answer = files.withLock {
        $0[request.target]?.answer(range: request.field("range"), condition: request.field("if-range"))
      }
      guard let answer, peer.send(answer.bytes), answer.staysOpen else { return }
    }
  }
}
