import COpenSSL

/// What OpenSSL needs to know once for a session: whom to trust and which versions to speak.
final class TLSContext {
  let pointer: OpaquePointer

  /// Fails with the reason when the certificates to trust cannot be read.
  static func make(_ configuration: SessionConfiguration) -> Result<TLSContext, TaskError> {
    guard let pointer = SSL_CTX_new(TLS_client_method()) else {
      return .failure(TaskError(.secureConnectionFailed, "OpenSSL gives no context"))
    }
    let context = TLSContext(pointer)
    if let file = configuration.caFile {
      guard SSL_CTX_load_verify_locations(pointer, file, nil) == 1 else {
        return .failure(TaskError(.secureConnectionFailed, "cannot read certificates from \(file)"))
      }
    } else {
      SSL_CTX_set_default_verify_paths(pointer)
    }
    // SSL_CTX_set_min_proto_version and its sibling are macros.
    let minimum = configuration.tlsMinimum ?? .v1_2
    SSL_CTX_ctrl(pointer, Int32(SSL_CTRL_SET_MIN_PROTO_VERSION), number(minimum), nil)
    if let maximum = configuration.tlsMaximum {
      SSL_CTX_ctrl(pointer, Int32(SSL_CTRL_SET_MAX_PROTO_VERSION), number(maximum), nil)
    }
    // The verdict is looked at after the handshake and before anything of the stream's is sent.
    SSL_CTX_set_verify(pointer, SSL_VERIFY_NONE, nil)
    SSL_CTX_set_options(pointer, UInt64(1) << 30)  // SSL_OP_NO_RENEGOTIATION
    return .success(context)
  }

  private init(_ pointer: OpaquePointer) { self.pointer = pointer }

  deinit { SSL_CTX_free(pointer) }

  private static func number(_ version: TLSVersion) -> Int {
    switch version {
    case .v1_0: return Int(TLS1_VERSION)
    case .v1_1: return Int(TLS1_1_VERSION)
    case .v1_2: return Int(TLS1_2_VERSION)
    case .v1_3: return Int(TLS1_3_VERSION)
    }
  }
}
