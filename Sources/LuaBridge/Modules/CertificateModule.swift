import SessionCore

/// `httpscript.certificate`: what is in a certificate.
///
/// - `read(der)` → a table of its fields, or nil where the bytes are no certificate
enum CertificateModule {
  static let name = "httpscript.certificate"

  static func make() -> NativeModule { NativeModule(name, functions: [.init("read", read)]) }

  private static func read(_ call: HostCall) -> Outcome {
    guard let der = call.bytes(1) else { return call.wrongType(1, "string") }
    guard let certificate = Certificate(der: der) else {
      call.results.appendNil()
      return .returned
    }
    let texts = [
      ("subject", certificate.subject), ("issuer", certificate.issuer), ("serial", certificate.serial),
      ("sha256", certificate.sha256.hexadecimal), ("public_key_sha256", certificate.publicKeySHA256.hexadecimal),
      ("public_key_pin", certificate.publicKeySHA256.pin), ("pem", certificate.pem),
    ]
    let results = call.results
    results.beginRecord(texts.count + 3)
    for (name, value) in texts {
      results.append(name)
      results.append(value)
    }
    for (name, date) in [("not_before", certificate.notBefore), ("not_after", certificate.notAfter)] {
      results.append(name)
      results.append(date)
    }
    results.append("subject_alternative_names")
    let names = certificate.subjectAlternativeNames
    results.beginList(names.count)
    names.forEach { results.append($0) }
    return .returned
  }
}
