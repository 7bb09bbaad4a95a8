import COpenSSL

/// TLS between a stream and its link, on OpenSSL with buffers on both sides: it never touches a socket.
final class TLSLayer {
  enum Progress {
    case done
    /// More must come from the other side first.
    case waiting
    /// A handler must be asked; then the handshake is to be called again.
    case asking(ConnectionTrust.Question)
    case failure(TaskError)
  }

  enum Input {
    case bytes(Int)
    /// Nothing is there yet.
    case waiting
    /// The other side has closed its end of TLS.
    case ended
    case failure(TaskError)
  }

  private let ssl: OpaquePointer
  /// What has come from the other side, encrypted, and what is to go there. Owned by `ssl`.
  private let incoming: OpaquePointer
  private let outgoing: OpaquePointer
  /// Our end has been closed.
  private(set) var isClosed = false

  /// Who judges the server; nil where libcurl has done so.
  private let trust: ConnectionTrust?
  /// Something of the other side's has been decrypted.
  private var hasReceived = false

  /// `host`: a name, or an address without brackets.
  init?(_ context: TLSContext, host: String, trust: ConnectionTrust) {
    guard let ssl = SSL_new(context.pointer) else { return nil }
    guard let incoming = BIO_new(BIO_s_mem()), let outgoing = BIO_new(BIO_s_mem()) else {
      SSL_free(ssl)
      return nil
    }
    self.ssl = ssl
    self.incoming = incoming
    self.outgoing = outgoing
    self.trust = trust
    SSL_set_bio(ssl, incoming, outgoing)
    guard Self.name(host, ssl) else { return nil }
    SSL_set_connect_state(ssl)
  }

  /// The session of a connection of libcurl's, which is not to use it any more except to free it.
  init?(adopting ssl: OpaquePointer) {
    guard let incoming = BIO_new(BIO_s_mem()), let outgoing = BIO_new(BIO_s_mem()) else { return nil }
    SSL_up_ref(ssl)
    self.ssl = ssl
    self.incoming = incoming
    self.outgoing = outgoing
    trust = nil
    SSL_set_bio(ssl, incoming, outgoing)
  }

  deinit { SSL_free(ssl) }

  /// Tells the server whom it is taken for (RFC 6066 §3): not by address, and without a final dot.
  private static func name(_ host: String, _ ssl: OpaquePointer) -> Bool {
    if host.contains(":") || host.allSatisfy({ $0.isNumber || $0 == "." }) { return true }
    let name = host.hasSuffix(".") ? String(host.dropLast()) : host
    return name.withCString { text in
      // SSL_set_tlsext_host_name is a macro.
      SSL_ctrl(
        ssl, Int32(SSL_CTRL_SET_TLSEXT_HOSTNAME), Int(TLSEXT_NAMETYPE_host_name),
        UnsafeMutableRawPointer(mutating: text)
      )
    } == 1
  }

  /// Takes what came from the other side.
  func feed(_ bytes: UnsafeRawBufferPointer) {
    guard let base = bytes.baseAddress, bytes.count > 0 else { return }
    BIO_write(incoming, base, Int32(clamping: bytes.count))
  }

  /// Moves what is to go to the other side to the end of `output`.
  func drain(into output: Bytes) {
    withUnsafeTemporaryAllocation(byteCount: 16 * 1024, alignment: 16) { piece in
      while true {
        let count = BIO_read(outgoing, piece.baseAddress, Int32(piece.count))
        guard count > 0 else { return }
        output.append(UnsafeRawBufferPointer(rebasing: piece[..<Int(count)]))
      }
    }
  }

  /// Takes the handshake as far as it goes. When it is done, the server is trusted.
  func handshake() -> Progress {
    ERR_clear_error()
    let result = SSL_do_handshake(ssl)
    if result == 1 {
      trust?.establish()
      return .done
    }
    switch SSL_get_error(ssl, result) {
    case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return .waiting
    case SSL_ERROR_WANT_RETRY_VERIFY, SSL_ERROR_WANT_X509_LOOKUP:
      if let question = trust?.question { return .asking(question) }
      return .failure(failure("the TLS handshake failed"))
    default: return .failure(certificateFailure("the TLS handshake failed"))
    }
  }

  /// A failure that the certificates may be to blame for.
  private func certificateFailure(_ what: String) -> TaskError {
    let error = failure(what)
    guard let trust else { return error }
    let text = error.underlying?.message ?? ""
    return TLSErrors.error(trust, text.holds("alert") ? .alert(text) : .other) ?? error
  }

  /// The error of a connection that was lost before the other side had said anything, where a certificate is to blame:
  /// in TLS 1.3 the alert that says so can be lost with it.
  var lossError: TaskError? { hasReceived ? nil : trust.flatMap { TLSErrors.error($0, .closed) } }

  /// Decrypts what there is.
  func read(into buffer: UnsafeMutableRawBufferPointer) -> Input {
    ERR_clear_error()
    let count = SSL_read(ssl, buffer.baseAddress, Int32(clamping: buffer.count))
    if count > 0 {
      if !hasReceived { trust?.succeed() }
      hasReceived = true
      return .bytes(Int(count))
    }
    switch SSL_get_error(ssl, count) {
    case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return .waiting
    case SSL_ERROR_ZERO_RETURN: return .ended
    // In TLS 1.3 the server sees our certificate only after the handshake.
    default: return .failure(hasReceived ? failure("TLS failed") : certificateFailure("TLS failed"))
    }
  }

  /// Encrypts; what comes of it is for `drain`. OpenSSL takes all, as the buffer behind it has no limit.
  func write(_ bytes: UnsafeRawBufferPointer) -> TaskError? {
    guard bytes.count > 0 else { return nil }
    ERR_clear_error()
    let count = SSL_write(ssl, bytes.baseAddress, Int32(clamping: bytes.count))
    return Int(count) == bytes.count ? nil : failure("TLS failed")
  }

  /// Closes our end: nothing is written after this.
  func close() {
    guard !isClosed else { return }
    isClosed = true
    ERR_clear_error()
    SSL_shutdown(ssl)
  }

  /// What came after the other side's end of TLS, and is plain again.
  func takeRest(into output: Bytes) {
    withUnsafeTemporaryAllocation(byteCount: 16 * 1024, alignment: 16) { piece in
      while true {
        let count = BIO_read(incoming, piece.baseAddress, Int32(piece.count))
        guard count > 0 else { return }
        output.append(UnsafeRawBufferPointer(rebasing: piece[..<Int(count)]))
      }
    }
  }

  var version: String { String(cString: SSL_get_version(ssl)) }

  var cipher: String {
    guard let current = SSL_get_current_cipher(ssl), let name = SSL_CIPHER_standard_name(current) else { return "" }
    return String(cString: name)
  }

  private func failure(_ what: String) -> TaskError {
    let code = ERR_get_error()
    guard code != 0, let reason = ERR_reason_error_string(code) else { return TaskError(.secureConnectionFailed, what) }
    let text = String(cString: reason)
    return TaskError(
      .secureConnectionFailed, "\(what): \(text)", underlying: .init(source: .system, code: Int(code), message: text))
  }
}
