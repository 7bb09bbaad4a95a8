import CCurlShim

/// The proxy's answer to CONNECT.
extension Transfer {
  /// libcurl makes a connection: what comes before the request begins is the proxy's.
  func connectionBegins() {
    guard let host, host.hasTunnel else { return }
    isTunnelling = true
    authState().tunnel.reset()
  }

  func receiveTunnelLine(_ line: UnsafeRawBufferPointer) -> Int {
    touch()
    if let auth { _ = auth.tunnel.receive(line) }
    return hasFailed ? 0 : line.count
  }

  /// A proxy that asks for credentials instead of connecting: its 407 is judged as a response without a body.
  func takeTunnelChallenge() -> Bool {
    guard isTunnelling, let auth, auth.tunnel.isHeadComplete, auth.tunnel.status == 407 else { return false }
    isTunnelling = false
    intake = auth.tunnel.withoutBody
    auth.isTunnelRefused = true
    defer { auth.isTunnelRefused = false }
    judge()
    return true
  }
}
