import CCurlShim
import Glibc

/// The functions libcurl calls. They only find the transfer and tell it; none of them blocks or calls upward.
enum Callbacks {
  static func install(on easy: EasyHandle, core: SessionCore) {
    let (curl, head, poller) = (easy.curl, easy.head, core.poller)
    let context = Unmanaged.passUnretained(easy).toOpaque()
    head.pointee.now = UnsafePointer(core.clock)
    head.pointee.context = context
    head.pointee.take_line = header
    head.pointee.take_body = write
    hs_easy_set_receiver(curl, head)
    hs_easy_set_data_callback(curl, CURLOPT_READFUNCTION, read)
    hs_easy_set_pointer(curl, CURLOPT_READDATA, context)
    hs_easy_set_seek_callback(curl, seek)
    hs_easy_set_pointer(curl, CURLOPT_SEEKDATA, context)
    hs_easy_set_prerequest_callback(curl, prerequest)
    hs_easy_set_pointer(curl, CURLOPT_PREREQDATA, context)
    if hs_easy_set_tls_callback(curl, secure, context) == CURLE_OK {
      // Names are judged with everything else that is in the certificate.
      hs_easy_set_long(curl, CURLOPT_SSL_VERIFYHOST, 0)
      hs_easy_set_long(curl, CURLOPT_PROXY_SSL_OPTIONS, ProxyMark.option)
    }
    // A connection outlives the handle that made it, but never the poller.
    hs_easy_set_socket_callbacks(
      curl, openSocket, context, closeSocket, Unmanaged.passUnretained(poller).toOpaque())
  }

  /// For handles that only connect: sockets are opened and closed through the poller.
  static func installSockets(on curl: UnsafeMutableRawPointer, poller: Poller) {
    let context = Unmanaged.passUnretained(poller).toOpaque()
    hs_easy_set_socket_callbacks(curl, openPlainSocket, context, closeSocket, context)
  }

  /// For a `StreamConnector` that must know when the connection is there.
  static func installConnected(on curl: UnsafeMutableRawPointer, context: UnsafeMutableRawPointer) {
    hs_easy_set_prerequest_callback(curl) { context, _, _, _, _ in
      guard let context else { return CURL_PREREQFUNC_ABORT }
      Unmanaged<StreamConnector>.fromOpaque(context)._withUnsafeGuaranteedRef { $0.connected() }
      return CURL_PREREQFUNC_OK
    }
    hs_easy_set_pointer(curl, CURLOPT_PREREQDATA, context)
  }

  /// libcurl's CURL_WRITEFUNC_PAUSE and CURL_READFUNC_PAUSE, which are macros.
  static let pause = 0x1000_0001
  static let abortRead = 0x1000_0000

  private static let write: hs_data_callback = { data, size, count, context in
    with(context, otherwise: 0) { $0.receiveBody(UnsafeRawBufferPointer(start: data, count: size * count)) }
  }

  private static let header: hs_data_callback = { data, size, count, context in
    with(context, otherwise: 0) { $0.receiveHeaderLine(UnsafeRawBufferPointer(start: data, count: size * count)) }
  }

  private static let read: hs_data_callback = { data, size, count, context in
    guard let data else { return Callbacks.abortRead }
    return with(context, otherwise: Callbacks.abortRead) {
      $0.provideBody(UnsafeMutableRawBufferPointer(start: data, count: size * count))
    }
  }

  private static let seek: curl_seek_callback = { context, offset, origin in
    let isRewound = origin == SEEK_SET && with(context, otherwise: false) { $0.rewindBody(to: Int(offset)) }
    return Int32(isRewound ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL)
  }

  private static let prerequest: curl_prereq_callback = { context, _, _, _, _ in
    with(context, otherwise: false) { $0.requestBegins() } ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
  }

  private static let secure: curl_ssl_ctx_callback = { _, tls, context in
    guard let tls else { return CURLE_ABORTED_BY_CALLBACK }
    let isReady = with(context, otherwise: false) { $0.secure(OpaquePointer(tls)) }
    return isReady ? CURLE_OK : CURLE_ABORTED_BY_CALLBACK
  }

  private static let openSocket: curl_opensocket_callback = { context, _, address in
    guard let context, let address else { return -1 }
    let descriptor = hs_open_socket(address)
    Unmanaged<EasyHandle>.fromOpaque(context)._withUnsafeGuaranteedRef { easy in
      easy.poller.opened(descriptor)
      easy.transfer?._withUnsafeGuaranteedRef { transfer in
        transfer.service.mark(descriptor)
        transfer.connectionBegins()
      }
    }
    return descriptor
  }

  private static let openPlainSocket: curl_opensocket_callback = { context, _, address in
    guard let context, let address else { return -1 }
    let descriptor = hs_open_socket(address)
    Unmanaged<Poller>.fromOpaque(context)._withUnsafeGuaranteedRef { $0.opened(descriptor) }
    return descriptor
  }

  private static let closeSocket: curl_closesocket_callback = { context, descriptor in
    guard let context else { return -1 }
    return Unmanaged<Poller>.fromOpaque(context)._withUnsafeGuaranteedRef { $0.closeSocket(descriptor) }
  }

  /// Neither handle nor transfer is counted: the core holds both while libcurl works.
  @inline(__always)
  private static func with<Result>(
    _ context: UnsafeMutableRawPointer?, otherwise: Result, _ body: (Transfer) -> Result
  ) -> Result {
    guard let context else { return otherwise }
    let transfer = Unmanaged<EasyHandle>.fromOpaque(context)._withUnsafeGuaranteedRef { $0.transfer }
    return transfer?._withUnsafeGuaranteedRef(body) ?? otherwise
  }
}
