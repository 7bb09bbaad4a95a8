/// A socket to a proxy that is spoken to in TLS: what a stream sends and gets passes through that TLS session. (The
/// stream's own TLS, should it begin one, is inside of it.)
final class SecureLink: StreamLink, StreamLinkOwner {
  private let layer: TLSLayer
  private var socket: SocketLink?
  private weak var owner: StreamLinkOwner?
  /// Encrypted, on its way to the proxy.
  let linkOutput = Bytes()
  private var wantsInput = false
  private var wantsOutput = false
  private var hasEnded = false

  /// As much as waits encrypted before the owner's next bytes are taken.
  private static let pieceSize = 64 * 1024

  init(_ layer: TLSLayer, descriptor: Int32, core: SessionCore, owner: StreamLinkOwner) {
    self.layer = layer
    self.owner = owner
    socket = SocketLink(descriptor: descriptor, core: core, owner: self)
  }

  /// What came with the answer of the proxy may have been decrypted already.
  func begin() { decrypt() }

  // MARK: For the owner

  func want(input: Bool, output: Bool) {
    wantsInput = input
    wantsOutput = output
    update()
  }

  private func update() {
    socket?.want(input: wantsInput && !hasEnded, output: wantsOutput || linkOutput.count > 0)
  }

  func push() {
    guard let output = owner?.linkOutput, output.count > 0 else { return }
    let count = min(output.count, Self.pieceSize - linkOutput.count)
    guard count > 0 else { return update() }
    if let problem = layer.write(UnsafeRawBufferPointer(rebasing: output.buffer[..<count])) {
      owner?.linkFailed(problem)
      return
    }
    output.removeFirst(count)
    layer.drain(into: linkOutput)
    socket?.push()
    update()
    owner?.linkSent()
  }

  /// TLS has no half close that every proxy passes on; its word for the end is what there is.
  func shutDownOutput() {
    layer.close()
    layer.drain(into: linkOutput)
    socket?.push()
    update()
  }

  func shutDownInput() { socket?.shutDownInput() }

  var hasOtherRoute: Bool { socket?.hasOtherRoute == true }

  func close() {
    layer.close()
    layer.drain(into: linkOutput)
    socket?.push()
    socket?.close()
    socket = nil
  }

  // MARK: From the socket

  func linkSent() {
    update()
    // The owner may have more that found no room.
    if linkOutput.count == 0, wantsOutput {
      if owner?.linkOutput.count == 0 { owner?.linkSent() } else { push() }
    }
  }

  func linkReceived(_ bytes: UnsafeRawBufferPointer) {
    layer.feed(bytes)
    decrypt()
  }

  private func decrypt() {
    withUnsafeTemporaryAllocation(byteCount: 16 * 1024, alignment: 16) { piece in
      while !hasEnded {
        switch layer.read(into: piece) {
        case .bytes(let count): owner?.linkReceived(UnsafeRawBufferPointer(rebasing: piece[..<count]))
        case .waiting:
          // Answers of TLS itself (a new key).
          layer.drain(into: linkOutput)
          return update()
        case .ended: end()
        case .failure(let error):
          hasEnded = true
          owner?.linkFailed(error)
        }
      }
    }
  }

  private func end() {
    hasEnded = true
    update()
    owner?.linkEnded()
  }

  /// Without TLS's word for the end, which most proxies leave out: whether something is missing only what goes through
  /// the tunnel can tell.
  func linkEnded() {
    if !hasEnded { end() }
  }

  func linkFailed(_ error: TaskError) { owner?.linkFailed(error) }
}
