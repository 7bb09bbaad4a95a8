import COpenSSL
import CTLSShim

/// An X.509 certificate. Its fields are read when they are looked at.
public final class Certificate {
  /// OpenSSL's object, of which a reference is held.
  let x509: OpaquePointer

  /// Holds a reference of its own to OpenSSL's object.
  init(_ x509: OpaquePointer) {
    X509_up_ref(x509)
    self.x509 = x509
  }

  /// Nil for bytes that are no certificate in DER.
  public init?(der: UnsafeRawBufferPointer) {
    var start = der.bindMemory(to: UInt8.self).baseAddress
    guard der.count > 0, let x509 = d2i_X509(nil, &start, der.count) else {
      OpenSSL.forgetErrors()
      return nil
    }
    self.x509 = x509
  }

  deinit { X509_free(x509) }

  public var der: [UInt8] { OpenSSL.encode { i2d_X509(x509, $0) } }

  public var pem: String {
    OpenSSL.text { PEM_write_bio_X509($0, x509) }
  }

  /// RFC 4514: the most specific name first.
  public var subject: String { CertificateNames.text(X509_get_subject_name(x509)) }
  public var issuer: String { CertificateNames.text(X509_get_issuer_name(x509)) }

  /// As `DNS:example.org`, `IP:127.0.0.1`, `email:…` and `URI:…`; names of other kinds are left out.
  public var subjectAlternativeNames: [String] { CertificateNames.alternatives(of: x509) }

  /// Unix seconds.
  public var notBefore: Double { Self.seconds(X509_get0_notBefore(x509)) }
  public var notAfter: Double { Self.seconds(X509_get0_notAfter(x509)) }

  /// In hexadecimal.
  public var serial: String {
    guard let number = ASN1_INTEGER_to_BN(X509_get0_serialNumber(x509), nil) else { return "" }
    defer { BN_free(number) }
    guard let text = BN_bn2hex(number) else { return "" }
    defer { CRYPTO_free(text, #fileID, #line) }
    return String(cString: text).lowercased()
  }

  /// Of the certificate's DER.
  public var sha256: Fingerprint { Fingerprint(of: der) }

  /// Of the public key with its algorithm (SubjectPublicKeyInfo), which is what pins of keys are made from (RFC 7469).
  public var publicKeySHA256: Fingerprint {
    let key = X509_get_X509_PUBKEY(x509)
    return Fingerprint(of: OpenSSL.encode { i2d_X509_PUBKEY(key, $0) })
  }

  /// Unix seconds.
  static func seconds(_ time: UnsafePointer<ASN1_TIME>?) -> Double {
    var days: Int32 = 0
    var seconds: Int32 = 0
    // The difference from 1970, since a struct tm knows no year before 1900 and mktime a zone.
    guard let epoch = ASN1_TIME_set(nil, 0) else { return .nan }
    defer { ASN1_STRING_free(epoch) }
    guard ASN1_TIME_diff(&days, &seconds, epoch, time) == 1 else { return .nan }
    return Double(days) * 86400 + Double(seconds)
  }
}

/// SHA-256 of a certificate or of a public key.
public struct Fingerprint: Hashable, Sendable {
  public let bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Of an encoded certificate or key.
  init(of encoded: [UInt8]) { self.init(Hash.sha256.digest(of: encoded)) }

  /// Nil for what is not 64 hexadecimal digits.
  public init?(hexadecimal text: String) {
    guard let bytes = Hexadecimal.decode(text), bytes.count == 32 else { return nil }
    self.bytes = bytes
  }

  /// In lower case.
  public var hexadecimal: String { Hexadecimal.encode(bytes) }

  /// As curl and RFC 7469 write pins: `sha256//` and Base64.
  public var pin: String {
    "sha256//" + String(decoding: bytes.withUnsafeBytes(Base64.encode), as: UTF8.self)
  }

  /// Reads what `pin` writes; nil for other texts.
  public init?(pin text: String) {
    guard text.hasPrefix("sha256//") else { return nil }
    let digest = Array(text.utf8.dropFirst(8)).withUnsafeBytes(Base64.decode)
    guard let digest, digest.count == 32 else { return nil }
    bytes = digest
  }
}
