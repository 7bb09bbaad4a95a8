import COpenSSL
import CTLSShim
import Glibc

/// The names in a certificate, as texts.
enum CertificateNames {
  /// A distinguished name by RFC 4514 in UTF-8.
  static func text(_ name: OpaquePointer?) -> String {
    OpenSSL.text { htls_print_name($0, name) }
  }

  static func alternatives(of certificate: OpaquePointer) -> [String] {
    guard let raw = X509_get_ext_d2i(certificate, NID_subject_alt_name, nil, nil) else { return [] }
    let names = OpaquePointer(raw)
    defer { GENERAL_NAMES_free(names) }
    return OpenSSL.elements(names).compactMap { alternative(UnsafeMutablePointer<GENERAL_NAME>($0).pointee) }
  }

  private static func alternative(_ name: GENERAL_NAME) -> String? {
    switch name.type {
    case GEN_DNS: "DNS:" + string(name.d.dNSName)
    case GEN_EMAIL: "email:" + string(name.d.rfc822Name)
    case GEN_URI: "URI:" + string(name.d.uniformResourceIdentifier)
    case GEN_IPADD: address(bytes(name.d.iPAddress)).map { "IP:" + $0 }
    default: nil
    }
  }

  private static func string(_ text: UnsafeMutablePointer<ASN1_STRING>?) -> String {
    String(decoding: bytes(text), as: UTF8.self)
  }

  private static func bytes(_ text: UnsafeMutablePointer<ASN1_STRING>?) -> UnsafeBufferPointer<UInt8> {
    guard let text else { return UnsafeBufferPointer(start: nil, count: 0) }
    return UnsafeBufferPointer(start: ASN1_STRING_get0_data(text), count: Int(ASN1_STRING_length(text)))
  }

  /// An address of 4 or 16 bytes as text.
  private static func address(_ bytes: UnsafeBufferPointer<UInt8>) -> String? {
    guard let start = bytes.baseAddress, bytes.count == 4 || bytes.count == 16 else { return nil }
    let size = Int(INET6_ADDRSTRLEN)
    return withUnsafeTemporaryAllocation(of: CChar.self, capacity: size) { text in
      inet_ntop(bytes.count == 4 ? AF_INET : AF_INET6, start, text.baseAddress, socklen_t(size)).map(
        String.init(cString:))
    }
  }
}
