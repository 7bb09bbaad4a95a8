import COpenSSL
import CTLSShim

/// The OCSP response that a server sent along with its certificates (RFC 6066 §8).
enum StapledResponse {
  /// Seconds that clocks may differ by.
  private static let tolerance = 300
  /// How old a response may be that does not say when the next one comes (RFC 6960 §3.2 has clients judge): the longest
  /// that the CA/Browser Forum's Baseline Requirements (§4.9.10) let any response hold.
  private static let longestAge = 10 * 24 * 3600

  /// What it says of the server's own certificate. What is not signed by the certificate's authority, or out of date,
  /// says nothing.
  ///
  /// - Parameters:
  ///   - chain: as the verifier built it, the server's own certificate first.
  ///   - store: the certificates that are trusted.
  static func read(_ ssl: OpaquePointer, chain: [Certificate], store: OpaquePointer?) -> Revocation {
    defer { OpenSSL.forgetErrors() }
    var bytes: UnsafePointer<UInt8>?
    let length = htls_status_response(ssl, &bytes)
    guard length > 0, chain.count > 1, let response = d2i_OCSP_RESPONSE(nil, &bytes, length) else { return .notKnown }
    defer { OCSP_RESPONSE_free(response) }
    guard OCSP_response_status(response) == OCSP_RESPONSE_STATUS_SUCCESSFUL,
      let basic = OCSP_response_get1_basic(response)
    else { return .notKnown }
    defer { OCSP_BASICRESP_free(basic) }
    guard isSigned(basic, chain, store) else { return .notKnown }
    for index in 0..<OCSP_resp_count(basic) {
      guard let single = OCSP_resp_get0(basic, index), isAbout(single, chain[0], chain[1]) else { continue }
      return status(single)
    }
    return .notKnown
  }

  private static func isSigned(_ basic: OpaquePointer, _ chain: [Certificate], _ store: OpaquePointer?) -> Bool {
    guard let stack = OPENSSL_sk_new_null() else { return false }
    defer { OPENSSL_sk_free(stack) }
    for certificate in chain { OPENSSL_sk_push(stack, UnsafeRawPointer(certificate.x509)) }
    return OCSP_basic_verify(basic, stack, store, 0) == 1
  }

  private static func isAbout(_ single: OpaquePointer, _ certificate: Certificate, _ issuer: Certificate) -> Bool {
    guard let id = OCSP_SINGLERESP_get0_id(single) else { return false }
    var algorithm: OpaquePointer?
    OCSP_id_get0_info(nil, &algorithm, nil, nil, id)
    guard let name = algorithm, let digest = EVP_get_digestbyname(OBJ_nid2sn(OBJ_obj2nid(name))),
      let expected = OCSP_cert_to_id(digest, certificate.x509, issuer.x509)
    else { return false }
    defer { OCSP_CERTID_free(expected) }
    return OCSP_id_cmp(expected, id) == 0
  }

  private static func status(_ single: OpaquePointer) -> Revocation {
    var reason: Int32 = 0
    var revoked: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
    var updated: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
    var next: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
    let status = OCSP_single_get0_status(single, &reason, &revoked, &updated, &next)
    guard OCSP_check_validity(updated, next, tolerance, next == nil ? longestAge : -1) == 1 else { return .notKnown }
    switch status {
    case V_OCSP_CERTSTATUS_GOOD: return .good
    case V_OCSP_CERTSTATUS_REVOKED: return .revoked(at: Certificate.seconds(revoked))
    default: return .notKnown
    }
  }
}
