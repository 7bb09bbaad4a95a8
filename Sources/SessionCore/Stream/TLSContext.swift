import COpenSSL

/// What OpenSSL needs to know for a handshake: whom to trust and which versions to speak.
final class TLSContext {
  let pointer: OpaquePointer

  /// What holds for a session. Fails with the reason when the certificates to trust cannot be read.
  static func make(_ configuration: SessionConfiguration) -> Result<TLSContext, TaskError> {
    guard let pointer = SSL_CTX_new(TLS_client_method()) else { return .failure(noMemory) }
    let context = TLSContext(pointer)
    if let place = configuration.caFile {
      if let problem = Authorities.problem(place) { return .failure(problem) }
      let isDirectory = KeyFile.isDirectory(place)
      let result = SSL_CTX_load_verify_locations(pointer, isDirectory ? nil : place, isDirectory ? place : nil)
      guard result == 1 else {
        OpenSSL.forgetErrors()
        return .failure(TaskError(.secureConnectionFailed, "cannot read certificates from \(place)"))
      }
    } else {
      SSL_CTX_set_default_verify_paths(pointer)
    }
    return .success(context)
  }

  /// The same for one handshake, which `trust` judges.
  func forHandshake(_ configuration: SessionConfiguration, _ trust: ConnectionTrust) -> Result<TLSContext, TaskError> {
    guard let pointer = SSL_CTX_new(TLS_client_method()) else { return .failure(Self.noMemory) }
    let context = TLSContext(pointer)
    SSL_CTX_set1_cert_store(pointer, SSL_CTX_get_cert_store(self.pointer))
    // SSL_CTX_set_min_proto_version and its sibling are macros.
    let minimum = configuration.tlsMinimum ?? .v1_2
    SSL_CTX_ctrl(pointer, Int32(SSL_CTRL_SET_MIN_PROTO_VERSION), Int(minimum.number), nil)
    if let maximum = configuration.tlsMaximum {
      SSL_CTX_ctrl(pointer, Int32(SSL_CTRL_SET_MAX_PROTO_VERSION), Int(maximum.number), nil)
    }
    SSL_CTX_set_options(pointer, UInt64(1) << 30)  // SSL_OP_NO_RENEGOTIATION
    return trust.install(on: pointer) ? .success(context) : .failure(Self.noMemory)
  }

  private static var noMemory: TaskError { TaskError(.secureConnectionFailed, "OpenSSL gives no context") }

  private init(_ pointer: OpaquePointer) { self.pointer = pointer }

  deinit { SSL_CTX_free(pointer) }
}
