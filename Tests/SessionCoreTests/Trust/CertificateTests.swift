import Foundation
import TestSupport
import Testing

@testable import SessionCore

@Suite("Certificates and identities")
struct CertificateTests {
  private let authority: TestAuthority

  init() throws { authority = try TestAuthority() }

  private func read(_ leaf: TestAuthority.Leaf) throws -> Certificate {
    let bytes = try KeyFile.read(leaf.certificate).get()
    return try #require(PEM.certificates(bytes).first)
  }

  @Test("Fields are those that openssl shows")
  func fields() throws {
    let leaf = try authority.leaf("host.example", "DNS:host.example,DNS:*.host.example,IP:127.0.0.1,IP:::1")
    let certificate = try read(leaf)
    #expect(certificate.subject == "CN=host.example")
    #expect(certificate.issuer == "CN=Test Authority")
    #expect(
      certificate.subjectAlternativeNames == ["DNS:host.example", "DNS:*.host.example", "IP:127.0.0.1", "IP:::1"])
    let shown = try authority.run("openssl x509 -in host.example.crt -noout -serial -fingerprint -sha256")
    let words = shown.lowercased().split(whereSeparator: { "=\n".contains($0) }).map(String.init)
    #expect(words.contains(certificate.serial))
    #expect(words.contains { $0.replacingOccurrences(of: ":", with: "") == certificate.sha256.hexadecimal })
    let pin = try authority.run(
      """
      openssl x509 -in host.example.crt -noout -pubkey | openssl pkey -pubin -outform DER | openssl dgst -sha256 -binary \
        | openssl base64 -A
      """)
    #expect(certificate.publicKeySHA256.pin == "sha256//" + pin)
    #expect(Fingerprint(pin: "sha256//" + pin) == certificate.publicKeySHA256)
    #expect(Fingerprint(hexadecimal: certificate.sha256.hexadecimal) == certificate.sha256)
    let file = try String(contentsOfFile: leaf.certificate, encoding: .utf8)
    #expect(certificate.pem == file)
    let copy = certificate.der.withUnsafeBytes { Certificate(der: $0) }
    #expect(copy?.sha256 == certificate.sha256)
    let now = Date().timeIntervalSince1970
    #expect(certificate.notBefore <= now && certificate.notBefore > now - 3600)
    #expect(certificate.notAfter - certificate.notBefore == 2 * 86400)
    #expect(try read(authority.leaf("past", "", .past)).notBefore == 1_577_836_800)
  }

  @Test("What is no certificate, and pins that are none")
  func noise() {
    #expect([UInt8](repeating: 1, count: 50).withUnsafeBytes { Certificate(der: $0) } == nil)
    #expect([UInt8]().withUnsafeBytes { Certificate(der: $0) } == nil)
    for text in ["sha256//", "sha256//AAAA", "sha1//AAAA", "sha256//" + String(repeating: "A", count: 44)] {
      #expect(Fingerprint(pin: text) == nil, "\(text)")
    }
    #expect(Fingerprint(hexadecimal: String(repeating: "g", count: 64)) == nil)
  }

  @Test("Identities in PEM and PKCS#12, with and without password")
  func identities() throws {
    let leaf = try authority.leaf("client", "")
    try authority.run(
      """
      openssl ec -in client.key -aes256 -passout pass:secret -out locked.key
      openssl pkcs12 -export -in client.crt -inkey client.key -certfile ca.pem -passout pass:secret -out client.p12
      openssl pkcs12 -export -in client.crt -inkey client.key -passout pass: -out open.p12
      openssl pkey -in client.key -outform DER -out key.der
      cat client.crt locked.key >locked.pem
      """)
    let path = authority.directory.path
    let good = [
      ClientCertificate(certificate: leaf.both), ClientCertificate(certificate: leaf.certificate, key: leaf.key),
      ClientCertificate(certificate: leaf.certificate, key: path + "/locked.key", password: "secret"),
      ClientCertificate(certificate: path + "/locked.pem", password: "secret"),
      ClientCertificate(certificate: path + "/client.p12", password: "secret"),
      ClientCertificate(certificate: path + "/open.p12"),
      ClientCertificate(certificate: leaf.certificate, key: path + "/key.der"),
    ]
    for source in good {
      #expect(throws: Never.self, "\(source)") { try ClientIdentity.load(source).get() }
    }
  }

  @Test("Identities that cannot be used say why, and never the password")
  func badIdentities() throws {
    let leaf = try authority.leaf("client", "")
    let other = try authority.leaf("other", "")
    try authority.run("openssl ec -in client.key -aes256 -passout pass:secret -out locked.key; echo x >junk")
    let path = authority.directory.path
    let bad: [(ClientCertificate, String, String)] = [
      (.init(certificate: path + "/absent"), "file_does_not_exist", "absent"),
      (.init(certificate: path), "file_is_directory", path),
      (.init(certificate: leaf.certificate), "client_certificate_rejected", "without a password"),
      (.init(certificate: leaf.certificate, key: other.key), "client_certificate_rejected", "not the certificate's"),
      (.init(certificate: path + "/junk"), "client_certificate_rejected", "neither PEM nor PKCS#12"),
      (.init(certificate: leaf.key), "client_certificate_rejected", "no certificate in it"),
      (
        .init(certificate: leaf.certificate, key: path + "/locked.key", password: "hunter2"),
        "client_certificate_rejected", "no key the password opens"
      ),
      (.init(certificate: leaf.certificate, key: path + "/locked.key"), "client_certificate_rejected", "password"),
    ]
    for (source, code, words) in bad {
      guard case .failure(let error) = ClientIdentity.load(source) else {
        Issue.record("\(source) could be loaded")
        continue
      }
      #expect(error.code.name == code, "\(error)")
      #expect(error.message.contains(words), "\(error)")
      #expect(!error.message.contains("hunter2"))
    }
  }

  @Test("Pins from files, PEM text and keys")
  func pins() throws {
    let leaf = try authority.leaf("host", "")
    try authority.run(
      "openssl x509 -in host.crt -outform DER -out host.der; openssl x509 -in host.crt -noout -pubkey -out host.pub")
    let certificate = try read(leaf)
    let path = authority.directory.path
    func place(_ pinning: SecurityPolicy.Pinning, _ source: String) throws -> Int? {
      var policy = SecurityPolicy()
      policy.pinning = pinning
      policy.certificates = [source]
      return try PinSet.load(policy).get().place(in: [certificate])
    }
    for source in [leaf.certificate, path + "/host.der", certificate.pem] {
      #expect(try place(.certificate, source) == 0)
      #expect(try place(.publicKey, source) == 0)
    }
    #expect(try place(.publicKey, path + "/host.pub") == 0)
    #expect(try place(.publicKey, certificate.publicKeySHA256.pin) == 0)
    #expect(try place(.certificate, certificate.sha256.pin) == 0)
    #expect(try place(.certificate, certificate.publicKeySHA256.pin) == nil)
    #expect(try place(.certificate, authority.certificate) == nil)
    #expect(throws: TaskError.self) { try place(.certificate, path + "/absent") }
    #expect(throws: TaskError.self) { try place(.certificate, leaf.key) }
    #expect(throws: TaskError.self) { try place(.certificate, path + "/host.pub") }
  }
}
