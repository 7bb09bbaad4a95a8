import TestSupport
import Testing

/// Servers that ask for a client certificate after the handshake, when they have seen the request (TLS 1.3), and servers
/// that do so by a second handshake (TLS 1.2).
@Suite struct LateCertificateTests {
  @Test("The configuration's certificate is shown; without one the error says what is wanted")
  func late() async throws {
    let authority = try TestAuthority()
    let clients = try TestAuthority(name: "Client Authority")
    let mine = try clients.leaf("me", "")
    let server = try SecureApache(authority.leaf("localhost", "DNS:localhost"), clients: clients.certificate)
    let script = """
      for _, version in ipairs { "1.2", "1.3" } do
        local function try(fields, delegate, path, body)
          fields.ca_file, fields.tls_maximum_supported = arg[2], version
          local session = http.session(fields, delegate)
          local r, err
          if body then
            r, err = session:post(base .. path, { body = body })
          else
            r, err = session:get(base .. path)
          end
          print(version, r and r.status or err.code, r and #r.redirects == 0 and r.body:match("^%l+") or err.domain)
        end
        try({}, nil, "/open/page")
        try({}, nil, "/closed/page")
        try({ client_certificate = arg[3] }, nil, "/closed/page")
        try({ client_certificate = arg[3] }, nil, "/closed/page", "body")
        try({}, { session_did_receive_challenge = function() end }, "/closed/page")
      end
      """
    let wanted = [
      "200\topen", "client_certificate_required\turl", "200\tclosed", "200\tclosed",
      "client_certificate_required\turl",
    ]
    try await expectScript(
      script, [server.url, authority.certificate, mine.both],
      prints: ["1.2", "1.3"].flatMap { version in wanted.map { "\(version)\t\($0)" } })
  }
}
