import TestSupport
import Testing

/// The versions of TLS that a configuration allows.
@Suite struct TLSVersionTests {
  @Test("Minimum and maximum hold, and the metrics say what was agreed on", arguments: ["1.2", "1.3"])
  func versions(spoken: String) async throws {
    let authority = try TestAuthority()
    let server = try TLSServer(authority.leaf("host", "DNS:localhost"), terms: .init(version: spoken))
    let script = """
      for _, limits in ipairs { {}, { "1.2", "1.2" }, { "1.3" }, { false, "1.2" }, { "1.2", "1.3" } } do
        local r, err = http.session{
          cache = false, ca_file = arg[2], tls_minimum_supported = limits[1] or nil, tls_maximum_supported = limits[2],
        }:get(base)
        local one = r and r.metrics.transaction_metrics[1]
        io.write(r and one.negotiated_tls_protocol_version or err.code, " ")
      end
      print()
      print(select(2, pcall(http.session, { tls_minimum_supported = "1.4" })))
      """
    let no = "secure_connection_failed"
    let wanted =
      spoken == "1.2" ? ["TLSv1.2", "TLSv1.2", no, "TLSv1.2", "TLSv1.2"] : ["TLSv1.3", no, "TLSv1.3", no, "TLSv1.3"]
    let result = try await runScript(script, [server.url, authority.certificate])
    #expect(result.lines.first == wanted.joined(separator: " ") + " ", "\(result)")
    #expect(result.lines.last?.contains("tls_minimum_supported") == true, "\(result)")
  }
}
