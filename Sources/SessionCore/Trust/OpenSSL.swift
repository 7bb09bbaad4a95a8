import COpenSSL
import CTLSShim

/// What OpenSSL gives, as Swift values.
enum OpenSSL {
  /// The bytes that an encoder (`i2d_…`) writes: none where it fails.
  static func encode(_ encoder: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32) -> [UInt8] {
    let length = Int(encoder(nil))
    guard length > 0 else { return [] }
    return [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
      var end = buffer.baseAddress
      count = encoder(&end) == length ? length : 0
    }
  }

  /// What is printed into a memory BIO.
  static func text(_ print: (OpaquePointer) -> Int32) -> String {
    guard let memory = BIO_new(BIO_s_mem()) else { return "" }
    defer { BIO_free(memory) }
    guard print(memory) >= 0 else { return "" }
    var bytes: UnsafePointer<CChar>?
    let length = htls_memory(memory, &bytes)
    return String(decoding: UnsafeRawBufferPointer(start: bytes, count: max(0, length)), as: UTF8.self)
  }

  /// The elements of a stack of certificates, as they are; nil is an empty one.
  static func elements(_ stack: OpaquePointer?) -> [OpaquePointer] {
    (0..<max(0, OPENSSL_sk_num(stack))).compactMap { OPENSSL_sk_value(stack, $0).map(OpaquePointer.init) }
  }

  /// The newest error's words, and none is left behind: libcurl reads the same queue.
  static func takeError() -> String {
    let code = ERR_peek_last_error()
    forgetErrors()
    guard code != 0, let reason = ERR_reason_error_string(code) else { return "" }
    return String(cString: reason)
  }

  static func forgetErrors() { ERR_clear_error() }
}
